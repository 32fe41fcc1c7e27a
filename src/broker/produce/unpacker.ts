import { ErrorCode } from '../../base/error-code.ts'
import type { NeedsPacking, NeedsUnpacking, PreparedBatch } from '../../core/log/partition-log.ts'
import type { Clock } from '../../io/clock.ts'
import type { Compute } from '../../io/compute.ts'
import { freeBytes } from '../../records/compression/free-bytes.ts'

export type Unpacked =
  | { readonly type: 'prepared'; readonly batch: PreparedBatch }
  | { readonly type: 'failed'; readonly errorCode: ErrorCode; readonly message: string }

/**
 * What becomes of a batch. Called once in a later turn, and once more if it answers that the records have to be packed anew.
 * The records are valid until it returns for the last time.
 */
type Use = (unpacked: Unpacked) => NeedsPacking | undefined

interface Job {
  readonly batch: NeedsUnpacking
  readonly use: Use
}

export interface UnpackerOptions {
  readonly compute: Pick<Compute, 'run'>
  readonly clock: Clock
  /** How much all batches together may become that are unpacked at a time; one always may. */
  readonly roomBytes: number
  /** An invariant is broken. */
  readonly failed: (error: Error) => void
}

/**
 * Does with batches that are too large for the loop what is done with the others in one go: unpacks them elsewhere, checks
 * the records in turns of their own, packs them anew elsewhere where the log's codec is another. What comes out is nobody's
 * for long: its memory is given back as soon as it was used.
 */
export class Unpacker {
  readonly #options: UnpackerOptions
  readonly #waiting: Job[] = []
  #runningBytes = 0

  constructor(options: UnpackerOptions) {
    this.#options = options
  }

  unpack(batch: NeedsUnpacking, use: Use): void {
    this.#waiting.push({ batch, use })
    this.#start()
  }

  #start(): void {
    while (this.#waiting.length > 0 && this.#fits(this.#waiting[0].batch.maxBytes)) {
      const job = this.#waiting.shift()!
      this.#runningBytes += job.batch.maxBytes
      this.#run(job)
        .catch(error => this.#options.failed(error))
        .finally(() => {
          this.#runningBytes -= job.batch.maxBytes
          this.#start()
        })
    }
  }

  #fits(bytes: number): boolean {
    return this.#runningBytes === 0 || this.#runningBytes + bytes <= this.#options.roomBytes
  }

  async #run({ batch, use }: Job): Promise<void> {
    const { compute, clock } = this.#options
    const { codec, input, maxBytes, check } = batch
    const result = await compute.run({ type: 'decompress', codec, input, maxBytes })
    if (result.type === 'tooLarge') {
      const message = 'the batch unpacks to more than millrace.max.uncompressed.batch.bytes'
      use({ type: 'failed', errorCode: ErrorCode.messageTooLarge, message })
    } else if (result.type === 'corrupt') {
      use({ type: 'failed', errorCode: ErrorCode.invalidRecord, message: result.reason })
    } else {
      const records = result.output
      while (check.step(records)) await clock.yieldTurn()
      const packing = use({ type: 'prepared', batch: { check, records } })
      if (packing !== undefined) await this.#pack(packing, { check, records }, use)
      freeBytes(records)
    }
  }

  async #pack(packing: NeedsPacking, batch: PreparedBatch, use: Use): Promise<void> {
    const { codec, level, records } = packing
    const result = await this.#options.compute.run({ type: 'compress', codec, level, input: records })
    if (result.type === 'done') use({ type: 'prepared', batch: { ...batch, packed: { codec, bytes: result.output } } })
    else {
      const message = 'the batch cannot be compressed as its topic says'
      use({ type: 'failed', errorCode: ErrorCode.invalidRecord, message })
    }
  }
}
