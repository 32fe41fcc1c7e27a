import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ErrorCode } from '../base/error-code.ts'
import { checkBatchRun } from './batch-run.ts'
import { BatchBuilder } from './builder.ts'

function batchAt(baseOffset: number, partitionLeaderEpoch = 4, count = 2): Buffer {
  const builder = new BatchBuilder()
  for (let index = 0; index < count; index++) builder.append(1000 + baseOffset + index, null, Buffer.from('value'))
  return builder.finish({ baseOffset, partitionLeaderEpoch })
}

const expected = { nextOffset: 10, maxLeaderEpoch: 5 }

test('a run of batches is summed up, without its truncated tail', () => {
  const bytes = Buffer.concat([batchAt(10), batchAt(12, 5, 3), batchAt(20, 5).subarray(0, 40)])
  assert.deepEqual(checkBatchRun(bytes, expected), {
    type: 'run',
    sizeBytes: bytes.length - 40,
    batchCount: 2,
    baseOffset: 10,
    lastOffset: 14,
    firstLeaderEpoch: 4,
    lastLeaderEpoch: 5,
    maxTimestamp: 1014n,
  })
})

test('offsets may have gaps, as compaction leaves them, but not go back', () => {
  assert.equal(checkBatchRun(Buffer.concat([batchAt(15), batchAt(30)]), expected).type, 'run')
  for (const bytes of [
    Buffer.concat([batchAt(10), batchAt(11)]),
    batchAt(9),
    Buffer.concat([batchAt(12), batchAt(10)]),
  ]) {
    const result = checkBatchRun(bytes, expected)
    assert.equal(result.type === 'broken' && result.errorCode, ErrorCode.invalidRecord)
  }
})

test('a batch of a newer epoch ends the run where offsets before it are left out', () => {
  const [before, behind, newer] = [batchAt(10), batchAt(15), batchAt(20, 5)]
  const run = checkBatchRun(Buffer.concat([before, behind, newer]), expected)
  assert.ok(run.type === 'run')
  assert.deepEqual([run.sizeBytes, run.lastOffset, run.lastLeaderEpoch], [before.length + behind.length, 16, 4])
  const alone = checkBatchRun(newer, expected)
  assert.ok(alone.type === 'run')
  assert.deepEqual([alone.batchCount, alone.firstLeaderEpoch], [1, 5], 'the first batch is taken')
})

test('a negative or endless offset is broken', () => {
  for (const offset of [-1n, 2n ** 63n - 1n, 2n ** 60n]) {
    const bytes = Buffer.from(batchAt(10))
    bytes.writeBigInt64BE(offset, 0)
    assert.equal(checkBatchRun(bytes, expected).type, 'broken')
  }
})

test('one flipped bit anywhere in the second batch makes the whole run broken, and names the batch', () => {
  const good = Buffer.concat([batchAt(10), batchAt(12)])
  const second = batchAt(10).length
  for (let at = second + 21; at < good.length; at++) {
    const bytes = Buffer.from(good)
    bytes[at] ^= 0x10
    assert.deepEqual(checkBatchRun(bytes, expected), {
      type: 'broken',
      errorCode: ErrorCode.corruptMessage,
      reason: 'the CRC of the batch is wrong',
      position: second,
    })
  }
})

test('a batch of a later leader epoch ends the run before it', () => {
  const result = checkBatchRun(Buffer.concat([batchAt(10, 5), batchAt(12, 6)]), expected)
  assert.deepEqual([result.type === 'run' && result.batchCount, result.type === 'run' && result.lastOffset], [1, 11])
  const none = checkBatchRun(batchAt(10, 6), expected)
  assert.deepEqual(none, {
    type: 'run',
    sizeBytes: 0,
    batchCount: 0,
    baseOffset: -1,
    lastOffset: -1,
    firstLeaderEpoch: -1,
    lastLeaderEpoch: -1,
    maxTimestamp: -1n,
  })
})
