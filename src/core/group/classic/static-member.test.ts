import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ErrorCode } from '../../../base/error-code.ts'
import { GroupUnderTest, subscriptionTo } from '../group-under-test.ts'

/** A stable group of static members i0, i1, …; the first leads. */
function staticGroup(group: GroupUnderTest, count: number, rebalanceTimeoutMs = 60_000): string[] {
  const joins = Array.from({ length: count }, (_, i) =>
    group.join('g', '', { groupInstanceId: `i${i}`, rebalanceTimeoutMs }),
  )
  group.advance(0)
  const ids = joins.map(join => join.get().memberId)
  const { generationId = -1 } = joins[0].get()
  const assignments = Object.fromEntries(ids.map((id, i) => [id, `assignment ${i}`]))
  group.sync('g', generationId, ids[0], assignments, { groupInstanceId: 'i0' })
  return ids
}

test('W21: a static member joins without being given an id first', () => {
  for (const version of [5, 9]) {
    const group = new GroupUnderTest()
    const join = group.join('g', '', { groupInstanceId: 'i' }, version)
    group.advance(0)
    assert.equal(join.get().errorCode, ErrorCode.none)
    assert.match(join.get().memberId, /^i-/)
  }
})

test('A18: a restarted static member keeps its partitions, nobody rebalances, and its new timeout is in force', () => {
  const group = new GroupUnderTest()
  const [leader, follower] = staticGroup(group, 2)
  const fields = { groupInstanceId: 'i1', sessionTimeoutMs: 30_000 }
  const returned = group.join('g', '', fields).get()
  assert.equal(returned.errorCode, ErrorCode.none)
  assert.equal(returned.generationId, 1)
  assert.notEqual(returned.memberId, follower)
  assert.equal(group.describe('g').groupState, 'Stable')
  const sync = group.sync('g', 1, returned.memberId, {}, { groupInstanceId: 'i1' })
  assert.equal(sync.get().assignment?.toString(), 'assignment 1')
  group.heartbeat('g', 1, leader)
  group.advance(9000)
  group.heartbeat('g', 1, leader)
  group.advance(9000)
  assert.equal(group.heartbeat('g', 1, returned.memberId, 'i1'), ErrorCode.none, 'the old timeout was 10 seconds')
})

test('W22: every property of a returning static member is the new one', () => {
  const group = new GroupUnderTest()
  const [leader] = staticGroup(group, 1)
  const protocols = [{ name: 'range', metadata: subscriptionTo('u') }]
  const fields = { groupInstanceId: 'i0', clientId: 'new', clientHost: '/10.0.0.1', protocols }
  const returned = group.join('g', '', { ...fields, sessionTimeoutMs: 20_000, rebalanceTimeoutMs: 90_000 }).get()
  const [record] = group.lastRecords()
  assert.ok(record.type === 'groupMetadata' && record.value !== undefined)
  assert.deepEqual(record.value.members, [
    {
      memberId: returned.memberId,
      groupInstanceId: 'i0',
      clientId: 'new',
      clientHost: '/10.0.0.1',
      sessionTimeoutMs: 20_000,
      rebalanceTimeoutMs: 90_000,
      subscription: subscriptionTo('u'),
      assignment: Buffer.from('assignment 0'),
    },
  ])
  assert.notEqual(returned.memberId, leader)
})

test('a static member that returns is answered once its new id is stored', () => {
  const group = new GroupUnderTest()
  const [, follower] = staticGroup(group, 2)
  group.holdsCommits = true
  const returned = group.join('g', '', { groupInstanceId: 'i1' })
  assert.equal(returned.isAnswered, false)
  group.commit()
  assert.equal(returned.get().errorCode, ErrorCode.none)
  group.reload()
  assert.equal(group.heartbeat('g', 1, follower, 'i1'), ErrorCode.fencedInstanceId)
  assert.equal(group.heartbeat('g', 1, returned.get().memberId, 'i1'), ErrorCode.none)
})

test('when the new id cannot be stored the former one stays', () => {
  const group = new GroupUnderTest()
  const [, follower] = staticGroup(group, 2)
  group.log.refusal = ErrorCode.notEnoughReplicas
  assert.equal(group.join('g', '', { groupInstanceId: 'i1' }).get().errorCode, ErrorCode.coordinatorNotAvailable)
  assert.equal(group.heartbeat('g', 1, follower, 'i1'), ErrorCode.none)
})

test('a returning leader is told to skip the assignment, or, if it is old, who led before', () => {
  const group = new GroupUnderTest()
  const [first] = staticGroup(group, 2)
  const newer = group.join('g', '', { groupInstanceId: 'i0' }, 9).get()
  assert.equal(newer.skipAssignment, true)
  assert.equal(newer.leader, newer.memberId)
  assert.equal(newer.members.length, 2)
  const older = group.join('g', '', { groupInstanceId: 'i0' }, 8).get()
  assert.notEqual(older.skipAssignment, true)
  assert.equal(older.leader, newer.memberId)
  assert.deepEqual(older.members, [])
  assert.notEqual(older.memberId, first)
})

