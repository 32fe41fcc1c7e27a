import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ErrorCode } from '../../../base/error-code.ts'
import { GroupUnderTest } from '../group-under-test.ts'

test('a heartbeat keeps a member; without any it is removed and the others rebalance', () => {
  const group = new GroupUnderTest()
  const [leader, follower] = group.stableGroup('g', 2)
  for (let i = 0; i < 3; i++) {
    group.advance(9999)
    assert.equal(group.heartbeat('g', 1, leader), ErrorCode.none)
    assert.equal(group.heartbeat('g', 1, follower), ErrorCode.none)
  }
  group.advance(9999)
  assert.equal(group.heartbeat('g', 1, leader), ErrorCode.none)
  group.advance(1)
  assert.equal(group.heartbeat('g', 1, follower), ErrorCode.unknownMemberId)
  assert.equal(group.heartbeat('g', 1, leader), ErrorCode.rebalanceInProgress)
})

test('a heartbeat is answered at once, whatever is not committed', () => {
  const group = new GroupUnderTest()
  const [leader] = group.stableGroup('g', 1)
  group.holdsCommits = true
  const commit = group.offsetCommit('g', { 0: 1 }, { generationIdOrMemberEpoch: 1, memberId: leader })
  assert.equal(commit.isAnswered, false)
  assert.equal(group.heartbeat('g', 1, leader), ErrorCode.none)
})

test('what is wrong with a heartbeat is said in the order in which Kafka checks it', () => {
  const group = new GroupUnderTest()
  const [leader] = group.stableGroup('g', 1)
  group.offsetCommit('simple', { 0: 1 })
  assert.equal(group.heartbeat('', 1, leader), ErrorCode.invalidGroupId)
  assert.equal(group.heartbeat('none', 1, leader), ErrorCode.unknownMemberId)
  assert.equal(group.heartbeat('simple', 0, leader), ErrorCode.unknownMemberId)
  assert.equal(group.heartbeat('g', 0, 'nobody'), ErrorCode.unknownMemberId)
  assert.equal(group.heartbeat('g', 1, leader, 'i'), ErrorCode.unknownMemberId)
  assert.equal(group.heartbeat('g', 0, leader), ErrorCode.illegalGeneration)
  assert.equal(group.heartbeat('g', 2, leader), ErrorCode.illegalGeneration)
})

test('a commit of offsets keeps a member as a heartbeat does', () => {
  const group = new GroupUnderTest()
  const [leader] = group.stableGroup('g', 1)
  group.advance(9000)
  group.offsetCommit('g', { 0: 1 }, { generationIdOrMemberEpoch: 1, memberId: leader })
  group.advance(9000)
  assert.equal(group.heartbeat('g', 1, leader), ErrorCode.none)
})

test('when its last member fails a group is empty, and stored so', () => {
  const group = new GroupUnderTest()
  const [leader] = group.stableGroup('g', 1)
  group.advance(10_000)
  const { groupState, protocolType } = group.describe('g')
  assert.deepEqual([groupState, protocolType], ['Empty', 'consumer'])
  const [record] = group.lastRecords()
  assert.ok(record.type === 'groupMetadata')
  assert.deepEqual([record.value?.generationId, record.value?.members], [2, []])
  assert.equal(group.join('g', leader).get().errorCode, ErrorCode.unknownMemberId)
  assert.deepEqual(
    group.effects.filter(({ type }) => type === 'memberFailed'),
    [{ type: 'memberFailed', groupId: 'g', memberId: leader, reason: 'session timed out' }],
  )
})

test('an empty group that cannot be stored so is tried again', () => {
  const group = new GroupUnderTest()
  group.stableGroup('g', 1)
  group.log.refusal = ErrorCode.kafkaStorageError
  group.advance(10_400)
  assert.equal(group.describe('g').groupState, 'Stable')
  group.log.refusal = ErrorCode.none
  group.advance(500)
  assert.equal(group.describe('g').groupState, 'Empty')
})

