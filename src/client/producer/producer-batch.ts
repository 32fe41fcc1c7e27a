import type { BatchFields } from '../../records/builder.ts'
import { BatchBuilder } from '../../records/builder.ts'
import type { RecordHeader } from '../../records/record.ts'
import type { MillraceError } from '../millrace-error.ts'
import type { SendCall } from './send-call.ts'

/**
 * Records of one partition that are sent as one batch, and the calls they belong to.
 *
 * `open`: takes records. `sealed`: waits to be sent. `compressing`: off the loop. `inFlight`: on the wire, or in the hands
 * of a broker. A batch that has to be sent again is sealed.
 */
export class ProducerBatch {
  readonly builder: BatchBuilder
  /** Monotonic; of its first record. */
  readonly createdMs: number
  state: 'open' | 'sealed' | 'compressing' | 'inFlight' = 'open'
  attempts = 0
  /** It is not to be sent (again) before. Monotonic. */
  notBeforeMs = Number.NEGATIVE_INFINITY
  /** -1: none yet, or not idempotent. */
  baseSequence = -1
  /** An earlier attempt may have been appended: its answer got lost, or said so. */
  isUncertain = false
  /** Its calls have been told that it failed; it is only here until its last attempt is over. */
  isGivenUp = false
  lastError: MillraceError | undefined
  /** The records as the codec makes them; undefined until then, and without a codec. */
  compressed: Buffer | undefined
  readonly #calls: SendCall[] = []
  readonly #indexes: number[] = []
  readonly #timestamps: (number | bigint)[] = []

  constructor(builder: BatchBuilder, createdMs: number) {
    this.builder = builder
    this.createdMs = createdMs
  }

  get recordCount(): number {
    return this.#calls.length
  }

  /** What it takes of the buffer: its records as they were handed in. */
  get sizeBytes(): number {
    return this.builder.sizeBytes
  }

  /** What it takes of a request. */
  get sentBytes(): number {
    return this.compressed === undefined ? this.builder.sizeBytes : this.compressed.length + 61
  }

  add(
    call: SendCall,
    index: number,
    timestamp: number | bigint,
    key: Buffer | null,
    value: Buffer | null,
    headers: readonly RecordHeader[],
  ): void {
    this.builder.append(timestamp, key, value, headers)
    this.#calls.push(call)
    this.#indexes.push(index)
    this.#timestamps.push(timestamp)
  }

  /** The bytes to send. They are good until the batch has ended. */
  encode(fields: BatchFields): Buffer {
    if (this.compressed === undefined) return this.builder.finish({ ...fields, codec: 0 })
    return this.builder.finishCompressed(this.compressed, fields)
  }

  /** `baseOffset` -1: not known. `logAppendTimeMs` -1: the records keep their own times. */
  succeed(
    topic: string,
    partition: number,
    { baseOffset, logAppendTimeMs }: { baseOffset: number; logAppendTimeMs: number },
  ): void {
    if (this.isGivenUp) return
    this.isGivenUp = true
    const appendTime = logAppendTimeMs < 0 ? undefined : BigInt(logAppendTimeMs)
    for (let i = 0; i < this.#calls.length; i++) {
      const offset = baseOffset < 0 ? -1 : baseOffset + i
      const timestamp = appendTime ?? BigInt(this.#timestamps[i])
      this.#calls[i].ended(this.#indexes[i], { topic, partition, offset, timestamp })
    }
  }

  fail(error: MillraceError): void {
    if (this.isGivenUp) return
    this.isGivenUp = true
    for (let i = 0; i < this.#calls.length; i++) this.#calls[i].ended(this.#indexes[i], error)
  }

  /** Two batches in place of this one, which a broker finds too large. Their sequences cover the same range. */
  split(
    records: Iterable<{ key: Buffer | null; value: Buffer | null; headers: readonly RecordHeader[] }>,
  ): ProducerBatch[] {
    const halves = [0, 1].map(() => new ProducerBatch(new BatchBuilder(), this.createdMs))
    const middle = this.recordCount >> 1
    let i = 0
    for (const { key, value, headers } of records) {
      const half = halves[i < middle ? 0 : 1]
      half.add(this.#calls[i], this.#indexes[i], this.#timestamps[i], key, value, headers)
      i++
    }
    for (const half of halves) half.state = 'sealed'
    halves[0].baseSequence = this.baseSequence
    return halves
  }
}