test('I37: the former self is fenced from everything, and its waiting requests are told so', () => {
  const group = new GroupUnderTest()
  const [, follower] = staticGroup(group, 2)
  const { memberId } = group.join('g', '', { groupInstanceId: 'i1' }).get()
  const instance = { groupInstanceId: 'i1' }
  assert.equal(group.heartbeat('g', 1, follower, 'i1'), ErrorCode.fencedInstanceId)
  assert.equal(group.heartbeat('g', 1, follower), ErrorCode.unknownMemberId)
  assert.equal(group.join('g', follower, instance).get().errorCode, ErrorCode.fencedInstanceId)
  assert.equal(group.sync('g', 1, follower, {}, instance).get().errorCode, ErrorCode.fencedInstanceId)
  const commit = group.offsetCommit('g', { 0: 5 }, { generationIdOrMemberEpoch: 1, memberId: follower, ...instance })
  assert.deepEqual(commit.get(), [ErrorCode.fencedInstanceId])
  assert.deepEqual(
    group.leave('g', [{ memberId: follower, ...instance }]).members?.[0].errorCode,
    ErrorCode.fencedInstanceId,
  )
  assert.deepEqual(group.fetchedOffsets('g', [0]), [-1])
  assert.equal(group.heartbeat('g', 1, memberId, 'i1'), ErrorCode.none)
  const waits = group.join('g', memberId, {
    ...instance,
    protocols: [{ name: 'range', metadata: subscriptionTo('u') }],
  })
  group.join('g', '', instance)
  assert.equal(waits.get().errorCode, ErrorCode.fencedInstanceId)
})

test('a static member that returns with another choice of protocol starts a rebalance', () => {
  const group = new GroupUnderTest()
  const protocol = (name: string) => ({ name, metadata: subscriptionTo('t') })
  const first = group.join('g', '', { groupInstanceId: 'i0', protocols: [protocol('range'), protocol('sticky')] })
  group.advance(0)
  group.sync('g', 1, first.get().memberId)
  const returned = group.join('g', '', { groupInstanceId: 'i0', protocols: [protocol('sticky')] })
  assert.deepEqual([returned.get().generationId, returned.get().protocolName], [2, 'sticky'])
})

test('a static member that returns while the leader assigns starts the phase again', () => {
  const group = new GroupUnderTest()
  const joins = [0, 1].map(i => group.join('g', '', { groupInstanceId: `i${i}` }))
  group.advance(0)
  const [leader, follower] = joins.map(join => join.get().memberId)
  const sync = group.sync('g', 1, follower, {}, { groupInstanceId: 'i1' })
  const returned = group.join('g', '', { groupInstanceId: 'i1' })
  assert.equal(sync.get().errorCode, ErrorCode.fencedInstanceId)
  assert.equal(group.heartbeat('g', 1, leader, 'i0'), ErrorCode.rebalanceInProgress)
  group.join('g', leader, { groupInstanceId: 'i0' })
  assert.equal(returned.get().generationId, 2)
})

test('a static member that does not come back in time stays until its session ends', () => {
  const group = new GroupUnderTest()
  const [leader, follower] = staticGroup(group, 2, 8000)
  const rejoined = group.join('g', leader, { groupInstanceId: 'i0', rebalanceTimeoutMs: 8000 })
  group.heartbeat('g', 1, follower, 'i1')
  group.advance(8000)
  assert.deepEqual(
    rejoined.get().members.map(({ groupInstanceId }) => groupInstanceId),
    ['i0', 'i1'],
  )
  group.sync('g', 2, leader, {}, { groupInstanceId: 'i0' })
  group.heartbeat('g', 2, leader, 'i0')
  group.advance(9999)
  assert.equal(group.describe('g').members.length, 1)
})

test('when only static members are left and none has come back, their sessions decide', () => {
  const group = new GroupUnderTest()
  const [leader, follower] = staticGroup(group, 2, 6000)
  const newcomer = group.newMemberId('g', { rebalanceTimeoutMs: 6000 })
  group.join('g', newcomer, { rebalanceTimeoutMs: 6000 })
  group.leave('g', [{ memberId: newcomer }])
  group.advance(6000)
  assert.equal(group.describe('g').groupState, 'PreparingRebalance')
  group.advance(10_000)
  assert.equal(group.describe('g').groupState, 'Empty')
  assert.deepEqual(
    [leader, follower].map(id => group.heartbeat('g', 2, id)),
    [25, 25],
  )
})

test('members whose rebalance timeout is nothing do not make the coordinator spin', () => {
  const group = new GroupUnderTest()
  staticGroup(group, 2)
  for (const groupInstanceId of ['i0', 'i1']) group.join('g', '', { groupInstanceId, rebalanceTimeoutMs: -1 })
  const newcomer = group.newMemberId('g', { rebalanceTimeoutMs: -1 })
  group.join('g', newcomer, { rebalanceTimeoutMs: -1 })
  group.leave('g', [{ memberId: newcomer }])
  group.advance(0)
  assert.equal(group.describe('g').groupState, 'PreparingRebalance')
  assert.ok((group.runner.nextDeadlineMs() ?? 0) > group.monotonicMs)
})

test('an administrator removes a static member by its instance', () => {
  const group = new GroupUnderTest()
  const [leader] = staticGroup(group, 2)
  const left = group.leave('g', [{ groupInstanceId: 'i1' }, { groupInstanceId: 'nobody' }, {}])
  assert.deepEqual(
    left.members?.map(({ groupInstanceId, errorCode }) => [groupInstanceId, errorCode]),
    [
      ['i1', ErrorCode.none],
      ['nobody', ErrorCode.unknownMemberId],
      [null, ErrorCode.unknownMemberId],
    ],
  )
  assert.equal(group.heartbeat('g', 1, leader, 'i0'), ErrorCode.rebalanceInProgress)
})
