import { assert } from '../base/assert.ts'
import { crc32c } from './crc32c.ts'
import { exactInteger, readInt64, writeInt64 } from './int64.ts'

/**
 * Record batch v2: a header of 61 bytes, then the records, which are one compressed stream when the batch has a codec.
 * The functions here read and change a header where it lies, at position `at` of some bytes; they check nothing, so
 * `batchSizeAt` or a validator comes first. Layout: baseOffset 0, batchLength 8, partitionLeaderEpoch 12, magic 16,
 * crc 17, attributes 21, lastOffsetDelta 23, baseTimestamp 27, maxTimestamp 35, producerId 43, producerEpoch 51,
 * baseSequence 53, recordCount 57, records 61. The CRC covers everything from the attributes on.
 */
export const batchHeaderBytes = 61
/** baseOffset and batchLength, which batchLength does not count. */
export const batchPrefixBytes = 12
/** Where the magic byte lies, in every format. */
export const magicPosition = 16
/** Where the part that the CRC covers begins. */
export const attributesPosition = 21

/** The smallest entry of any format: an empty magic 0 record. */
const smallestEntryBytes = 14
const codecMask = 0x07
const timestampTypeBit = 0x08
const transactionalBit = 0x10
const controlBit = 0x20
const deleteHorizonBit = 0x40

export type TimestampType = 'CreateTime' | 'LogAppendTime'

/** What `batchSizeAt` answers when the bytes end before the batch does. */
export const truncated = 0
/** What `batchSizeAt` answers when these bytes cannot be the start of a batch. */
export const corrupt = -1

/**
 * The size in bytes of the batch, or legacy entry, that begins at `at`, if it ends at or before `end`; otherwise
 * `truncated` (also at the very end) or `corrupt`. The bytes of an answer to Fetch may end in a truncated batch.
 */
export function batchSizeAt(bytes: Buffer, at: number, end = bytes.length): number {
  if (end - at < batchPrefixBytes) return truncated
  const length = bytes.readInt32BE(at + 8)
  if (length < smallestEntryBytes) return corrupt
  if (end - at <= magicPosition) return truncated
  const magic = bytes[at + magicPosition]
  if (magic > 2) return corrupt
  const size = batchPrefixBytes + length
  if (magic === 2 && size < batchHeaderBytes) return corrupt
  return size <= end - at ? size : truncated
}

export function readMagic(bytes: Buffer, at: number): number {
  return bytes[at + magicPosition]
}

/** Infinity or -Infinity beyond 2^53. */
export function readBaseOffset(bytes: Buffer, at: number): number {
  return readInt64(bytes, at)
}

/** The whole batch with its header. */
export function readBatchSize(bytes: Buffer, at: number): number {
  return batchPrefixBytes + bytes.readInt32BE(at + 8)
}

export function readPartitionLeaderEpoch(bytes: Buffer, at: number): number {
  return bytes.readInt32BE(at + 12)
}

export function readCrc(bytes: Buffer, at: number): number {
  return bytes.readUInt32BE(at + 17)
}

export function readAttributes(bytes: Buffer, at: number): number {
  return bytes.readInt16BE(at + attributesPosition)
}

export function readLastOffsetDelta(bytes: Buffer, at: number): number {
  return bytes.readInt32BE(at + 23)
}

/** Inclusive. Infinity or -Infinity beyond 2^53. */
export function readLastOffset(bytes: Buffer, at: number): number {
  return exactInteger(readInt64(bytes, at) + bytes.readInt32BE(at + 23))
}

/** What the deltas of the records count from; while a delete horizon is set there, it is that. */
export function readBaseTimestamp(bytes: Buffer, at: number): bigint {
  return bytes.readBigInt64BE(at + 27)
}

/** The time of the last record under LogAppendTime; -1 when no record has a timestamp. */
export function readMaxTimestamp(bytes: Buffer, at: number): bigint {
  return bytes.readBigInt64BE(at + 35)
}

/** -1: none. Infinity or -Infinity beyond 2^53. */
export function readProducerId(bytes: Buffer, at: number): number {
  return readInt64(bytes, at + 43)
}

export function readProducerEpoch(bytes: Buffer, at: number): number {
  return bytes.readInt16BE(at + 51)
}

