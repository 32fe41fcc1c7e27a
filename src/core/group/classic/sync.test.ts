import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ErrorCode } from '../../../base/error-code.ts'
import { GroupUnderTest } from '../group-under-test.ts'

/** Two members that know generation 1 and have no assignment. */
function joinedGroup(group: GroupUnderTest): [string, string] {
  const ids = [group.newMemberId('g'), group.newMemberId('g')]
  for (const id of ids) group.join('g', id)
  group.advance(0)
  return [ids[0], ids[1]]
}

test('everyone waits for the leader, and is told once the generation is stored', () => {
  const group = new GroupUnderTest()
  const [leader, follower] = joinedGroup(group)
  const early = group.sync('g', 1, follower)
  assert.equal(early.isAnswered, false)
  group.holdsCommits = true
  const leading = group.sync('g', 1, leader, { [leader]: 'a', [follower]: 'b', stranger: 'c' })
  const late = group.sync('g', 1, follower)
  assert.ok([early, leading, late].every(sync => !sync.isAnswered))
  group.commit()
  assert.deepEqual(
    [early, leading, late].map(sync => sync.get().assignment?.toString()),
    ['b', 'a', 'b'],
  )
  assert.deepEqual([early.get().protocolType, early.get().protocolName], ['consumer', 'range'])
})

test('a member without an assignment gets none, and everyone is in the stored generation', () => {
  const group = new GroupUnderTest()
  const [leader, follower] = joinedGroup(group)
  const waiting = group.sync('g', 1, follower)
  group.sync('g', 1, leader, { [leader]: 'a' })
  assert.equal(waiting.get().errorCode, ErrorCode.none)
  assert.equal(waiting.get().assignment?.toString(), '')
  const [record] = group.lastRecords()
  assert.ok(record.type === 'groupMetadata')
  assert.deepEqual(
    record.value?.members.map(({ memberId, assignment }) => [memberId, assignment.toString()]),
    [
      [leader, 'a'],
      [follower, ''],
    ],
  )
  assert.deepEqual(
    { ...record.value, members: [], stateTimestampMs: 0 },
    {
      protocolType: 'consumer',
      generationId: 1,
      protocolName: 'range',
      leaderId: leader,
      stateTimestampMs: 0,
      members: [],
    },
  )
})

test('when the generation cannot be stored now only the leader is told, and may try again', () => {
  const group = new GroupUnderTest()
  const [leader, follower] = joinedGroup(group)
  const waiting = group.sync('g', 1, follower)
  group.log.refusal = ErrorCode.notEnoughReplicas
  assert.equal(group.sync('g', 1, leader, { [follower]: 'b' }).get().errorCode, ErrorCode.coordinatorNotAvailable)
  assert.equal(waiting.isAnswered, false)
  group.log.refusal = ErrorCode.none
  group.sync('g', 1, leader, { [follower]: 'b' })
  assert.equal(waiting.get().assignment?.toString(), 'b')
})

test('a generation that is too large to be stored fails all who wait for it, and the group begins anew', () => {
  const group = new GroupUnderTest()
  const [leader, follower] = joinedGroup(group)
  const waiting = group.sync('g', 1, follower)
  group.log.maxBatchBytes = 500
  const asked = group.sync('g', 1, leader, { [follower]: 'b'.repeat(500) })
  assert.equal(asked.get().errorCode, ErrorCode.unknownServerError)
  assert.equal(waiting.get().errorCode, ErrorCode.unknownServerError)
  assert.equal(group.heartbeat('g', 1, follower), ErrorCode.rebalanceInProgress)
  assert.equal(group.heartbeat('g', 1, leader), ErrorCode.rebalanceInProgress)
  const joins = [group.join('g', leader), group.join('g', follower)]
  assert.deepEqual(
    joins.map(join => [join.get().errorCode, join.get().generationId]),
    [
      [ErrorCode.none, 2],
      [ErrorCode.none, 2],
    ],
  )
  const second = group.sync('g', 2, follower)
  group.sync('g', 2, leader, { [follower]: 'small' })
  assert.equal(second.get().assignment?.toString(), 'small')
  assert.deepEqual(group.replayed(), group.coordinator.inspect().durable)
})

