import {
  batchHeaderBytes,
  readBaseOffset,
  readBaseTimestamp,
  readMaxTimestamp,
  readRecordCount,
  readTimestampType,
} from './batch.ts'
import { exactInteger } from './int64.ts'
import { Cursor } from './varint.ts'

/** Keys may repeat; their order is the producer's. */
export interface RecordHeader {
  readonly key: string
  readonly value: Buffer | null
}

/** A record as an object. `key`, `value` and header values are views of the bytes it was read from. */
export interface Record {
  readonly offset: number
  /** Milliseconds; -1: none. Under LogAppendTime the time at which the broker appended its batch. */
  readonly timestamp: bigint
  readonly key: Buffer | null
  readonly value: Buffer | null
  readonly headers: readonly RecordHeader[]
}

const noHeaders: readonly RecordHeader[] = Object.freeze([])

/**
 * Reads the records of one batch one after the other. `records` are its uncompressed records: the bytes from 61 on, or
 * what the codec made of them. `next` answers undefined at the end; `isCorrupt` then tells whether it was the end.
 */
export class RecordReader {
  readonly #cursor: Cursor
  readonly #baseOffset: number
  readonly #baseTimestamp: bigint
  /** The base as a number when every sum with a short delta is exact. */
  readonly #baseTimestampNumber: number | undefined
  readonly #appendTime: bigint | undefined
  #remaining: number
  #isCorrupt = false

  /** `at` is where the header of the batch lies in `bytes`. Without `records` the batch is not compressed. */
  constructor(bytes: Buffer, at: number, sizeBytes: number, records?: Buffer) {
    this.#cursor =
      records === undefined ? new Cursor(bytes, at + batchHeaderBytes, at + sizeBytes) : new Cursor(records)
    this.#baseOffset = readBaseOffset(bytes, at)
    this.#baseTimestamp = readBaseTimestamp(bytes, at)
    const base = Number(this.#baseTimestamp)
    this.#baseTimestampNumber = Math.abs(base) < 2 ** 52 ? base : undefined
    this.#appendTime = readTimestampType(bytes, at) === 'LogAppendTime' ? readMaxTimestamp(bytes, at) : undefined
    this.#remaining = readRecordCount(bytes, at)
    this.#isCorrupt = this.#remaining < 0
  }

  /** The bytes did not hold as many records as the header says, or a record is malformed, or bytes were left over. */
  get isCorrupt(): boolean {
    return this.#isCorrupt
  }

  next(): Record | undefined {
    if (this.#isCorrupt) return undefined
    if (this.#remaining === 0) {
      this.#isCorrupt = this.#cursor.position !== this.#cursor.end
      return undefined
    }
    const record = this.#read()
    this.#remaining--
    this.#isCorrupt = record === undefined
    return record
  }

  /** What `next` gives, up to the end or to corruption. */
  *[Symbol.iterator](): Generator<Record, void, undefined> {
    for (let record = this.next(); record !== undefined; record = this.next()) yield record
  }

  #read(): Record | undefined {
    const cursor = this.#cursor
    const length = cursor.varint()
    const recordEnd = cursor.position + length
    if (cursor.failed || length < 0 || recordEnd > cursor.end) return undefined
    cursor.byte() // attributes: none are defined
    const timestamp = this.#timestamp()
    const offset = exactInteger(this.#baseOffset + cursor.varint())
    const key = this.#bytes(recordEnd)
    const value = this.#bytes(recordEnd)
    const headers = this.#headers(recordEnd)
    if (cursor.failed || cursor.position !== recordEnd) return undefined
    return { offset, timestamp, key, value, headers }
  }

  #timestamp(): bigint {
    const delta = this.#cursor.shortVarlong()
    if (this.#appendTime !== undefined) {
      if (delta === undefined) this.#cursor.varlong()
      return this.#appendTime
    }
    if (delta === undefined) return BigInt.asIntN(64, this.#baseTimestamp + this.#cursor.varlong())
    if (this.#baseTimestampNumber !== undefined) return BigInt(this.#baseTimestampNumber + delta)
    return BigInt.asIntN(64, this.#baseTimestamp + BigInt(delta))
  }

  #bytes(recordEnd: number): Buffer | null {
    const cursor = this.#cursor
    const length = cursor.varint()
    if (length < 0) return null
    if (length > recordEnd - cursor.position) cursor.failed = true
    if (cursor.failed) return null
    const start = cursor.position
    cursor.position = start + length
    return cursor.bytes.subarray(start, cursor.position)
  }

  #headers(recordEnd: number): readonly RecordHeader[] {
    const cursor = this.#cursor
    const count = cursor.varint()
    // A header takes at least two bytes, so a false count cannot make this list longer than the record.
    if (count < 0 || count > recordEnd - cursor.position) cursor.failed = true
    if (count === 0 || cursor.failed) return noHeaders
    const headers: RecordHeader[] = []
    for (let index = 0; index < count && !cursor.failed; index++) {
      const key = this.#bytes(recordEnd)
      const value = this.#bytes(recordEnd)
      if (key === null) cursor.failed = true
      else headers.push({ key: key.toString('utf8'), value })
    }
    return headers
  }
}
