import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeBatchHeader } from './batch-header.ts'
import { BatchBuilder, maxRecordSize } from './builder.ts'
import { hex } from './hex.ts'
import { type Record, RecordReader } from './record.ts'

function readAll(bytes: Buffer): Record[] {
  const reader = new RecordReader(bytes, 0, bytes.length)
  const records = [...reader]
  assert.equal(reader.isCorrupt, false)
  return records
}

test("builds Kafka's own batch to the byte", () => {
  const builder = new BatchBuilder()
  builder.append(1_700_000_000_000, Buffer.from('k1'), Buffer.from('v1'), [{ key: 'h', value: Buffer.from('x') }])
  builder.append(1_700_000_000_007n, null, null)
  assert.deepEqual(
    builder.finish({ producerId: 1000, producerEpoch: 5, baseSequence: 0 }),
    hex(`0000000000000000 00000047 ffffffff 02 c8853aa0 0000 00000001 0000018bcfe56800 0000018bcfe56807
      00000000000003e8 0005 00000000 00000002  1c 00 00 00 04 6b31 04 7631 02 02 68 02 78  0c 00 0e 02 01 01 00`),
  )
})

test('records are read as they were appended: nulls, empty values, repeated headers, any timestamps', () => {
  const given: Omit<Record, 'offset'>[] = [
    { timestamp: 5n, key: null, value: null, headers: [] },
    { timestamp: -1n, key: Buffer.alloc(0), value: Buffer.alloc(0), headers: [] },
    { timestamp: 2n ** 63n - 1n, key: Buffer.from('k'), value: Buffer.alloc(100_000, 7), headers: [] },
    { timestamp: -(2n ** 63n), key: Buffer.alloc(64), value: Buffer.alloc(8192), headers: [] },
    {
      timestamp: 1_700_000_000_123_456_789n,
      key: Buffer.from('k'),
      value: null,
      headers: [
        { key: 'a', value: null },
        { key: 'a', value: Buffer.from('é') },
        { key: '', value: Buffer.alloc(300) },
        { key: 'grüße-😀', value: Buffer.alloc(0) },
      ],
    },
  ]
  const builder = new BatchBuilder()
  for (const { timestamp, key, value, headers } of given) builder.append(timestamp, key, value, headers)
  const bytes = builder.finish({ baseOffset: 77 })
  assert.deepEqual(
    readAll(bytes),
    given.map((record, index) => ({ offset: 77 + index, ...record })),
  )
  assert.equal(decodeBatchHeader(bytes).maxTimestamp, 2n ** 63n - 1n)
})

test('every size around a longer length prefix is written right', () => {
  for (const size of [
    0, 40, 50, 51, 52, 53, 54, 55, 56, 57, 58, 60, 8170, 8180, 8181, 8182, 8183, 8184, 8190, 1_048_560,
  ]) {
    const builder = new BatchBuilder()
    const value = Buffer.alloc(size, 1)
    for (const timestamp of [0, 1_000_000, 3]) builder.append(timestamp, Buffer.from('key'), value)
    const records = readAll(builder.finish())
    assert.deepEqual(
      records.map(record => [record.offset, record.timestamp, record.value?.equals(value)]),
      [
        [0, 0n, true],
        [1, 1_000_000n, true],
        [2, 3n, true],
      ],
    )
  }
})

test('a record never takes more room than announced', () => {
  const builder = new BatchBuilder()
  const headers = [{ key: 'header', value: Buffer.alloc(9000) }]
  for (const timestamp of [0n, 2n ** 62n, -(2n ** 62n)]) {
    const before = builder.sizeBytes
    builder.append(timestamp, Buffer.alloc(9000), Buffer.alloc(9000), headers)
    assert.ok(builder.sizeBytes - before <= maxRecordSize(Buffer.alloc(9000), Buffer.alloc(9000), headers))
  }
})

test('a builder is used again after reset, without anything of the batch before', () => {
  const builder = new BatchBuilder()
  builder.append(9_000, Buffer.from('old'), Buffer.from('old'))
  builder.append(10_000, null, null)
  builder.reset()
  builder.append(-1, null, Buffer.from('new'))
  const bytes = builder.finish()
  assert.deepEqual(readAll(bytes), [{ offset: 0, timestamp: -1n, key: null, value: Buffer.from('new'), headers: [] }])
  assert.equal(decodeBatchHeader(bytes).maxTimestamp, -1n)
  assert.equal(decodeBatchHeader(bytes).recordCount, 1)
})

test('offsets may have gaps', () => {
  const builder = new BatchBuilder()
  builder.appendAt(3, 1, null, null)
  builder.appendAt(70_000, 1, null, null)
  const bytes = builder.finish({ baseOffset: 10 })
  assert.deepEqual(
    readAll(bytes).map(record => record.offset),
    [13, 70_010],
  )
  assert.equal(decodeBatchHeader(bytes).lastOffset, 70_010)
  assert.equal(decodeBatchHeader(bytes).recordCount, 2)
})

test('under LogAppendTime every record has the time of the batch', () => {
  const builder = new BatchBuilder()
  builder.append(5, null, null)
  builder.append(9, null, null)
  const bytes = builder.finish({ logAppendTime: 1234n })
  assert.deepEqual(
    readAll(bytes).map(record => record.timestamp),
    [1234n, 1234n],
  )
})
