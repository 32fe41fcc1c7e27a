import assert from 'node:assert/strict'
import { test } from 'node:test'
import { crc32 } from 'node:zlib'
import { setBaseOffset } from '../../records/batch.ts'
import { BatchBuilder, type BatchFields } from '../../records/builder.ts'
import { buildControlBatch, buildMarkerBatch, ControlType } from '../../records/control.ts'
import { sampleBatch } from '../fixtures/sample-batch.ts'
import { type AbortedTransaction, type ChunkFault, FetchedChunk } from './fetched-chunk.ts'

function markerAt(offset: number, producerId: number, isCommit: boolean): Buffer {
  const marker = buildMarkerBatch({ isCommit, coordinatorEpoch: 0 }, 0, { producerId, producerEpoch: 0 })
  setBaseOffset(marker, 0, offset)
  return marker
}

const transactional = (producerId: number): BatchFields => ({
  isTransactional: true,
  producerId,
  producerEpoch: 0,
  baseSequence: 0,
})

function chunkOf(batches: readonly Buffer[], abortedTransactions?: readonly AbortedTransaction[]): FetchedChunk {
  const bytes = Buffer.concat(batches)
  const chunk = FetchedChunk.scan({ bytes, abortedTransactions, checksCrcs: true, maxUncompressedBytes: 1 << 20 })
  assert.ok(chunk instanceof FetchedChunk, JSON.stringify(chunk))
  return chunk
}

function taken(chunk: FetchedChunk, fromOffset = 0, maxRecords = 1000): number[] {
  const records = chunk.take(fromOffset, maxRecords)
  assert.ok(Array.isArray(records))
  for (const { offset, value, timestamp } of records) {
    assert.equal(value?.toString(), `${offset}`)
    assert.equal(timestamp, BigInt(1000 + offset))
  }
  return records.map(({ offset }) => offset)
}

test('records come in order, from the offset asked for, as many as asked for', () => {
  const chunk = chunkOf([sampleBatch([0, 1, 2]), sampleBatch([3, 4])])
  assert.deepEqual([chunk.nextOffset, chunk.lastLeaderEpoch], [5, 3])
  assert.deepEqual(taken(chunk, 1, 1), [1])
  assert.deepEqual([chunk.position, chunk.isExhausted], [2, false])
  assert.deepEqual(taken(chunk, 2, 2), [2, 3])
  assert.deepEqual(taken(chunk, 4), [4])
  assert.deepEqual([chunk.position, chunk.isExhausted], [5, true])
})

test('gaps that compaction left are passed over, also at the end of a batch', () => {
  const chunk = chunkOf([sampleBatch([2, 5], {}, 10), sampleBatch([12])])
  assert.equal(chunk.nextOffset, 13)
  assert.deepEqual(taken(chunk, 7), [12])
  const tail = chunkOf([sampleBatch([2, 5], {}, 10)])
  assert.deepEqual(taken(tail, 7), [], 'the batch has nothing from 7 on')
  assert.deepEqual([tail.position, tail.isExhausted], [10, true])
})

test('control records are for nobody, but are passed', () => {
  const control = buildControlBatch([{ type: ControlType.leaderChange, value: Buffer.alloc(4) }], 0, { baseOffset: 2 })
  const chunk = chunkOf([sampleBatch([0, 1]), control, sampleBatch([3])])
  assert.deepEqual(taken(chunk), [0, 1, 3])
})

test('a reader of everything gets records of aborted transactions', () => {
  assert.deepEqual(taken(chunkOf([sampleBatch([0, 1], transactional(7)), markerAt(2, 7, false)])), [0, 1])
})

test('a reader of committed records gets none of aborted transactions, whatever lies between', () => {
  const batches = [
    sampleBatch([0, 1], transactional(7)),
    sampleBatch([2, 3], transactional(8)),
    sampleBatch([4]),
    sampleBatch([5], { producerId: 7, producerEpoch: 0, baseSequence: 9 }),
    markerAt(6, 8, true),
    sampleBatch([7], transactional(7)),
    markerAt(8, 7, false),
    sampleBatch([9], transactional(7)),
    markerAt(10, 7, true),
  ]
  // In any order: the chunk sorts them.
  const chunk = chunkOf(batches, [
    { producerId: 9, firstOffset: 50 },
    { producerId: 7, firstOffset: 0 },
  ])
  assert.deepEqual(taken(chunk), [2, 3, 4, 5, 9])
  assert.equal(chunk.position, 11)
})

test('a transaction that was aborted after its first batches were fetched is hidden from where it begins', () => {
  const chunk = chunkOf(
    [sampleBatch([0], transactional(7)), sampleBatch([1], transactional(7)), markerAt(2, 7, false)],
    [{ producerId: 7, firstOffset: 1 }],
  )
  assert.deepEqual(taken(chunk), [0])
})

test('two transactions of one producer: the second aborted one is hidden again', () => {
  const chunk = chunkOf(
    [
      sampleBatch([0], transactional(7)),
      markerAt(1, 7, false),
      sampleBatch([2], transactional(7)),
      markerAt(3, 7, true),
      sampleBatch([4], transactional(7)),
      markerAt(5, 7, false),
    ],
    [
      { producerId: 7, firstOffset: 4 },
      { producerId: 7, firstOffset: 0 },
    ],
  )
  assert.deepEqual(taken(chunk), [2])
})

