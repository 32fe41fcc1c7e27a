import { assert } from '../base/assert.ts'
import { freeBytes } from './compression/free-bytes.ts'
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
  /** What the length of a record may say at most. */
  readonly maxRecordBytes: number
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
/** Above every delta of the fast way, which has 20 bits and a sign. */
const deltaLimit = 1 << 24
const noDelta = -deltaLimit
/** No record of the fast way is longer: its length has 20 bits. */
const plainRecordBytes = (1 << 20) - 1
/** No sum with a delta of the fast way overflows. */
const exactBase = 2n ** 62n

/**
 * Walks the records of a batch where they lie, checking what Kafka checks, without an object per record. The bytes may
 * come in pieces: `feed` says how far it got, and the caller feeds the rest again with more bytes after it.
 *
 * Timestamps are handled as deltas from the batch's base, which are small numbers; what is out of bounds or not small
 * takes the way over bigints. Compaction, which wants places and no checks, has `RecordColumns`, which says why.
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
  #hasLongRecord = false

  start(rules: RecordRules): void {
    this.#rules = rules
    this.#index = 0
    this.#isConsecutive = true
    this.#maxDelta = noDelta
    this.#maxTimestamp = noTimestamp
    this.#carriedBytes = 0
    if (this.#carried.length > maxKeptCarryBytes) this.#replaceCarried(initialCarryBytes)
    this.#errors = []
    this.#errorCount = 0
    this.#hasTimestampError = false
    this.#hasLongRecord = false
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
    if (this.#maxDelta === noDelta) return this.#maxTimestamp
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

  /** What made the bytes malformed is a record that is longer than the rules allow. */
  get hasLongRecord(): boolean {
    return this.#hasLongRecord
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
      this.#replaceCarried(Math.max(needed, this.#carried.length * 2))
    }
    bytes.copy(this.#carried, this.#carriedBytes, start, end)
    this.#carriedBytes = needed
  }

  #replaceCarried(bytes: number): void {
    const other = Buffer.allocUnsafeSlow(bytes)
    this.#carried.copy(other, 0, 0, this.#carriedBytes)
    freeBytes(this.#carried)
    this.#carried = other
  }

  /**
   * The fast way: as long as records are plain (whole, varints of at most three bytes, the next offset, a timestamp within
   * bounds, a key where one is needed). Stops before the first other record and leaves it to `#walkRecord`.
   *
   * All state is in locals, and each varint is spelt out, advancing by constants: the processor guesses the branches, and
   * the next read need not wait for this one. With a function that returns value and width it takes half as long again.
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
      let length = bytes[at]
      if (length < 0x80) at += 1
      else {
        const second = bytes[at + 1]
        if (second < 0x80) {
          length = (length & 0x7f) | (second << 7)
          at += 2
        } else {
          length = threeByteVarint(bytes, at)
          at += 3
        }
      }
      const recordEnd = at + (length >>> 1)
      if ((length & 1) !== 0 || recordEnd > end) break // also when it is longer than three bytes: -1

      let delta = bytes[at + 1] // after the attributes, of which none are defined
      if (delta < 0x80) at += 2
      else {
        const second = bytes[at + 2]
        if (second < 0x80) {
          delta = (delta & 0x7f) | (second << 7)
          at += 3
        } else {
          delta = threeByteVarint(bytes, at + 1)
          at += 4
        }
      }
      delta = (delta >>> 1) ^ -(delta & 1)
      if (delta < lowestDelta || delta > highestDelta) break

      let offset = bytes[at]
      if (offset < 0x80) at += 1
      else {
        const second = bytes[at + 1]
        if (second < 0x80) {
          offset = (offset & 0x7f) | (second << 7)
          at += 2
        } else {
          offset = threeByteVarint(bytes, at)
          at += 3
        }
      }
      if (offset !== index * 2) break

      at = endOfKey(bytes, at, recordEnd)
      if (at < 0) {
        if (requiresKey) break
        at = -at
      }
      if (at >= recordEnd) break
      let valueBytes = bytes[at]
      if (valueBytes < 0x80) at += 1
      else {
        const second = bytes[at + 1]
        if (second < 0x80) {
          valueBytes = (valueBytes & 0x7f) | (second << 7)
          at += 2
        } else {
          valueBytes = threeByteVarint(bytes, at)
          at += 3
        }
      }
      if ((valueBytes & 1) === 0) at += valueBytes >>> 1
      if (valueBytes < 0 || at >= recordEnd) break
      if (bytes[at] === 0) at += 1
      else at = endOfHeaders(bytes, at, recordEnd)
      if (at !== recordEnd) break
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
    // Before the rest of it is waited for.
    if (length > this.#rules.maxRecordBytes) {
      this.#hasLongRecord = true
      return malformed
    }
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

  /** As whole numbers of 32 bits, which the fast way compares fastest; its deltas are far below `deltaLimit`. */
  #setDeltaBounds({ baseTimestamp, appendTime, timestampBounds, maxRecordBytes }: RecordRules): void {
    this.#lowestDelta = -deltaLimit
    this.#highestDelta = deltaLimit
    const isBounded = maxRecordBytes < plainRecordBytes
    if (isBounded || appendTime !== undefined || baseTimestamp > exactBase || baseTimestamp < -exactBase) {
      // Lengths are to be looked at, the time is not the records' own, or sums may overflow: every record goes the slow way.
      this.#lowestDelta = deltaLimit
    } else if (timestampBounds !== undefined) {
      this.#lowestDelta = clampedDelta(timestampBounds.earliest - baseTimestamp)
      this.#highestDelta = clampedDelta(timestampBounds.latest - baseTimestamp)
    }
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

