/**
 * What the records layer costs on one core, in CPU-seconds per GB of uncompressed records and in nanoseconds per record:
 * `node bench/records.ts [seconds per row]`. The bars are those of the data path: 0.08, 0.01 and 0.001 for walking records
 * of 100 B, 1 KiB and 10 KiB, and 0.08 to 0.21 for unpacking lz4.
 */
import { batchHeaderBytes, computeCrc, readBatchSize } from '../src/records/batch.ts'
import { type BatchRules, BatchValidator } from '../src/records/batch-validator.ts'
import { BatchBuilder } from '../src/records/builder.ts'
import { columnsLength, RecordColumns } from '../src/records/compaction/record-columns.ts'
import { Codec, codecName } from '../src/records/compression/codec.ts'
import { compressSync } from '../src/records/compression/compress.ts'
import { blockReader, decompressSync } from '../src/records/compression/decompress.ts'
import { RecordReader } from '../src/records/record.ts'
import { RecordWalk } from '../src/records/record-walk.ts'
import { SeededRandom } from '../src/records/seeded-random.ts'

const seconds = Number(process.argv[2] ?? 0.5)
const wallMs = 1_700_000_000_000
const rules: BatchRules = {
  maxMessageBytes: 2 ** 31,
  isCompacted: false,
  timestampType: 'CreateTime',
  maxDecompressedMessageBytes: 2_147_483_639,
  timestampBeforeMaxMs: 2 ** 63,
  timestampAfterMaxMs: 3_600_000,
  compressionType: 'producer',
}

/** Events as JSON, which pack to about a quarter. */
function event(random: SeededRandom, length: number): Buffer {
  let text = ''
  while (text.length < length) {
    const amount = random.below(100_000) / 100
    text += `{"id":${random.below(2 ** 31)},"user":"user-${random.below(5000)}","type":"order.created","amount":${amount},"currency":"EUR"},`
  }
  return Buffer.from(text.slice(0, length))
}

function filledBuilder(recordBytes: number, batchBytes: number): BatchBuilder {
  const random = new SeededRandom(recordBytes)
  const builder = new BatchBuilder(batchBytes + 4096)
  while (builder.sizeBytes < batchBytes) builder.append(wallMs + builder.recordCount, null, event(random, recordBytes))
  return builder
}

function measure(name: string, work: { bytes: number; records: number }, run: () => void): void {
  for (let round = 0; round < 50; round++) run()
  let best = Number.POSITIVE_INFINITY
  for (let attempt = 0; attempt < 5; attempt++) {
    let rounds = 0
    const start = process.cpuUsage()
    let used = 0
    for (; used < (seconds * 1e6) / 5; used = sum(process.cpuUsage(start))) {
      run()
      rounds++
    }
    best = Math.min(best, used / rounds)
  }
  const perGb = (best / 1e6 / work.bytes) * 1e9
  const perRecord = (best * 1000) / work.records
  console.log(`${name.padEnd(44)} ${perGb.toFixed(4).padStart(9)} ${perRecord.toFixed(1).padStart(10)}`)
}

function sum({ user, system }: NodeJS.CpuUsage): number {
  return user + system
}

function measureUncompressed(recordBytes: number): void {
  const builder = filledBuilder(recordBytes, 1_000_000)
  const bytes = Buffer.from(builder.finish())
  const work = { bytes: bytes.length, records: builder.recordCount }
  const walk = new RecordWalk()
  const recordRules = {
    recordCount: work.records,
    baseTimestamp: BigInt(wallMs),
    appendTime: undefined,
    requiresKey: false,
    maxRecordBytes: Number.POSITIVE_INFINITY,
    timestampBounds: { earliest: 0n, latest: BigInt(2 * wallMs) },
  }
  const validator = new BatchValidator({ maxUncompressedBytes: 2 ** 27, checksCompressed: true })
  const size = `${recordBytes} B`
  measure(`${size}, walk`, work, () => {
    walk.start(recordRules)
    walk.feed(bytes, batchHeaderBytes, bytes.length)
  })
  const columns = new RecordColumns()
  measure(`${size}, columns, as compaction`, work, () => {
    let at = batchHeaderBytes
    for (let left = work.records; left > 0; left -= columnsLength) {
      at = columns.read(bytes, at, bytes.length, Math.min(left, columnsLength))
    }
  })
  measure(`${size}, CRC`, work, () => computeCrc(bytes, 0, readBatchSize(bytes, 0)))
  measure(`${size}, validate`, work, () => validator.validate(bytes, rules, wallMs))
  const values = Array.from({ length: work.records }, () => event(new SeededRandom(1), recordBytes))
  measure(`${size}, build`, work, () => {
    builder.reset()
    for (let index = 0; index < values.length; index++) builder.append(wallMs + index, null, values[index])
  })
  measure(`${size}, read as objects`, work, () => {
    const reader = new RecordReader(bytes, 0, bytes.length)
    while (reader.next() !== undefined);
  })
}

function measureCompressed(codec: number, batchBytes: number): void {
  const builder = filledBuilder(1024, batchBytes)
  const bytes = builder.finish({ codec })
  const work = { bytes: builder.sizeBytes, records: builder.recordCount }
  const validator = new BatchValidator({ maxUncompressedBytes: 2 ** 27, checksCompressed: true })
  const packed = bytes.subarray(batchHeaderBytes)
  const size = `${codecName(codec)}, batch of ${batchBytes} B`
  measure(`${size}, unpack`, work, () => {
    const reader = blockReader(codec, packed)
    if (reader === undefined) decompressSync(codec, packed, 2 ** 27)
    else while (reader.next(2 ** 27) !== undefined);
  })
  measure(`${size}, validate`, work, () => validator.validate(bytes, rules, wallMs))
  measure(`${size}, pack`, work, () => compressSync(codec, builder.records))
}

console.log(`${'best of five'.padEnd(44)} ${'CPU-s/GB'.padStart(9)} ${'ns/record'.padStart(10)}`)
for (const recordBytes of [100, 1024, 10_240]) measureUncompressed(recordBytes)
for (const codec of [Codec.lz4, Codec.snappy, Codec.zstd, Codec.gzip]) {
  for (const batchBytes of [16_384, 65_536, 1_000_000]) measureCompressed(codec, batchBytes)
}
