import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BatchBuilder } from './builder.ts'
import { findByTimestamp, findMaxTimestamp } from './search.ts'

function batchOf(timestamps: number[], codec: number): Buffer {
  const builder = new BatchBuilder()
  for (const timestamp of timestamps) builder.append(timestamp, null, Buffer.from('value'))
  return Buffer.concat([Buffer.alloc(9), builder.finish({ baseOffset: 100, codec })])
}

const at = 9
const maxBytes = 10_000

test('the first record at or after a time is found, whatever the codec and the order of times', () => {
  for (const codec of [0, 1, 2, 3, 4]) {
    const bytes = batchOf([50, 20, 60, 40], codec)
    const find = (timestamp: bigint, startOffset = 0) =>
      findByTimestamp(bytes, at, { timestamp, startOffset, maxBytes })
    assert.deepEqual(find(0n), { type: 'found', offset: 100, timestamp: 50n })
    assert.deepEqual(find(60n), { type: 'found', offset: 102, timestamp: 60n })
    assert.deepEqual(find(10n, 101), { type: 'found', offset: 101, timestamp: 20n })
    assert.equal(find(61n), undefined)
    assert.equal(find(0n, 104), undefined)
  }
})

test('the earliest record with the largest time is found', () => {
  assert.deepEqual(findMaxTimestamp(batchOf([50, 70, 70, 40], 4), at, maxBytes), {
    type: 'found',
    offset: 101,
    timestamp: 70n,
  })
  assert.deepEqual(findMaxTimestamp(batchOf([-1, -1], 0), at, maxBytes), { type: 'found', offset: 100, timestamp: -1n })
})

test('a batch that cannot be read says so', () => {
  const corrupt = batchOf([1, 2], 3)
  corrupt.fill(0xff, at + 61)
  assert.equal(findMaxTimestamp(corrupt, at, maxBytes)?.type, 'corrupt')
  assert.equal(findByTimestamp(batchOf([1], 3), at, { timestamp: 5n, startOffset: 0, maxBytes: 3 })?.type, 'tooLarge')
  const cut = batchOf([1, 2], 0)
  cut.writeInt32BE(3, at + 57)
  assert.equal(findMaxTimestamp(cut, at, maxBytes)?.type, 'corrupt')
})