function clampedDelta(delta: bigint): number {
  return Math.max(-deltaLimit, Math.min(deltaLimit, Number(delta)))
}

/**
 * A varint of at most three bytes, raw: twice the value, or for negative ones twice the magnitude less one, which is odd.
 * -1 when it is longer. At the end of the buffer reads give undefined, which is not below 0x80.
 */
function threeByteVarint(bytes: Buffer, at: number): number {
  const third = bytes[at + 2]
  return third < 0x80 ? (bytes[at] & 0x7f) | ((bytes[at + 1] & 0x7f) << 7) | (third << 14) : -1
}

/** Where the key ends; the same negative when it is null; `recordEnd`, which is too far, when it is not plain. */
function endOfKey(bytes: Buffer, at: number, recordEnd: number): number {
  const first = bytes[at]
  if (first === 1) return -at - 1
  if (first < 0x80) return (first & 1) === 0 ? at + 1 + (first >>> 1) : -at - 1
  const second = bytes[at + 1]
  if (second >= 0x80) return recordEnd
  const length = (first & 0x7f) | (second << 7)
  return (length & 1) === 0 ? at + 2 + (length >>> 1) : -at - 2
}

/** Where the headers that begin at `start` end; something else than `recordEnd` when they are not plain. */
function endOfHeaders(bytes: Buffer, start: number, recordEnd: number): number {
  const count = bytes[start]
  if (count >= 0x80 || (count & 1) !== 0) return malformed
  let at = start + 1
  for (let remaining = count >>> 1; remaining > 0; remaining--) {
    const keyBytes = bytes[at]
    if (keyBytes >= 0x80 || (keyBytes & 1) !== 0) return malformed
    at += 1 + (keyBytes >>> 1)
    if (at >= recordEnd) return malformed
    let valueBytes = bytes[at]
    if (valueBytes < 0x80) at += 1
    else {
      const second = bytes[at + 1]
      if (second >= 0x80) return malformed
      valueBytes = (valueBytes & 0x7f) | (second << 7)
      at += 2
    }
    if ((valueBytes & 1) === 0) at += valueBytes >>> 1
    if (at > recordEnd) return malformed
  }
  return at
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
