import type { Random } from '../base/random.ts'
import { batchHeaderBytes, readBatchSize, readCodec, updateCrc } from './batch.ts'
import { BatchBuilder, type BatchFields } from './builder.ts'
import { Codec } from './compression/codec.ts'
import { compressSync } from './compression/compress.ts'
import { decompressSync } from './compression/decompress.ts'
import type { RecordHeader } from './record.ts'

export interface FuzzedBatch {
  readonly bytes: Buffer
  /** What was done to a good batch, in order, so that a finding can be understood without a debugger. */
  readonly changes: readonly string[]
}

const maxUnpackedBytes = 1 << 22

function oneOf<Item>(random: Random, items: readonly Item[]): Item {
  return items[random.below(items.length)]
}

/** A good batch, as a client might produce it around the time `wallMs`. */
export function randomBatch(random: Random, wallMs: number): Buffer {
  const builder = new BatchBuilder()
  for (let count = oneOf(random, [1, 1, 2, 3, 10, 100]); count > 0; count--) {
    const timestamp = oneOf<number | bigint>(random, [wallMs, wallMs, wallMs - random.below(100_000), -1, 0, 2n ** 60n])
    builder.append(timestamp, bytesOrNull(random), bytesOrNull(random), randomHeaders(random))
  }
  return Buffer.from(builder.finish(randomFields(random)))
}

/** A good batch with one to three changes, most of them behind a right CRC, so that they reach deep. */
export function fuzzBatch(random: Random, wallMs: number): FuzzedBatch {
  let bytes = randomBatch(random, wallMs)
  const changes: string[] = []
  for (let count = 1 + random.below(3); count > 0; count--) {
    const change = oneOf(random, changesOfBatches)
    changes.push(change.name)
    bytes = change(random, bytes)
  }
  if (bytes.length >= batchHeaderBytes && readBatchSize(bytes, 0) <= bytes.length && random.below(10) > 0) {
    if (readBatchSize(bytes, 0) >= batchHeaderBytes) updateCrc(bytes, 0)
  } else changes.push('keepWrongCrc')
  return { bytes, changes }
}

function randomFields(random: Random): BatchFields {
  const codec = oneOf(random, [0, 0, 0, 0, Codec.gzip, Codec.snappy, Codec.lz4, Codec.zstd])
  if (random.below(3) > 0) return { codec }
  return { codec, producerId: random.below(1000), producerEpoch: random.below(10), baseSequence: random.below(100) }
}

function bytesOrNull(random: Random): Buffer | null {
  const length = oneOf(random, [-1, 0, 1, 10, 63, 64, 200, 9000])
  if (length < 0) return null
  return random.below(4) === 0 ? random.bytes(length) : Buffer.alloc(length, random.below(256))
}

function randomHeaders(random: Random): RecordHeader[] {
  const headers: RecordHeader[] = []
  for (let count = oneOf(random, [0, 0, 0, 1, 2, 70]); count > 0; count--) {
    headers.push({
      key: oneOf(random, ['', 'h', 'trace-id', 'grüße-😀']),
      value: random.below(3) === 0 ? null : random.bytes(5),
    })
  }
  return headers
}

type Change = (random: Random, bytes: Buffer) => Buffer

const changesOfBatches: readonly Change[] = [
  changeByte,
  changeRecordByte,
  changeRecordByte,
  changeUnpackedByte,
  changeUnpackedByte,
  changeUnpackedLength,
  changeCount,
  changeHeaderInteger,
  changeAttributes,
  cutRecords,
  cutBytes,
  appendBytes,
  appendBatch,
  setVarintEverywhere,
]

function changeByte(random: Random, bytes: Buffer): Buffer {
  if (bytes.length > 0) bytes[random.below(bytes.length)] = oneOf(random, [0, 1, 0x7f, 0x80, 0xff, random.below(256)])
  return bytes
}

function changeRecordByte(random: Random, bytes: Buffer): Buffer {
  const room = bytes.length - batchHeaderBytes
  if (room > 0) bytes[batchHeaderBytes + random.below(Math.min(room, 200))] = random.below(256)
  return bytes
}

/** Changes what is inside of the compression. */
function changeUnpackedByte(random: Random, bytes: Buffer): Buffer {
  return changeUnpacked(bytes, records => {
    if (records.length > 0) records[random.below(Math.min(records.length, 100))] = random.below(256)
    return records
  })
}

function changeUnpackedLength(random: Random, bytes: Buffer): Buffer {
  const extra = random.bytes(random.below(20))
  const cut = random.below(20)
  return changeUnpacked(bytes, records =>
    random.below(2) === 0 ? Buffer.concat([records, extra]) : records.subarray(0, Math.max(0, records.length - cut)),
  )
}

function changeUnpacked(bytes: Buffer, change: (records: Buffer) => Buffer): Buffer {
  if (bytes.length < batchHeaderBytes || readCodec(bytes, 0) > Codec.zstd) return bytes
  const codec = readCodec(bytes, 0)
  const unpacked = decompressSync(codec, bytes.subarray(batchHeaderBytes), maxUnpackedBytes)
  if (unpacked.type !== 'done') return bytes
  const records = compressSync(codec, change(Buffer.from(unpacked.output)))
  return withRightLength(Buffer.concat([bytes.subarray(0, batchHeaderBytes), records]))
}

function changeCount(random: Random, bytes: Buffer): Buffer {
  if (bytes.length < batchHeaderBytes) return bytes
  const count = oneOf(random, [-1, 0, 1, 2, 1000, 2_147_483_647])
  bytes.writeInt32BE(count, 57)
  if (random.below(2) === 0) bytes.writeInt32BE((count - 1) | 0, 23)
  return bytes
}

function changeHeaderInteger(random: Random, bytes: Buffer): Buffer {
  if (bytes.length < batchHeaderBytes) return bytes
  const value = oneOf(random, [0, 1, -1, -2, 2_147_483_647, -2_147_483_648])
  bytes.writeInt32BE(value, oneOf(random, [0, 4, 8, 12, 23, 27, 31, 35, 39, 43, 47, 53, 57]))
  return bytes
}

function changeAttributes(random: Random, bytes: Buffer): Buffer {
  if (bytes.length >= batchHeaderBytes) bytes[22] ^= 1 << random.below(8)
  return bytes
}

function cutRecords(random: Random, bytes: Buffer): Buffer {
  if (bytes.length <= batchHeaderBytes) return bytes
  return withRightLength(bytes.subarray(0, batchHeaderBytes + random.below(bytes.length - batchHeaderBytes)))
}

function cutBytes(random: Random, bytes: Buffer): Buffer {
  return bytes.subarray(0, random.below(bytes.length + 1))
}

function appendBytes(random: Random, bytes: Buffer): Buffer {
  return Buffer.concat([bytes, random.bytes(random.below(80))])
}

function appendBatch(random: Random, bytes: Buffer): Buffer {
  return Buffer.concat([bytes, randomBatch(random, 0)])
}

/** A length of the largest or most negative kind, or one that never ends, somewhere among the records. */
function setVarintEverywhere(random: Random, bytes: Buffer): Buffer {
  const varint = Buffer.from(oneOf(random, ['feffffff0f', 'ffffffff0f', 'ffffffffff', '01', '8001']), 'hex')
  const room = bytes.length - batchHeaderBytes - varint.length
  if (room > 0) varint.copy(bytes, batchHeaderBytes + random.below(Math.min(room, 40)))
  return bytes
}

function withRightLength(bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes)
  copy.writeInt32BE(copy.length - 12, 8)
  return copy
}
