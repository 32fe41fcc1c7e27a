import { crc32 } from 'node:zlib'
import { batchPrefixBytes, batchSizeAt, magicPosition, readBaseOffset, readMagic, type TimestampType } from './batch.ts'
import { readAllBlocks } from './compression/block-reader.ts'
import { Codec } from './compression/codec.ts'
import { decompressSync } from './compression/decompress.ts'
import { corruptInput, type Decompressed, type DecompressFailure } from './compression/decompressed.ts'
import { Lz4FrameReader } from './compression/lz4.ts'
import type { Record } from './record.ts'

/**
 * Entries of magic 0 and 1, which are in segments from before an upgrade: read, never written. Each holds one record, or
 * a compressed set of them as its value. Layout: offset 0, size 8, crc 12, magic 16, attributes 17, in magic 1 a timestamp
 * 18, then key and value with an int32 length each. The offset is that of the last record inside.
 */
const noHeaders = Object.freeze([])

/** `size` is the whole entry's, as `batchSizeAt` tells it. The CRC is the IEEE one. */
export function isLegacyCrcValid(bytes: Buffer, at: number, size: number): boolean {
  return crc32(bytes.subarray(at + magicPosition, at + size)) === bytes.readUInt32BE(at + batchPrefixBytes)
}

export function readLegacyCodec(bytes: Buffer, at: number): number {
  return bytes[at + 17] & 0x07
}

export function readLegacyTimestampType(bytes: Buffer, at: number): TimestampType {
  return readMagic(bytes, at) === 1 && bytes[at + 17] & 0x08 ? 'LogAppendTime' : 'CreateTime'
}

/** The largest of those inside; -1 in magic 0. */
export function readLegacyTimestamp(bytes: Buffer, at: number): bigint {
  return readMagic(bytes, at) === 1 ? bytes.readBigInt64BE(at + 18) : -1n
}

/** The records of the whole entry at `at`, unpacked to at most `maxBytes`. */
export function readLegacyRecords(
  bytes: Buffer,
  at: number,
  size: number,
  maxBytes: number,
): readonly Record[] | DecompressFailure {
  const record = readEntry(bytes, at, size)
  if (record === undefined) return corruptInput('the entry is malformed')
  if (readLegacyCodec(bytes, at) === Codec.none) return [record]
  if (record.value === null) return corruptInput('a compressed entry has no value')
  const unpacked = unpack(readLegacyCodec(bytes, at), readMagic(bytes, at), record.value, maxBytes)
  if (unpacked.type !== 'done') return unpacked
  const inner = readInnerEntries(unpacked.output, readMagic(bytes, at))
  if (inner === undefined) return corruptInput('the compressed entries are malformed')
  return asStored(inner, record, bytes, at)
}

function unpack(codec: number, magic: number, value: Buffer, maxBytes: number): Decompressed {
  if (codec === Codec.zstd) return corruptInput('an entry of an old magic has no zstd')
  if (codec !== Codec.lz4) return decompressSync(codec, value, maxBytes)
  return readAllBlocks(new Lz4FrameReader(value, { hashesMagic: magic === 0 }), maxBytes)
}

function readInnerEntries(bytes: Buffer, magic: number): Record[] | undefined {
  const records: Record[] = []
  for (let at = 0; at < bytes.length; ) {
    const size = batchSizeAt(bytes, at)
    if (size <= 0 || readMagic(bytes, at) !== magic || readLegacyCodec(bytes, at) !== Codec.none) return undefined
    const record = isLegacyCrcValid(bytes, at, size) ? readEntry(bytes, at, size) : undefined
    if (record === undefined) return undefined
    records.push(record)
    at += size
  }
  return records.length === 0 ? undefined : records
}

/** In magic 1 the offsets inside count from 0, and the wrapper has the last one; its time may be the broker's, for all. */
function asStored(inner: readonly Record[], wrapper: Record, bytes: Buffer, at: number): readonly Record[] {
  if (readMagic(bytes, at) === 0) return inner
  const baseOffset = wrapper.offset - inner[inner.length - 1].offset
  const isAppendTime = readLegacyTimestampType(bytes, at) === 'LogAppendTime'
  return inner.map(record => ({
    ...record,
    offset: baseOffset + record.offset,
    timestamp: isAppendTime ? wrapper.timestamp : record.timestamp,
  }))
}

function readEntry(bytes: Buffer, at: number, size: number): Record | undefined {
  const end = at + size
  const keyAt = at + (readMagic(bytes, at) === 0 ? 18 : 26)
  const keyEnd = endOfPart(bytes, keyAt, end)
  const valueEnd = keyEnd === undefined ? undefined : endOfPart(bytes, keyEnd, end)
  if (keyEnd === undefined || valueEnd !== end) return undefined
  return {
    offset: readBaseOffset(bytes, at),
    timestamp: readLegacyTimestamp(bytes, at),
    key: readPart(bytes, keyAt, keyEnd),
    value: readPart(bytes, keyEnd, valueEnd),
    headers: noHeaders,
  }
}

/** Where a part with an int32 length ends; undefined when it does not end before `end`. */
function endOfPart(bytes: Buffer, at: number, end: number): number | undefined {
  if (at + 4 > end) return undefined
  const partEnd = at + 4 + Math.max(0, bytes.readInt32BE(at))
  return partEnd > end ? undefined : partEnd
}

function readPart(bytes: Buffer, at: number, end: number): Buffer | null {
  return bytes.readInt32BE(at) < 0 ? null : bytes.subarray(at + 4, end)
}
