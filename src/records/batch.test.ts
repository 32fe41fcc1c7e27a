import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as batch from './batch.ts'
import { batchSpans, decodeBatchHeader } from './batch-header.ts'
import { hex } from './hex.ts'

const produced = hex(`0000000000000000 00000047 ffffffff 02 c8853aa0 0000 00000001 0000018bcfe56800 0000018bcfe56807
  00000000000003e8 0005 00000000 00000002  1c 00 00 00 04 6b31 04 7631 02 02 68 02 78  0c 00 0e 02 01 01 00`)
const commit = hex(`000000000000002a 00000042 00000003 02 b40e8663 0030 00000000 0000018bcfe56800 0000018bcfe56800
  00000000000003e8 0005 ffffffff 00000001 20 00 00 00 08 00000001 0c 000000000009 00`)

test("the fields of Kafka's own batch are read where they lie", () => {
  assert.deepEqual(decodeBatchHeader(produced), {
    baseOffset: 0,
    lastOffset: 1,
    lastOffsetDelta: 1,
    sizeBytes: produced.length,
    partitionLeaderEpoch: -1,
    magic: 2,
    crc: 0xc8853aa0,
    codec: 0,
    timestampType: 'CreateTime',
    isTransactional: false,
    isControl: false,
    deleteHorizon: undefined,
    baseTimestamp: 1_700_000_000_000n,
    maxTimestamp: 1_700_000_000_007n,
    producerId: 1000,
    producerEpoch: 5,
    baseSequence: 0,
    lastSequence: 1,
    recordCount: 2,
  })
})

test('a commit marker is a transactional control batch without a sequence', () => {
  const header = decodeBatchHeader(commit)
  assert.equal(header.baseOffset, 42)
  assert.equal(header.partitionLeaderEpoch, 3)
  assert.equal(header.isTransactional, true)
  assert.equal(header.isControl, true)
  assert.equal(header.lastSequence, -1)
})

test("the CRC of Kafka's batches is right and notices one flipped bit anywhere behind it", () => {
  for (const bytes of [produced, commit]) {
    assert.equal(batch.isCrcValid(bytes, 0, bytes.length), true)
    for (let at = batch.attributesPosition; at < bytes.length; at++) {
      const copy = Buffer.from(bytes)
      copy[at] ^= 1
      assert.equal(batch.isCrcValid(copy, 0, copy.length), false)
    }
  }
})

test('base offset and leader epoch change without touching the CRC, also where the batch is not at the start', () => {
  const bytes = Buffer.concat([Buffer.alloc(7), produced])
  batch.setBaseOffset(bytes, 7, 2 ** 40 + 5)
  batch.setPartitionLeaderEpoch(bytes, 7, 12)
  assert.equal(batch.readBaseOffset(bytes, 7), 2 ** 40 + 5)
  assert.equal(batch.readLastOffset(bytes, 7), 2 ** 40 + 6)
  assert.equal(batch.readPartitionLeaderEpoch(bytes, 7), 12)
  assert.equal(batch.isCrcValid(bytes, 7, produced.length), true)
})

test('a new timestamp type or maximum comes with a new CRC', () => {
  const bytes = Buffer.from(produced)
  batch.setMaxTimestampAndType(bytes, 0, { maxTimestamp: 1_800_000_000_000n, timestampType: 'LogAppendTime' })
  assert.equal(batch.readTimestampType(bytes, 0), 'LogAppendTime')
  assert.equal(batch.readMaxTimestamp(bytes, 0), 1_800_000_000_000n)
  assert.equal(batch.isCrcValid(bytes, 0, bytes.length), true)
  batch.setMaxTimestampAndType(bytes, 0, { maxTimestamp: 1_800_000_000_000n, timestampType: 'CreateTime' })
  assert.equal(batch.readTimestampType(bytes, 0), 'CreateTime')
  assert.equal(batch.isCrcValid(bytes, 0, bytes.length), true)
  batch.setMaxTimestampAndType(bytes, 0, { maxTimestamp: 1_700_000_000_007n, timestampType: 'CreateTime' })
  assert.deepEqual(bytes, produced)
})

