import type { NeedsUnpacking } from '../../core/log/partition-log.ts'
import type { Compute, ComputeResult } from '../../io/compute.ts'
import { freeBytes } from '../../records/compression/free-bytes.ts'

interface Job {
  readonly batch: NeedsUnpacking
  readonly use: (result: ComputeResult) => void
}

/**
 * Unpacks batches that are too large for the loop, as many at a time as fit into `roomBytes` should each become as large as
 * it may; always one. What comes out is nobody's for long: its memory is given back as soon as it was used.
 */
export class Unpacker {
  readonly #compute: Compute
  readonly #roomBytes: number
  readonly #waiting: Job[] = []
  #runningBytes = 0

  constructor(compute: Compute, roomBytes: number) {
    this.#compute = compute
    this.#roomBytes = roomBytes
  }

  /** `use` runs once, in a later turn; the output is valid until it returns. */
  unpack(batch: NeedsUnpacking, use: (result: ComputeResult) => void): void {
    this.#waiting.push({ batch, use })
    this.#start()
  }

  #start(): void {
    while (this.#waiting.length > 0 && this.#fits(this.#waiting[0].batch.maxBytes))
      void this.#run(this.#waiting.shift()!)
  }

  #fits(bytes: number): boolean {
    return this.#runningBytes === 0 || this.#runningBytes + bytes <= this.#roomBytes
  }

  async #run({ batch, use }: Job): Promise<void> {
    const { codec, input, maxBytes } = batch
    this.#runningBytes += maxBytes
    const result = await this.#compute.run({ type: 'decompress', codec, input, maxBytes })
    use(result)
    if (result.type === 'done') freeBytes(result.output)
    this.#runningBytes -= maxBytes
    this.#start()
  }
}
