import { assert } from '../base/assert.ts'
import { Cursor } from './varint.ts'

export interface RecordError {
  /** Index of the record in its batch. */
  readonly batchIndex: number
  readonly message: string
}

/** Both are good timestamps themselves. -1, for no timestamp, is always good. */
export interface TimestampBounds {
  readonly earliest: bigint
  readonly latest: bigint
}

/** What is asked of each record of one batch. */
export interface RecordRules {
  readonly recordCount: number
  readonly baseTimestamp: bigint
  /** The batch says LogAppendTime: this is the timestamp of each of its records, whatever their deltas say. */
  readonly appendTime: bigint | undefined
  /** The log is compacted. */
  readonly requiresKey: boolean
  /** The log keeps the producer's time; undefined where the broker sets its own. */
  readonly timestampBounds: TimestampBounds | undefined
}

/** What `feed` answers when the bytes cannot be records. */
export const malformed = -1

/** Of more rejected records than this only the number is kept. */
export const maxRecordErrors = 1000

const noTimestamp = -1n
const maxVarintBytes = 5
const initialCarryBytes = 4096
/** A larger buffer is given up before the next batch. */
const maxKeptCarryBytes = 1 << 20
const missingKeyText = 'Compacted topic cannot accept message without key.'
/** Sums and differences of numbers below it are exact. */
const exactLimit = 2 ** 52

/**
 * Walks the records of a batch where they lie, checking what Kafka checks, without an object per record. The bytes may
 * come in pieces: `feed` says how far it got, and the caller feeds the rest again with more bytes after it.
 *
 * Timestamps are handled as deltas from the batch's base, which are small numbers; what is out of bounds or not small
 * takes the way over bigints.
 */
export class RecordWalk {
  readonly #cursor = new Cursor(Buffer.alloc(0))
  #rules!: RecordRules
  #index = 0
  #isConsecutive = true
  /** A delta outside of these is looked at once more, as a timestamp. */
  #lowestDelta = 0
  #highestDelta = 0
  #maxDelta = 0
  #maxTimestamp = noTimestamp
  /** The start of a record that a piece ended in. */
  #carried = Buffer.allocUnsafeSlow(initialCarryBytes)
  #carriedBytes = 0
  #errors: RecordError[] = []
  #errorCount = 0
  #hasTimestampError = false