export function readBaseSequence(bytes: Buffer, at: number): number {
  return bytes.readInt32BE(at + 53)
}

export function readLastSequence(bytes: Buffer, at: number): number {
  return addToSequence(readBaseSequence(bytes, at), readLastOffsetDelta(bytes, at))
}

export function readRecordCount(bytes: Buffer, at: number): number {
  return bytes.readInt32BE(at + 57)
}

/** Kafka's number: 0 none, 1 gzip, 2 snappy, 3 lz4, 4 zstd. */
export function readCodec(bytes: Buffer, at: number): number {
  return bytes[at + attributesPosition + 1] & codecMask
}

export function readTimestampType(bytes: Buffer, at: number): TimestampType {
  return bytes[at + attributesPosition + 1] & timestampTypeBit ? 'LogAppendTime' : 'CreateTime'
}

export function isTransactional(bytes: Buffer, at: number): boolean {
  return (bytes[at + attributesPosition + 1] & transactionalBit) !== 0
}

export function isControlBatch(bytes: Buffer, at: number): boolean {
  return (bytes[at + attributesPosition + 1] & controlBit) !== 0
}

/** When tombstones and markers of this batch may be removed, in ms; undefined when the cleaner has not set it. */
export function readDeleteHorizon(bytes: Buffer, at: number): bigint | undefined {
  const isSet = bytes[at + attributesPosition + 1] & deleteHorizonBit
  return isSet ? readBaseTimestamp(bytes, at) : undefined
}

/** Sequences run from 0 to 2^31 - 1 and then start again at 0; -1 (none) stays -1. */
export function addToSequence(sequence: number, delta: number): number {
  return sequence < 0 ? sequence : (sequence + delta) % 0x8000_0000
}

/** The CRC that the batch should have. `size` is the whole batch's. */
export function computeCrc(bytes: Buffer, at: number, size: number): number {
  return crc32c(bytes, at + attributesPosition, at + size)
}

export function isCrcValid(bytes: Buffer, at: number, size: number): boolean {
  return readCrc(bytes, at) === computeCrc(bytes, at, size)
}

/** Outside of what the CRC covers. */
export function setBaseOffset(bytes: Buffer, at: number, baseOffset: number): void {
  assert(Number.isSafeInteger(baseOffset) && baseOffset >= 0, 'a base offset is a whole number from 0 on')
  writeInt64(bytes, at, baseOffset)
}

/** Outside of what the CRC covers. */
export function setPartitionLeaderEpoch(bytes: Buffer, at: number, leaderEpoch: number): void {
  bytes.writeInt32BE(leaderEpoch, at + 12)
}

/** The whole batch with its header. Outside of what the CRC covers. */
export function setBatchSize(bytes: Buffer, at: number, sizeBytes: number): void {
  bytes.writeInt32BE(sizeBytes - batchPrefixBytes, at + 8)
}

/** Of the other attributes those are left that a producer may set. The CRC is to be updated. */
export function setCodec(bytes: Buffer, at: number, codec: number): void {
  const kept = readAttributes(bytes, at) & (timestampTypeBit | transactionalBit)
  bytes.writeInt16BE(kept | codec, at + attributesPosition)
}

/** Sets both and computes the CRC anew, unless they are as asked already. */
export function setMaxTimestampAndType(
  bytes: Buffer,
  at: number,
  { maxTimestamp, timestampType }: { maxTimestamp: bigint; timestampType: TimestampType },
): void {
  if (readMaxTimestamp(bytes, at) === maxTimestamp && readTimestampType(bytes, at) === timestampType) return
  const attributes = bytes[at + attributesPosition + 1] & ~timestampTypeBit
  bytes[at + attributesPosition + 1] = timestampType === 'LogAppendTime' ? attributes | timestampTypeBit : attributes
  bytes.writeBigInt64BE(maxTimestamp, at + 35)
  updateCrc(bytes, at)
}

/** To be called after a change of anything from the attributes on. */
export function updateCrc(bytes: Buffer, at: number): void {
  bytes.writeUInt32BE(computeCrc(bytes, at, readBatchSize(bytes, at)), at + 17)
}