test('a member that fails in the join phase lets it go on', () => {
  const group = new GroupUnderTest()
  const [leader, follower] = group.stableGroup('g', 2)
  const join = group.join('g', leader)
  group.advance(9999)
  assert.equal(join.isAnswered, false)
  group.advance(1)
  assert.deepEqual(
    join.get().members.map(({ memberId }) => memberId),
    [leader],
  )
  assert.equal(group.heartbeat('g', 2, follower), ErrorCode.unknownMemberId)
})

test('G02: after the coordinator has moved the group is as it was stored, and members have a whole session', () => {
  const group = new GroupUnderTest()
  const [leader, follower] = group.stableGroup('g', 2)
  group.advance(9000)
  const waiting = group.join('g', leader)
  group.reload()
  assert.equal(waiting.get().errorCode, ErrorCode.notCoordinator)
  assert.equal(group.describe('g').groupState, 'Stable')
  group.advance(9999)
  assert.equal(group.heartbeat('g', 1, follower), ErrorCode.none)
  assert.equal(group.heartbeat('g', 1, leader), ErrorCode.none)
  assert.equal(group.sync('g', 1, follower).get().assignment?.toString(), 'assignment 1')
})

test('a generation that was not stored is gone with the coordinator, and its number begins nothing old', () => {
  const group = new GroupUnderTest()
  const [leader, follower] = group.stableGroup('g', 2)
  for (const id of [leader, follower]) group.join('g', id)
  assert.equal(group.heartbeat('g', 2, leader), ErrorCode.none)
  group.reload()
  assert.equal(group.heartbeat('g', 2, leader), ErrorCode.illegalGeneration)
  assert.equal(group.sync('g', 2, leader, { [leader]: 'x' }).get().errorCode, ErrorCode.illegalGeneration)
  const commit = group.offsetCommit('g', { 0: 9 }, { generationIdOrMemberEpoch: 2, memberId: leader })
  assert.deepEqual(commit.get(), [ErrorCode.illegalGeneration])
})

test('leaving: the others rebalance, and a join of the one that left is answered', () => {
  const group = new GroupUnderTest()
  const [leader] = group.stableGroup('g', 1)
  const newcomer = group.newMemberId('g')
  const join = group.join('g', newcomer)
  const left = group.leave('g', [{ memberId: newcomer }, { memberId: 'nobody' }, { memberId: newcomer }])
  assert.equal(left.errorCode, ErrorCode.none)
  assert.deepEqual(
    left.members?.map(({ errorCode }) => errorCode),
    [ErrorCode.none, 25, 25],
  )
  assert.deepEqual([join.get().errorCode, join.get().memberId], [ErrorCode.unknownMemberId, ''])
  assert.equal(group.heartbeat('g', 1, leader), ErrorCode.rebalanceInProgress)
})

test('before version 3 leaving has one member and one error', () => {
  const group = new GroupUnderTest()
  const [leader] = group.stableGroup('g', 1)
  assert.deepEqual(group.leave('g', [{ memberId: 'nobody' }], 2), { errorCode: ErrorCode.unknownMemberId, members: [] })
  assert.deepEqual(group.leave('none', [{ memberId: leader }], 1), {
    errorCode: ErrorCode.unknownMemberId,
    members: [],
  })
  assert.deepEqual(group.leave('g', [{ memberId: leader }], 0), { errorCode: ErrorCode.none, members: [] })
  assert.equal(group.describe('g').groupState, 'Empty')
})

test('leaving a group that does not exist is an error of each member; without a group id, of all', () => {
  const group = new GroupUnderTest()
  assert.deepEqual(
    group.leave('none', [{ memberId: 'm' }]).members?.map(({ errorCode }) => errorCode),
    [25],
  )
  assert.deepEqual(group.leave('', [{ memberId: 'm' }]), { errorCode: ErrorCode.invalidGroupId, members: [] })
})

test('an id that was given out can leave', () => {
  const group = new GroupUnderTest()
  const memberId = group.newMemberId('g')
  assert.deepEqual(
    group.leave('g', [{ memberId }]).members?.map(({ errorCode }) => errorCode),
    [ErrorCode.none],
  )
  assert.equal(group.join('g', memberId).get().errorCode, ErrorCode.unknownMemberId)
})