  start(rules: RecordRules): void {
    this.#rules = rules
    this.#index = 0
    this.#isConsecutive = true
    this.#maxDelta = Number.NEGATIVE_INFINITY
    this.#maxTimestamp = noTimestamp
    this.#carriedBytes = 0
    if (this.#carried.length > maxKeptCarryBytes) this.#carried = Buffer.allocUnsafeSlow(initialCarryBytes)
    this.#errors = []
    this.#errorCount = 0
    this.#hasTimestampError = false
    this.#setDeltaBounds(rules)
  }

  /** Every record that the batch declares has been seen. */
  get isComplete(): boolean {
    return this.#index === this.#rules.recordCount
  }

  /** The offset delta of each record is its index. */
  get isConsecutive(): boolean {
    return this.#isConsecutive
  }

  /** -1 when no record has a timestamp from 0 on. */
  get maxTimestamp(): bigint {
    if (this.#maxDelta === Number.NEGATIVE_INFINITY) return this.#maxTimestamp
    const largest = this.#rules.baseTimestamp + BigInt(this.#maxDelta)
    return largest > this.#maxTimestamp ? largest : this.#maxTimestamp
  }

  /** The first `maxRecordErrors` of them. */
  get errors(): readonly RecordError[] {
    return this.#errors
  }

  get errorCount(): number {
    return this.#errorCount
  }

  get hasTimestampError(): boolean {
    return this.#hasTimestampError
  }

  /**
   * Walks the whole records in bytes[start, end), up to the number that the batch declares. The answer is the position
   * after the last of them, or `malformed`. What is left then is the start of a record, or too much.
   */
  feed(bytes: Buffer, start: number, end: number): number {
    const { recordCount } = this.#rules
    let at = start
    while (this.#index < recordCount) {
      at = this.#walkPlainRecords(bytes, at, end)
      if (this.#index === recordCount) break
      const next = this.#walkRecord(bytes, at, end)
      if (next === malformed) return malformed
      if (next === at) break
      at = next
    }
    return at
  }

  /**
   * As `feed`, for records that come in pieces of any size, each of them good only until this returns. The start of a
   * record that is not whole is kept until the rest comes. False when the bytes cannot be records.
   */
  feedPiece(piece: Buffer): boolean {
    let start = 0
    if (this.#carriedBytes > 0) {
      start = this.#completeCarried(piece)
      if (start === malformed || this.#carriedBytes > 0) return start !== malformed
    }
    const end = this.feed(piece, start, piece.length)
    if (end === malformed) return false
    this.#carry(piece, end, piece.length)
    return !this.isComplete || this.#carriedBytes === 0
  }

  /** All records were seen, and nothing after them. */
  get hasEndedWell(): boolean {
    return this.isComplete && this.#carriedBytes === 0
  }

  /** Takes what the record in `#carried` lacks from the piece. The answer is how much was taken, or `malformed`. */
  #completeCarried(piece: Buffer): number {
    let taken = 0
    while (taken < piece.length) {
      const lacking = this.#lackingBytes()
      if (lacking === malformed) return malformed
      const take = Math.min(lacking, piece.length - taken)
      this.#carry(piece, taken, taken + take)
      taken += take
      const end = this.feed(this.#carried, 0, this.#carriedBytes)
      if (end === malformed) return malformed
      if (end > 0) {
        this.#carriedBytes = 0
        break
      }
    }
    return taken
  }

  /** One byte at a time until the length of the record is known, then all of it. */
  #lackingBytes(): number {
    const cursor = this.#cursor
    cursor.reset(this.#carried, 0, this.#carriedBytes)
    const length = cursor.varint()
    if (cursor.failed) return this.#carriedBytes < maxVarintBytes ? 1 : malformed
    return Math.max(1, cursor.position + length - this.#carriedBytes)
  }

  #carry(bytes: Buffer, start: number, end: number): void {
    const needed = this.#carriedBytes + end - start
    if (needed > this.#carried.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(needed, this.#carried.length * 2))
      this.#carried.copy(larger, 0, 0, this.#carriedBytes)
      this.#carried = larger
    }
    bytes.copy(this.#carried, this.#carriedBytes, start, end)
    this.#carriedBytes = needed
  }

  /**
   * The fast way: as long as records are plain (whole, no header, short varints, the next offset, a timestamp within
   * bounds, a key where one is needed). All state is in locals. Stops before the first other record and leaves it to
   * `#walkRecord`.
   */
  #walkPlainRecords(bytes: Buffer, start: number, end: number): number {
    const { recordCount, requiresKey } = this.#rules
    const lowestDelta = this.#lowestDelta
    const highestDelta = this.#highestDelta
    let maxDelta = this.#maxDelta
    let index = this.#index
    let recordStart = start
    for (; index < recordCount; index++) {
      let at = recordStart
      let packed = shortVarint(bytes, at)
      at += packed & 3
      const recordEnd = at + (packed >>> 3)
      if (packed === 0 || (packed & 4) !== 0 || recordEnd > end) break
      packed = shortVarint(bytes, at + 1) // after the attributes, of which none are defined
      at += 1 + (packed & 3)
      const delta = (packed >>> 3) ^ -((packed >>> 2) & 1)
      if (packed === 0 || delta < lowestDelta || delta > highestDelta) break
      packed = shortVarint(bytes, at)
      if (packed >>> 2 !== index * 2 || packed === 0) break
      at += packed & 3
      packed = shortVarint(bytes, at)
      at += packed & 3
      if ((packed & 4) === 0) at += packed >>> 3
      else if (requiresKey) break
      if (packed === 0 || at >= recordEnd) break
      packed = shortVarint(bytes, at)
      at += packed & 3
      if ((packed & 4) === 0) at += packed >>> 3
      if (packed === 0 || at !== recordEnd - 1 || bytes[at] !== 0) break
      if (delta > maxDelta) maxDelta = delta
      recordStart = recordEnd
    }
    this.#index = index
    this.#maxDelta = maxDelta
    return recordStart
  }

  /** The position after the record, `start` when it is not whole, or `malformed`. */
  #walkRecord(bytes: Buffer, start: number, end: number): number {
    const cursor = this.#cursor
    cursor.reset(bytes, start, end)
    const length = cursor.varint()
    const recordEnd = cursor.position + length
    if (cursor.failed) return end - start < maxVarintBytes ? start : malformed
    if (recordEnd > end) return start
    const index = this.#index
    cursor.position++ // attributes
    const delta = cursor.shortVarlong()
    const longDelta = delta === undefined ? cursor.varlong() : BigInt(delta)
    if (cursor.varint() !== index) this.#isConsecutive = false
    const hasKey = skipBytes(cursor)
    skipBytes(cursor)
    skipHeaders(cursor)
    if (cursor.failed || cursor.position !== recordEnd) return malformed
    if (!hasKey && this.#rules.requiresKey) this.#reject(index, missingKeyText)
    else this.#checkTimestamp(index, longDelta)
    this.#index = index + 1
    return recordEnd
  }

  #setDeltaBounds({ baseTimestamp, appendTime, timestampBounds }: RecordRules): void {
    const base = Number(baseTimestamp)
    // Without a small base, or with a time that is not the records' own, no delta says anything: all are looked at.
    if (Math.abs(base) > exactLimit || appendTime !== undefined) {
      this.#lowestDelta = Number.POSITIVE_INFINITY
      return
    }
    if (timestampBounds === undefined) {
      this.#lowestDelta = Number.NEGATIVE_INFINITY
      this.#highestDelta = Number.POSITIVE_INFINITY
      return
    }
    this.#lowestDelta = Number(timestampBounds.earliest - baseTimestamp)
    this.#highestDelta = Number(timestampBounds.latest - baseTimestamp)
  }

  #checkTimestamp(index: number, delta: bigint): void {
    const { timestampBounds, appendTime, baseTimestamp } = this.#rules
    const timestamp = appendTime ?? BigInt.asIntN(64, baseTimestamp + delta)
    if (timestampBounds !== undefined && timestamp !== noTimestamp) {
      if (timestamp < timestampBounds.earliest || timestamp > timestampBounds.latest) {
        this.#hasTimestampError = true
        this.#reject(index, timestampText(index, timestamp, timestampBounds))
        return
      }
    } else if (appendTime !== undefined) {
      this.#hasTimestampError = true
      this.#reject(index, `Record ${index}: a producer may not set the timestamp type LogAppendTime.`)
      return
    }
    if (timestamp > this.#maxTimestamp) this.#maxTimestamp = timestamp
  }

  #reject(index: number, message: string): void {
    assert(index < this.#rules.recordCount, 'a rejected record is one of the batch')
    this.#errorCount++
    if (this.#errors.length < maxRecordErrors) this.#errors.push({ batchIndex: index, message })
  }
}

/**
 * A varint of at most three bytes: the raw value times four plus the number of bytes; 0 for anything longer. So bit 2 is
 * the sign, the bits above are the magnitude. At the end of the buffer reads give undefined, which is not below 0x80.
 */
function shortVarint(bytes: Buffer, at: number): number {
  const first = bytes[at]
  if (first < 0x80) return (first << 2) | 1
  const second = bytes[at + 1]
  if (second < 0x80) return (((first & 0x7f) | (second << 7)) << 2) | 2
  const third = bytes[at + 2]
  if (third < 0x80) return (((first & 0x7f) | ((second & 0x7f) << 7) | (third << 14)) << 2) | 3
  return 0
}

/** A length and as many bytes; any negative length is null. */
function skipBytes(cursor: Cursor): boolean {
  const length = cursor.varint()
  if (length > 0) cursor.position += length
  return length >= 0
}

/** Each header takes at least two bytes, so a false count ends with the bytes. */
function skipHeaders(cursor: Cursor): void {
  const count = cursor.varint()
  if (count < 0) cursor.failed = true
  for (let index = 0; index < count && !cursor.failed; index++) {
    if (!skipBytes(cursor)) cursor.failed = true
    skipBytes(cursor)
  }
}

function timestampText(index: number, timestamp: bigint, { earliest, latest }: TimestampBounds): string {
  return `Timestamp ${timestamp} of message with offset ${index} is out of range. The timestamp should be within [${earliest}, ${latest}]`
}
