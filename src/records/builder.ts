import { assert } from '../base/assert.ts'
import { batchHeaderBytes, updateCrc } from './batch.ts'
import { compressSync } from './compression/compress.ts'
import { writeInt64 } from './int64.ts'
import type { RecordHeader } from './record.ts'
import { varintSize, writeBigVarlong, writeVarint, writeVarlong } from './varint.ts'

/** What a batch says of itself. Every field has the value of a plain, uncompressed batch unless it is given. */
export interface BatchFields {
  readonly baseOffset?: number
  readonly partitionLeaderEpoch?: number
  /** Kafka's number of the codec. */
  readonly codec?: number
  /** The codec's own level; its default when not given. */
  readonly level?: number
  readonly isTransactional?: boolean
  readonly isControl?: boolean
  /** The broker's time for all records: LogAppendTime. */
  readonly logAppendTime?: bigint
  readonly producerId?: number
  readonly producerEpoch?: number
  readonly baseSequence?: number
}

const plain: Required<Omit<BatchFields, 'level' | 'logAppendTime'>> = {
  baseOffset: 0,
  partitionLeaderEpoch: -1,
  codec: 0,
  isTransactional: false,
  isControl: false,
  producerId: -1,
  producerEpoch: -1,
  baseSequence: -1,
}

/** Room for the lengths and deltas of a record without its headers: five varints, one of them of ten bytes, and a byte. */
const recordOverheadBytes = 36
const headerOverheadBytes = 10
const exactLimit = 2 ** 52
const noHeaders: readonly RecordHeader[] = Object.freeze([])

/**
 * Makes one batch after another in one buffer that grows as needed and is kept. Bytes of keys and values are copied at
 * `append`, so the caller's may change afterwards.
 */
export class BatchBuilder {
  #bytes: Buffer
  #position = batchHeaderBytes
  #count = 0
  #lastOffsetDelta = -1
  #hasBaseTimestamp = false
  #baseTimestamp = 0n
  /** The base as a number when differences to it are exact, otherwise NaN. */
  #baseTimestampNumber = Number.NaN
  #maxTimestamp = -1n
  /** The largest timestamp that came as a number; -1: none. */
  #maxTimestampNumber = -1

  constructor(capacityBytes = 1024) {
    this.#bytes = Buffer.allocUnsafeSlow(Math.max(capacityBytes, batchHeaderBytes + recordOverheadBytes))
  }

  get recordCount(): number {
    return this.#count
  }

  /** Of the batch as it would be without compression. */
  get sizeBytes(): number {
    return this.#position
  }

