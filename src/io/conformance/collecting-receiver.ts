import type { Receiver } from '../network.ts'

/** Keeps what arrives, and lets a test wait for it. */
export class CollectingReceiver implements Receiver {
  /** Bytes that ever arrived, and how many of them in the place that `target` named. */
  receivedBytes = 0
  inPlaceBytes = 0
  /** How often the connection ended: once, or it is wrong. */
  ends = 0
  readonly ended: Promise<Error | undefined>
  #chunks: Buffer[] = []
  #slab: { readonly bytes: Buffer; filled: number } | undefined
  #waiting: (() => void)[] = []
  #end: (error: Error | undefined) => void = () => undefined

  constructor() {
    this.ended = new Promise(resolve => {
      this.#end = resolve
    })
  }

  target(): Buffer | undefined {
    const slab = this.#slab
    return slab === undefined || slab.filled === slab.bytes.length ? undefined : slab.bytes.subarray(slab.filled)
  }

  received(bytes: Buffer): void {
    this.receivedBytes += bytes.length
    const target = this.target()
    const isInPlace = target !== undefined && bytes.buffer === target.buffer && bytes.byteOffset === target.byteOffset
    if (isInPlace) this.inPlaceBytes += bytes.length
    const taken = isInPlace ? bytes.length : bytes.copy(target ?? Buffer.alloc(0))
    if (target !== undefined) this.#slab!.filled += taken
    if (taken < bytes.length) this.#chunks.push(Buffer.from(bytes.subarray(taken)))
    // The real ones reuse their buffer; here it is made certain that nobody relies on it.
    if (!isInPlace) bytes.fill(0xee)
    this.#wake()
  }

  closed(error: Error | undefined): void {
    this.ends++
    this.#end(error)
    this.#wake()
  }

  /** The next bytes, once there are so many. */
  async take(length: number): Promise<Buffer> {
    while (this.#available() < length) await this.#arrival()
    const all = this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks)
    this.#chunks = length < all.length ? [all.subarray(length)] : []
    return all.subarray(0, length)
  }

  /** As `take`, with the bytes that are still to come read to their place. */
  async takeIntoSlab(length: number): Promise<Buffer> {
    const slab = { bytes: Buffer.alloc(length), filled: 0 }
    const here = await this.take(Math.min(this.#available(), length))
    slab.filled = here.copy(slab.bytes)
    this.#slab = slab
    while (slab.filled < length) await this.#arrival()
    this.#slab = undefined
    return slab.bytes
  }

  /** Waits until something arrives. */
  more(): Promise<void> {
    return this.#arrival()
  }

  #available(): number {
    return this.#chunks.reduce((sum, chunk) => sum + chunk.length, 0)
  }

  #arrival(): Promise<void> {
    if (this.ends > 0) throw new Error('the connection ended before all that a test waits for had arrived')
    return new Promise(resolve => this.#waiting.push(resolve))
  }

  #wake(): void {
    for (const resolve of this.#waiting.splice(0)) resolve()
  }
}
