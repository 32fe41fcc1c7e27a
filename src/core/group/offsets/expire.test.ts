import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ErrorCode } from '../../../base/error-code.ts'
import { GroupUnderTest, subscriptionTo } from '../group-under-test.ts'

const retentionMs = 3_600_000
const checkMs = 60_000
const setUp = () => new GroupUnderTest({ offsetsRetentionMs: retentionMs, offsetsRetentionCheckIntervalMs: checkMs })
/** Sessions that outlast the test. */
const long = { sessionTimeoutMs: 1_800_000, rebalanceTimeoutMs: 1_800_000 }

function keepAlive(group: GroupUnderTest, generationId: number, memberId: string, ms: number): void {
  for (let rest = ms; rest > 0; rest -= 600_000) {
    group.heartbeat('g', generationId, memberId)
    group.advance(Math.min(rest, 600_000))
  }
}

test('without membership an offset expires by its own commit, and the group with its last', () => {
  const group = setUp()
  group.offsetCommit('g', { 0: 5 })
  group.advance(retentionMs / 2)
  group.offsetCommit('g', { 1: 6 })
  group.advance(retentionMs / 2 - 1)
  assert.deepEqual(group.fetchedOffsets('g', [0, 1]), [5, 6])
  group.advance(checkMs + 1)
  assert.deepEqual(group.fetchedOffsets('g', [0, 1]), [-1, 6])
  group.advance(retentionMs / 2)
  assert.equal(group.describe('g').errorCode, ErrorCode.groupIdNotFound)
  assert.deepEqual(
    group.effects.map(effect => effect.type === 'offsetsExpired' && effect.count),
    [1, 1],
  )
})

test('a commit that named its own retention expires by that', () => {
  const group = setUp()
  group.offsetCommit('g', { 0: 5 }, { retentionTimeMs: 10 * checkMs }, 2)
  group.offsetCommit('g', { 1: 5 }, { retentionTimeMs: 3 * retentionMs }, 2)
  group.advance(11 * checkMs)
  assert.deepEqual(group.fetchedOffsets('g', [0, 1]), [-1, 5])
  group.advance(2 * retentionMs)
  assert.deepEqual(group.fetchedOffsets('g', [1]), [5])
})

test('a commit may name a retention without an end', () => {
  const group = setUp()
  const endless = [Number.MAX_SAFE_INTEGER, Number.POSITIVE_INFINITY]
  for (const [partition, retentionTimeMs] of endless.entries()) {
    group.offsetCommit('g', { [partition]: 5 }, { retentionTimeMs }, 2)
  }
  group.offsetCommit('g', { 2: 5 }, { retentionTimeMs: Number.NEGATIVE_INFINITY }, 2)
  group.reload()
  group.advance(3 * retentionMs)
  assert.deepEqual(group.fetchedOffsets('g', [0, 1, 2]), [5, 5, -1])
})

test('in an empty group all offsets expire when it has been empty for long enough, and it goes with them', () => {
  const group = setUp()
  const [leader] = group.stableGroup('g', 1, long)
  group.offsetCommit('g', { 0: 5 }, { generationIdOrMemberEpoch: 1, memberId: leader })
  keepAlive(group, 1, leader, 2 * retentionMs)
  assert.deepEqual(group.fetchedOffsets('g', [0]), [5], 'a member reads the topic')
  group.leave('g', [{ memberId: leader }])
  group.advance(retentionMs - 1)
  assert.deepEqual(group.fetchedOffsets('g', [0]), [5])
  group.advance(checkMs + 1)
  assert.deepEqual(group.fetchedOffsets('g', [0]), [-1])
  assert.deepEqual(
    group.lastRecords().map(({ type, value }) => [type, value]),
    [
      ['offsetCommit', undefined],
      ['groupMetadata', undefined],
    ],
  )
  assert.equal(group.describe('g').errorCode, ErrorCode.groupIdNotFound)
})

test('how long a group has been empty is known after a reload', () => {
  const group = setUp()
  const [leader] = group.stableGroup('g', 1, long)
  group.offsetCommit('g', { 0: 5 }, { generationIdOrMemberEpoch: 1, memberId: leader })
  group.leave('g', [{ memberId: leader }])
  group.advance(retentionMs - checkMs)
  group.reload()
  group.advance(checkMs - 1)
  assert.deepEqual(group.fetchedOffsets('g', [0]), [5])
  group.advance(checkMs + 1)
  assert.deepEqual(group.fetchedOffsets('g', [0]), [-1])
})

test('a stable group of consumers loses offsets of topics that nobody in it reads', () => {
  const group = setUp()
  const [leader] = group.stableGroup('g', 1, { ...long, protocols: [{ name: 'range', metadata: subscriptionTo('u') }] })
  group.offsetCommit('g', { 0: 5 }, { generationIdOrMemberEpoch: 1, memberId: leader })
  keepAlive(group, 1, leader, retentionMs + checkMs)
  assert.deepEqual(group.fetchedOffsets('g', [0]), [-1])
  assert.equal(group.describe('g').groupState, 'Stable')
})

test('G05: nothing expires while the group rebalances, nor where it is not known what members read', () => {
  for (const fields of [
    { ...long, protocols: [{ name: 'range', metadata: Buffer.from('?') }] },
    { ...long, protocolType: 'connect' },
  ]) {
    const group = setUp()
    const [leader] = group.stableGroup('g', 1, fields)
    group.offsetCommit('g', { 0: 5 }, { generationIdOrMemberEpoch: 1, memberId: leader })
    keepAlive(group, 1, leader, retentionMs + checkMs)
    assert.deepEqual(group.fetchedOffsets('g', [0]), [5])
  }
  const group = setUp()
  const [leader] = group.stableGroup('g', 1, { ...long, protocols: [{ name: 'range', metadata: subscriptionTo('u') }] })
  group.offsetCommit('g', { 0: 5 }, { generationIdOrMemberEpoch: 1, memberId: leader })
  keepAlive(group, 1, leader, retentionMs - checkMs)
  group.join('g', group.newMemberId('g', long), long)
  keepAlive(group, 1, leader, 3 * checkMs)
  assert.equal(group.describe('g').groupState, 'PreparingRebalance')
  assert.deepEqual(group.fetchedOffsets('g', [0]), [5])
})

test('an empty group without offsets goes at the next round, but not while an id that it gave out is awaited', () => {
  const group = setUp()
  const memberId = group.newMemberId('g', { sessionTimeoutMs: 90_000 })
  group.advance(checkMs)
  assert.equal(group.describe('g').groupState, 'Empty')
  assert.equal(group.join('g', memberId, { sessionTimeoutMs: 90_000 }).isAnswered, false)
  group.leave('g', [{ memberId }])
  group.advance(checkMs)
  assert.equal(group.describe('g').errorCode, ErrorCode.groupIdNotFound)
  assert.deepEqual(group.replayed(), group.coordinator.inspect().durable)
})

test('a round over many groups looks at all of them, and a refused part is looked at again', () => {
  const group = setUp()
  for (let i = 0; i < 230; i++) group.offsetCommit(`g${i}`, { 0: 1 })
  group.advance(retentionMs - 1000)
  assert.equal(group.coordinator.offsetCount, 230)
  group.log.refusal = ErrorCode.notEnoughReplicas
  group.advance(2000)
  assert.equal(group.coordinator.offsetCount, 230)
  group.log.refusal = ErrorCode.none
  group.advance(checkMs)
  assert.equal(group.coordinator.offsetCount, 0)
})
