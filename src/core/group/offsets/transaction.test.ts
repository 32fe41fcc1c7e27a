import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ErrorCode } from '../../../base/error-code.ts'
import { zeroUuid } from '../../../base/uuid.ts'
import { BatchBuilder } from '../../../records/builder.ts'
import { GroupUnderTest, topicIdOfT } from '../group-under-test.ts'
import { groupRecords } from '../records.ts'

/** Offsets that a Kafka broker wrote for a transactional producer. */
function transactionalCommit(producerId: number, groupId: string, offsets: Record<number, number>): Buffer {
  const builder = new BatchBuilder()
  for (const [partition, committedOffset] of Object.entries(offsets)) {
    const value = {
      committedOffset,
      leaderEpoch: -1,
      metadata: '',
      commitTimestampMs: 1_700_000_000_000,
      expireTimestampMs: -1,
      topicId: topicIdOfT,
    }
    const { key, value: bytes } = groupRecords.encode({
      type: 'offsetCommit',
      groupId,
      topic: 't',
      partition: Number(partition),
      value,
    })
    builder.append(1_700_000_000_000n, key, bytes)
  }
  return Buffer.from(builder.finish({ producerId, producerEpoch: 0, baseSequence: 0, isTransactional: true }))
}

function marker(producerId: number, committed: boolean): Buffer {
  const builder = new BatchBuilder()
  builder.append(1n, Buffer.from([0, 0, 0, committed ? 1 : 0]), Buffer.from('000000000000', 'hex'))
  return Buffer.from(builder.finish({ producerId, producerEpoch: 0, isTransactional: true, isControl: true }))
}

/** A coordinator that is loaded from what a Kafka broker left. */
function loadedFrom(...batches: Buffer[]): GroupUnderTest {
  const group = new GroupUnderTest()
  group.runner.unload()
  for (const batch of batches) group.log.appendForeign(batch)
  group.load()
  group.commit()
  return group
}

const stable = [{ name: 't', topicId: zeroUuid, partitionIndexes: [0, 1] }]

test('offsets of a committed transaction count, those of an aborted one never did', () => {
  const group = loadedFrom(
    transactionalCommit(1, 'g', { 0: 5 }),
    transactionalCommit(2, 'g', { 1: 6 }),
    marker(1, true),
    marker(2, false),
  )
  assert.deepEqual(group.fetchedOffsets('g', [0, 1]), [5, -1])
})

test('G14: while a transaction is open its offsets are unstable for those who ask, and the old ones for others', () => {
  const group = loadedFrom(
    transactionalCommit(1, 'g', { 0: 5 }),
    marker(1, true),
    transactionalCommit(2, 'g', { 0: 9 }),
  )
  assert.deepEqual(group.fetchedOffsets('g', [0]), [5])
  assert.deepEqual(
    group
      .fetch('g', stable, { requireStable: true })[0]
      .partitions.map(({ committedOffset, errorCode }) => [committedOffset, errorCode]),
    [
      [-1, ErrorCode.unstableOffsetCommit],
      [-1, ErrorCode.none],
    ],
  )
  assert.equal(
    group.fetch('g', null, { requireStable: true })[0].partitions[0].errorCode,
    ErrorCode.unstableOffsetCommit,
  )
})

test('the later record wins over a marker that comes after it', () => {
  const group = loadedFrom(transactionalCommit(1, 'g', { 0: 5, 1: 5 }))
  group.offsetCommit('g', { 0: 7 })
  group.runner.unload()
  group.log.appendForeign(marker(1, true))
  group.load()
  group.commit()
  assert.deepEqual(group.fetchedOffsets('g', [0, 1]), [7, 5])
})

test('a tombstone removes what is pending too, and a group with an open transaction stays', () => {
  const group = loadedFrom(transactionalCommit(1, 'g', { 0: 5 }))
  assert.equal(group.describe('g').groupState, 'Empty')
  group.advance(30 * 24 * 3_600_000)
  assert.equal(group.describe('g').groupState, 'Empty')
  const requestId = group.submit({ type: 'deleteGroups', apiVersion: 2, groupIds: ['g'] })
  assert.deepEqual(group.replyTo(requestId), {
    type: 'deleteGroups',
    results: [{ groupId: 'g', errorCode: ErrorCode.none }],
  })
  assert.equal(group.lastRecords()[0].type, 'offsetCommit')
  group.runner.unload()
  group.log.appendForeign(marker(1, true))
  group.load()
  group.commit()
  assert.deepEqual(group.fetchedOffsets('g', [0]), [-1])
})