test('a batch that is cut off at the end is left for the next fetch', () => {
  const whole = sampleBatch([0, 1])
  const chunk = chunkOf([whole, sampleBatch([2, 3]).subarray(0, 70)])
  assert.equal(chunk.nextOffset, 2)
  assert.deepEqual(taken(chunk), [0, 1])
  const options = { abortedTransactions: undefined, checksCrcs: true, maxUncompressedBytes: 1 }
  assert.equal(FetchedChunk.scan({ ...options, bytes: whole.subarray(0, 50) }), undefined)
})

test('what cannot be is found before anything is handed out', () => {
  const options = { abortedTransactions: undefined, maxUncompressedBytes: 1 << 20 }
  const flipped = sampleBatch([4, 5])
  flipped[65] ^= 1
  const badCrc = FetchedChunk.scan({ ...options, checksCrcs: true, bytes: flipped })
  assert.deepEqual(badCrc, { type: 'fault', offset: 4, reason: 'the CRC of the batch is wrong' })
  const noBatch = FetchedChunk.scan({ ...options, checksCrcs: true, bytes: Buffer.alloc(80, 0xff) })
  assert.equal((noBatch as ChunkFault).reason, 'the bytes are no record batch')
})

test('what is good in front of something bad is handed out first', () => {
  const flipped = sampleBatch([4, 5])
  flipped[65] ^= 1
  for (const bad of [flipped, sampleBatch([0]), Buffer.alloc(80, 0xff)]) {
    const chunk = chunkOf([sampleBatch([0, 1]), bad])
    assert.equal(chunk.nextOffset, 2)
    assert.deepEqual(taken(chunk), [0, 1])
  }
})

test('records that are malformed inside of a good batch are found when they are read', () => {
  const bytes = sampleBatch([0, 1, 2])
  bytes.writeInt32BE(9, 57)
  const chunk = FetchedChunk.scan({ bytes, abortedTransactions: undefined, checksCrcs: false, maxUncompressedBytes: 9 })
  assert.ok(chunk instanceof FetchedChunk)
  assert.deepEqual(taken(chunk), [0, 1, 2], 'those in front of the fault')
  for (let again = 0; again < 2; again++) {
    assert.equal((chunk.take(0, 100) as ChunkFault).reason, 'the records of the batch are malformed')
    assert.equal(chunk.isExhausted, false)
  }
})

for (const [name, codec] of [
  ['gzip', 1],
  ['snappy', 2],
  ['lz4', 3],
  ['zstd', 4],
] as const) {
  test(`batches packed with ${name} are unpacked, to a bound`, () => {
    const batches = [sampleBatch([0, 1], { codec }), sampleBatch([2, 3], { codec })]
    assert.deepEqual(taken(chunkOf(batches), 1), [1, 2, 3])
    const bytes = Buffer.concat(batches)
    const small = FetchedChunk.scan({
      bytes,
      abortedTransactions: undefined,
      checksCrcs: true,
      maxUncompressedBytes: 4,
    })
    const fault = (small as FetchedChunk).take(0, 10)
    assert.match((fault as ChunkFault).reason, /maxUncompressedBytes/)
  })
}

test('large batches of slow codecs are named, and what was unpacked elsewhere is used', () => {
  const builder = new BatchBuilder()
  // Random bytes: they stay large when packed.
  for (let i = 0; i < 40; i++)
    builder.append(0, null, Buffer.from(Array.from({ length: 999 }, (_, j) => (i * j * 31) & 255)))
  const records = Buffer.from(builder.records)
  const packed = Buffer.alloc(20_000, 1)
  const chunk = chunkOf([sampleBatch([0]), builder.finishCompressed(packed, { codec: 1, baseOffset: 1 })])
  const [slow, ...others] = chunk.slowBatches()
  assert.deepEqual([slow.codec, slow.packed.length, others.length], [1, 20_000, 0])
  chunk.unpack(slow.at, records)
  const all = chunk.take(0, 100)
  assert.ok(Array.isArray(all))
  assert.equal(all.length, 41)
})

test('entries of the old formats are read', () => {
  // Magic 1 at offset 3: key "k", value "v", timestamp 9.
  const entry = Buffer.alloc(36)
  entry.writeBigInt64BE(3n, 0)
  entry.writeInt32BE(24, 8)
  entry[16] = 1
  entry.writeBigInt64BE(9n, 18)
  entry.writeInt32BE(1, 26)
  entry.write('k', 30)
  entry.writeInt32BE(1, 31)
  entry.write('v', 35)
  entry.writeUInt32BE(crc32(entry.subarray(16)), 12)
  const records = chunkOf([entry]).take(0, 10)
  assert.ok(Array.isArray(records))
  assert.deepEqual(
    records.map(({ offset, timestamp, value }) => [offset, timestamp, value?.toString()]),
    [[3, 9n, 'v']],
  )
})