  /** Lets the timestamps count from `timestamp` instead of from the first record's. Before the first record. */
  countTimestampsFrom(timestamp: bigint): void {
    assert(this.#count === 0, 'the base timestamp is set before the first record')
    this.#setBaseTimestamp(timestamp)
  }

  /** Forgets all records; a result of `finish` must no longer be in use. */
  reset(): void {
    this.#position = batchHeaderBytes
    this.#count = 0
    this.#lastOffsetDelta = -1
    this.#hasBaseTimestamp = false
    this.#maxTimestamp = -1n
    this.#maxTimestampNumber = -1
  }

  /**
   * Adds a record at the next offset. `timestamp` is in milliseconds, -1 for none; a number must be a safe integer
   * below 2^52.
   */
  append(
    timestamp: number | bigint,
    key: Buffer | null,
    value: Buffer | null,
    headers: readonly RecordHeader[] = noHeaders,
  ): void {
    this.appendAt(this.#lastOffsetDelta + 1, timestamp, key, value, headers)
  }

  /** As `append`, at an offset of the caller's choice, which grows with each record (compaction leaves gaps). */
  appendAt(
    offsetDelta: number,
    timestamp: number | bigint,
    key: Buffer | null,
    value: Buffer | null,
    headers: readonly RecordHeader[] = noHeaders,
  ): void {
    assert(offsetDelta > this.#lastOffsetDelta, 'offsets grow within a batch')
    if (!this.#hasBaseTimestamp) this.#setBaseTimestamp(timestamp)
    const keyBytes = key === null ? 0 : key.length
    const valueBytes = value === null ? 0 : value.length
    const headerBytes = headers.length === 0 ? 0 : headersSize(headers)
    this.#reserve(keyBytes + valueBytes + headerBytes + recordOverheadBytes)
    const bytes = this.#bytes

    // The body comes first, behind room for the longest length; it moves when its length turns out to be shorter.
    const recordStart = this.#position
    const guess = varintSize(keyBytes + valueBytes + headerBytes + 8)
    const bodyStart = recordStart + guess
    let at = bodyStart
    bytes[at++] = 0
    at = this.#writeTimestamp(at, timestamp)
    at = writeVarint(bytes, at, offsetDelta)
    at = writeBytes(bytes, at, key)
    at = writeBytes(bytes, at, value)
    at = writeHeaders(bytes, at, headers)
    const bodyBytes = at - bodyStart
    const lengthBytes = varintSize(bodyBytes)
    if (lengthBytes !== guess) bytes.copyWithin(recordStart + lengthBytes, bodyStart, at)
    writeVarint(bytes, recordStart, bodyBytes)
    this.#position = recordStart + lengthBytes + bodyBytes
    this.#count++
    this.#lastOffsetDelta = offsetDelta
  }

  /**
   * The whole batch. Uncompressed it is a view of the builder's buffer, good until `reset` or `append`; compressed it has
   * bytes of its own. Records stay until `reset`.
   */
  finish(fields: BatchFields = {}): Buffer {
    const codec = fields.codec ?? 0
    if (codec === 0) return this.#withHeader(this.#bytes.subarray(0, this.#position), fields)
    const compressed = compressSync(codec, this.#bytes.subarray(batchHeaderBytes, this.#position), fields.level)
    return this.finishCompressed(compressed, fields)
  }

  /** The records so far without header, for a caller that compresses elsewhere and then calls `finishCompressed`. */
  get records(): Buffer {
    return this.#bytes.subarray(batchHeaderBytes, this.#position)
  }

  /** The whole batch, of records that were compressed by the codec that `fields` names. */
  finishCompressed(compressed: Buffer, fields: BatchFields): Buffer {
    const bytes = Buffer.allocUnsafe(batchHeaderBytes + compressed.length)
    compressed.copy(bytes, batchHeaderBytes)
    return this.#withHeader(bytes, fields)
  }

  #withHeader(bytes: Buffer, fields: BatchFields): Buffer {
    assert(this.#count > 0, 'a batch that is built has records')
    const { logAppendTime } = fields
    const numberAsBigint = BigInt(this.#maxTimestampNumber)
    const maxTimestamp = numberAsBigint > this.#maxTimestamp ? numberAsBigint : this.#maxTimestamp
    writeBatchHeader(bytes, {
      ...fields,
      lastOffsetDelta: this.#lastOffsetDelta,
      baseTimestamp: this.#baseTimestamp,
      maxTimestamp: logAppendTime ?? maxTimestamp,
      recordCount: this.#count,
    })
    return bytes
  }

  #setBaseTimestamp(timestamp: number | bigint): void {
    this.#hasBaseTimestamp = true
    this.#baseTimestamp = BigInt(timestamp)
    const number = Number(timestamp)
    this.#baseTimestampNumber = Math.abs(number) < exactLimit ? number : Number.NaN
  }

  #writeTimestamp(at: number, timestamp: number | bigint): number {
    if (typeof timestamp === 'number') {
      if (timestamp > this.#maxTimestampNumber) this.#maxTimestampNumber = timestamp
      const delta = timestamp - this.#baseTimestampNumber
      if (Math.abs(delta) < exactLimit) return writeVarlong(this.#bytes, at, delta)
    } else if (timestamp > this.#maxTimestamp) this.#maxTimestamp = timestamp
    return writeBigVarlong(this.#bytes, at, BigInt.asIntN(64, BigInt(timestamp) - this.#baseTimestamp))
  }

  #reserve(extraBytes: number): void {
    const needed = this.#position + extraBytes
    if (needed <= this.#bytes.length) return
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, this.#bytes.length * 2))
    this.#bytes.copy(larger, 0, 0, this.#position)
    this.#bytes = larger
  }
}

/** The most bytes that such a record adds to an uncompressed batch. */
export function maxRecordSize(
  key: Buffer | null,
  value: Buffer | null,
  headers: readonly RecordHeader[] = noHeaders,
): number {
  const headerBytes = headers.length === 0 ? 0 : headersSize(headers)
  return recordOverheadBytes + (key?.length ?? 0) + (value?.length ?? 0) + headerBytes
}

/** Everything of a header that does not follow from the bytes. */
export interface BatchHeaderFields extends BatchFields {
  readonly lastOffsetDelta: number
  readonly baseTimestamp: bigint
  readonly maxTimestamp: bigint
  readonly recordCount: number
}

/** Writes the header of the batch that fills `bytes`, whose records are in place, and its CRC. */
export function writeBatchHeader(bytes: Buffer, fields: BatchHeaderFields): void {
  const all = { ...plain, ...fields }
  writeInt64(bytes, 0, all.baseOffset)
  bytes.writeInt32BE(bytes.length - 12, 8)
  bytes.writeInt32BE(all.partitionLeaderEpoch, 12)
  bytes[16] = 2
  const timestampType = all.logAppendTime === undefined ? 0 : 0x08
  const attributes = all.codec | timestampType | (all.isTransactional ? 0x10 : 0) | (all.isControl ? 0x20 : 0)
  bytes.writeInt16BE(attributes, 21)
  bytes.writeInt32BE(all.lastOffsetDelta, 23)
  bytes.writeBigInt64BE(all.baseTimestamp, 27)
  bytes.writeBigInt64BE(all.maxTimestamp, 35)
  writeInt64(bytes, 43, all.producerId)
  bytes.writeInt16BE(all.producerEpoch, 51)
  bytes.writeInt32BE(all.baseSequence, 53)
  bytes.writeInt32BE(all.recordCount, 57)
  updateCrc(bytes, 0)
}

function writeBytes(bytes: Buffer, at: number, part: Buffer | null): number {
  if (part === null) return writeVarint(bytes, at, -1)
  const start = writeVarint(bytes, at, part.length)
  part.copy(bytes, start)
  return start + part.length
}

function writeHeaders(bytes: Buffer, at: number, headers: readonly RecordHeader[]): number {
  let position = writeVarint(bytes, at, headers.length)
  for (const { key, value } of headers) {
    const keyBytes = Buffer.byteLength(key)
    position = writeVarint(bytes, position, keyBytes)
    position += bytes.write(key, position, keyBytes, 'utf8')
    position = writeBytes(bytes, position, value)
  }
  return position
}

function headersSize(headers: readonly RecordHeader[]): number {
  let size = 0
  for (const { key, value } of headers) size += headerOverheadBytes + Buffer.byteLength(key) + (value?.length ?? 0)
  return size
}
