import type { DiskError } from '../disk.ts'

export type AppendDone = (error: DiskError | undefined) => void

/** Small, since a thousand files may have one each; large enough for a write of 64 MiB in one call (IOV_MAX is 1024). */
const SLAB_BYTES = 1 << 16
/** Slabs that are kept for the next time of need. */
const MAX_FREE_SLABS = 256

/** Buffers for copies of appends, used again: fresh memory costs more than the copy. */
export class CopySlabs {
  readonly #free: Buffer[] = []

  take(): Buffer {
    return this.#free.pop() ?? Buffer.allocUnsafeSlow(SLAB_BYTES)
  }

  giveBack(slabs: readonly Buffer[]): void {
    for (const slab of slabs) if (this.#free.length < MAX_FREE_SLABS) this.#free.push(slab)
  }
}

/** Appends that wait to be written together, packed one behind the other. */
export class AppendBatch {
  readonly #copies: CopySlabs
  readonly #slabs: Buffer[] = []
  readonly #dones: AppendDone[] = []
  /** Bytes in the last slab. */
  #fill = SLAB_BYTES
  #byteCount = 0

  constructor(copies: CopySlabs) {
    this.#copies = copies
  }

  get byteCount(): number {
    return this.#byteCount
  }

  get isEmpty(): boolean {
    return this.#dones.length === 0
  }

  get dones(): readonly AppendDone[] {
    return this.#dones
  }

  /** The bytes, as few views. */
  get parts(): Buffer[] {
    const last = this.#slabs.length - 1
    return this.#slabs.map((slab, index) => (index === last ? slab.subarray(0, this.#fill) : slab))
  }

  add(parts: readonly Buffer[], done: AppendDone): void {
    for (const part of parts) this.#copy(part)
    this.#dones.push(done)
  }

  /** The bytes are not needed any more. */
  release(): void {
    this.#copies.giveBack(this.#slabs)
  }

  #copy(part: Buffer): void {
    for (let at = 0; at < part.length; ) {
      if (this.#fill === SLAB_BYTES) {
        this.#slabs.push(this.#copies.take())
        this.#fill = 0
      }
      const copied = part.copy(this.#slabs.at(-1)!, this.#fill, at)
      this.#fill += copied
      at += copied
    }
    this.#byteCount += part.length
  }
}