test('what is wrong with a sync is said in the order in which Kafka checks it', () => {
  const group = new GroupUnderTest()
  const [leader] = joinedGroup(group)
  group.offsetCommit('simple', { 0: 1 })
  const codes = [
    group.sync('', 1, leader, {}, { protocolType: null }),
    group.sync('', 1, leader),
    group.sync('none', 1, leader),
    group.sync('simple', 0, leader),
    group.sync('g', 1, 'nobody'),
    group.sync('g', 1, leader, {}, { groupInstanceId: 'i' }),
    group.sync('g', 2, leader, {}, { protocolName: 'x' }),
    group.sync('g', 1, leader, {}, { protocolName: 'x' }),
    group.sync('g', 1, leader, {}, { protocolType: 'x' }),
    group.sync('g', 1, leader, {}, { protocolName: null }),
  ].map(sync => sync.get().errorCode)
  assert.deepEqual(codes, [
    ErrorCode.inconsistentGroupProtocol,
    ErrorCode.invalidGroupId,
    ErrorCode.unknownMemberId,
    ErrorCode.unknownMemberId,
    ErrorCode.unknownMemberId,
    ErrorCode.unknownMemberId,
    ErrorCode.illegalGeneration,
    ErrorCode.inconsistentGroupProtocol,
    ErrorCode.inconsistentGroupProtocol,
    ErrorCode.inconsistentGroupProtocol,
  ])
  assert.equal(
    group.sync('g', 1, leader, {}, { protocolName: null }, 4).isAnswered,
    true,
    'older versions do not say it',
  )
})

test('a rebalance that begins meanwhile answers whoever waits, and makes the sync stale', () => {
  const group = new GroupUnderTest()
  const [leader, follower] = joinedGroup(group)
  const waiting = group.sync('g', 1, follower)
  group.join('g', group.newMemberId('g'))
  assert.equal(waiting.get().errorCode, ErrorCode.rebalanceInProgress)
  assert.equal(group.sync('g', 1, leader, { [leader]: 'a' }).get().errorCode, ErrorCode.rebalanceInProgress)
})

test('a repeated sync answers the first one too', () => {
  const group = new GroupUnderTest()
  const [leader, follower] = joinedGroup(group)
  const first = group.sync('g', 1, follower)
  const second = group.sync('g', 1, follower)
  assert.equal(first.get().errorCode, ErrorCode.rebalanceInProgress)
  group.sync('g', 1, leader, { [follower]: 'b' })
  assert.equal(second.get().assignment?.toString(), 'b')
})

test('members that do not ask for their assignment in time are removed', () => {
  const group = new GroupUnderTest()
  const fields = { rebalanceTimeoutMs: 20_000, sessionTimeoutMs: 60_000 }
  const ids = [group.newMemberId('g', fields), group.newMemberId('g', fields), group.newMemberId('g', fields)]
  for (const id of ids) group.join('g', id, fields)
  group.advance(0)
  const waiting = group.sync('g', 1, ids[1])
  group.advance(19_999)
  assert.equal(waiting.isAnswered, false)
  group.advance(1)
  assert.equal(waiting.get().errorCode, ErrorCode.rebalanceInProgress)
  assert.equal(group.heartbeat('g', 1, ids[0]), ErrorCode.unknownMemberId)
  assert.equal(group.heartbeat('g', 1, ids[1]), ErrorCode.rebalanceInProgress)
})

test('a member that has asked before the others is not removed with them', () => {
  const group = new GroupUnderTest()
  const fields = { rebalanceTimeoutMs: 20_000, sessionTimeoutMs: 60_000 }
  const ids = [group.newMemberId('g', fields), group.newMemberId('g', fields)]
  for (const id of ids) group.join('g', id, fields)
  group.advance(0)
  group.sync('g', 1, ids[0], { [ids[1]]: 'b' })
  group.advance(10_000)
  assert.equal(group.sync('g', 1, ids[1]).get().assignment?.toString(), 'b')
  group.advance(15_000)
  assert.equal(group.describe('g').groupState, 'Stable')
})

test('whoever waits for the leader is not timed out, and has a whole session afterwards', () => {
  const group = new GroupUnderTest()
  const fields = { rebalanceTimeoutMs: 60_000, sessionTimeoutMs: 10_000 }
  const ids = [group.newMemberId('g', fields), group.newMemberId('g', fields)]
  for (const id of ids) group.join('g', id, fields)
  group.advance(0)
  const waiting = group.sync('g', 1, ids[1])
  for (let i = 0; i < 3; i++) {
    group.advance(9000)
    group.heartbeat('g', 1, ids[0])
  }
  group.sync('g', 1, ids[0], { [ids[1]]: 'b' })
  assert.equal(waiting.get().assignment?.toString(), 'b')
  group.advance(9999)
  assert.equal(group.heartbeat('g', 1, ids[1]), ErrorCode.none)
})
