import { BatchBuilder, type BatchFields } from '../../records/builder.ts'
import type { RecordHeader } from '../../records/record.ts'
import type { SeenRecord } from '../history/operations.ts'
import type { SeededRandom } from '../io/seeded-random.ts'
import { identityHeader, seenRecord, valueEnd } from '../wire/seen-records.ts'

export interface RecordShape {
  /** Values are mostly short; now and then up to this long. */
  readonly maxValueBytes: number
  readonly maxRecordsPerBatch: number
  /** Timestamps of any 64 bits, where the topic allows them. */
  readonly hasWildTimestamps: boolean
  /** So long are nearly all values, as of measurements: batches of one size lie everywhere, then. */
  readonly evenValueBytes?: number | undefined
}

interface Content {
  readonly timestamp: bigint
  readonly key: Buffer | null
  readonly value: Buffer | null
  readonly headers: readonly RecordHeader[]
}

/** Records that one process sends and that can be told from all others of the run. */
export class UniqueRecords {
  readonly #process: string
  readonly #random: SeededRandom
  readonly #shape: RecordShape
  #count = 0

  constructor(process: string, random: SeededRandom, shape: RecordShape) {
    this.#process = process
    this.#random = random
    this.#shape = shape
  }

  /** `areKeyed`: for a compacted topic. Every record has a key, and some are tombstones. */
  draw(wallMs: number, { areKeyed = false } = {}): UnsentBatch {
    const count = this.#random.chance(0.5) ? 1 : this.#random.between(1, this.#shape.maxRecordsPerBatch)
    const draw = () => (areKeyed ? this.#keyed(this.#record(wallMs)) : this.#record(wallMs))
    return new UnsentBatch(Array.from({ length: count }, draw))
  }

  #keyed(content: Content): Content {
    const key = Buffer.from(
      this.#random.chance(0.5) ? `key-${this.#random.below(12)}` : `rare-${this.#random.below(150)}`,
    )
    if (!this.#random.chance(0.15)) return { ...content, key }
    const id = Buffer.from(`${this.#process}.${this.#count}`)
    return { ...content, key, value: null, headers: [{ key: identityHeader, value: id }] }
  }

  #record(wallMs: number): Content {
    const random = this.#random
    const id = `${this.#process}.${++this.#count}${valueEnd}`
    const { maxValueBytes, evenValueBytes } = this.#shape
    const isLong = random.chance(0.05)
    const isEven = evenValueBytes !== undefined && !isLong
    const padding = isEven
      ? Math.max(0, evenValueBytes - id.length)
      : random.below((isLong ? maxValueBytes : Math.min(100, maxValueBytes)) + 1)
    const value = Buffer.concat([Buffer.from(id), Buffer.alloc(padding, `${random.below(1000)} `)])
    const key = random.chance(0.3) ? null : Buffer.from(`key-${random.below(20)}`.padEnd(isEven ? 6 : 0))
    const headers = random.chance(0.2) ? [{ key: '__proto__', value: random.chance(0.3) ? null : random.bytes(4) }] : []
    return { timestamp: this.#timestamp(wallMs), key, value, headers }
  }

  #timestamp(wallMs: number): bigint {
    if (this.#shape.hasWildTimestamps && this.#random.chance(0.2))
      return BigInt.asIntN(62, this.#random.bytes(8).readBigInt64LE()) & 0x7fff_ffff_ffff_ffffn
    return BigInt(wallMs - this.#random.below(1000))
  }
}

/** Records that go in one batch, however often it is sent. */
export class UnsentBatch {
  readonly content: readonly Content[]
  readonly seen: readonly SeenRecord[]

  constructor(content: readonly Content[]) {
    this.content = content
    this.seen = content.map(record => seenRecord(record))
  }

  encode(fields: BatchFields): Buffer {
    const builder = new BatchBuilder()
    for (const { timestamp, key, value, headers } of this.content) builder.append(timestamp, key, value, headers)
    return Buffer.from(builder.finish(fields))
  }
}