test('an offset beyond 2^53 is infinite, never rounded', () => {
  const bytes = Buffer.from(produced)
  bytes.writeBigInt64BE(2n ** 53n + 1n, 0)
  assert.equal(batch.readBaseOffset(bytes, 0), Number.POSITIVE_INFINITY)
  assert.equal(batch.readLastOffset(bytes, 0), Number.POSITIVE_INFINITY)
  bytes.writeBigInt64BE(-(2n ** 60n), 0)
  assert.equal(batch.readBaseOffset(bytes, 0), Number.NEGATIVE_INFINITY)
  bytes.writeBigInt64BE(2n ** 53n - 1n, 0)
  assert.equal(batch.readBaseOffset(bytes, 0), Number.MAX_SAFE_INTEGER)
  assert.equal(batch.readLastOffset(bytes, 0), Number.POSITIVE_INFINITY)
})

test('sequences go on at 0 after 2^31 - 1', () => {
  assert.equal(batch.addToSequence(2_147_483_647, 0), 2_147_483_647)
  assert.equal(batch.addToSequence(2_147_483_647, 1), 0)
  assert.equal(batch.addToSequence(2_147_483_640, 10), 2)
  assert.equal(batch.addToSequence(-1, 5), -1)
})

test('a set delete horizon is what the base timestamp says', () => {
  const bytes = Buffer.from(produced)
  assert.equal(batch.readDeleteHorizon(bytes, 0), undefined)
  bytes[22] |= 0x40
  assert.equal(batch.readDeleteHorizon(bytes, 0), 1_700_000_000_000n)
})

test('a run of batches ends at a truncated tail of any length', () => {
  for (let cut = 0; cut < commit.length; cut++) {
    const bytes = Buffer.concat([produced, commit, commit.subarray(0, cut)])
    assert.deepEqual(
      [...batchSpans(bytes)],
      [
        { at: 0, sizeBytes: produced.length },
        { at: produced.length, sizeBytes: commit.length },
      ],
    )
    assert.equal(batch.batchSizeAt(bytes, produced.length + commit.length), batch.truncated)
  }
})

test('nothing behind the given end is looked at', () => {
  const bytes = Buffer.concat([produced, Buffer.alloc(100, 0xff)])
  for (let end = 0; end < produced.length; end++) assert.equal(batch.batchSizeAt(bytes, 0, end), batch.truncated)
  assert.equal(batch.batchSizeAt(bytes, 0, produced.length), produced.length)
  bytes.fill(0xff, 16)
  assert.equal(batch.batchSizeAt(bytes, 0, 16), batch.truncated)
  assert.equal(batch.batchSizeAt(bytes, 0, 17), batch.corrupt)
})

test('bytes that cannot be a batch are told from a truncated one', () => {
  const wrong: [name: string, change: (bytes: Buffer) => void][] = [
    ['a length below the smallest entry', bytes => bytes.writeInt32BE(13, 8)],
    ['a negative length', bytes => bytes.writeInt32BE(-1, 8)],
    ['an unknown magic', bytes => bytes.writeInt8(3, 16)],
    ['a negative magic', bytes => bytes.writeInt8(-1, 16)],
    ['a batch shorter than its header', bytes => bytes.writeInt32BE(48, 8)],
  ]
  for (const [name, change] of wrong) {
    const bytes = Buffer.from(produced)
    change(bytes)
    assert.equal(batch.batchSizeAt(bytes, 0), batch.corrupt, name)
  }
  const long = Buffer.from(produced)
  long.writeInt32BE(0x7fffffff, 8)
  assert.equal(batch.batchSizeAt(long, 0), batch.truncated)
})
