import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ErrorCode } from '../../base/error-code.ts'
import { GroupUnderTest, subscriptionTo } from './group-under-test.ts'

function listed(group: GroupUnderTest, statesFilter: string[] = [], typesFilter: string[] = []) {
  const reply = group.replyTo(group.submit({ type: 'listGroups', apiVersion: 5, statesFilter, typesFilter }))
  assert.ok(reply?.type === 'listGroups')
  return reply.groups.map(({ groupId, protocolType, groupState, groupType }) =>
    [groupId, protocolType, groupState, groupType].join(' '),
  )
}

function deleted(group: GroupUnderTest, ...groupIds: string[]) {
  const reply = group.replyTo(group.submit({ type: 'deleteGroups', apiVersion: 2, groupIds }))
  assert.ok(reply?.type === 'deleteGroups')
  return reply.results.map(({ errorCode }) => errorCode)
}

test('groups are listed with type and state, and filtered by both', () => {
  const group = new GroupUnderTest()
  group.offsetCommit('simple', { 0: 1 })
  group.stableGroup('stable', 1)
  group.newMemberId('new')
  assert.deepEqual(listed(group).sort(), [
    'new  Empty classic',
    'simple  Empty classic',
    'stable consumer Stable classic',
  ])
  assert.deepEqual(listed(group, [' sTABLE']), ['stable consumer Stable classic'])
  assert.deepEqual(listed(group, ['Stable', 'nonsense'], ['Classic']), ['stable consumer Stable classic'])
  assert.deepEqual(listed(group, ['preparingrebalance']), [])
  assert.deepEqual(listed(group, [], ['share', 'nonsense']), [])
})

test('a group is described; what its members said only while it is stable', () => {
  const group = new GroupUnderTest()
  const [leader, follower] = group.stableGroup('g', 2)
  const stable = group.describe('g')
  assert.deepEqual([stable.groupState, stable.protocolType, stable.protocolData], ['Stable', 'consumer', 'range'])
  assert.deepEqual(stable.members[1], {
    memberId: follower,
    groupInstanceId: null,
    clientId: 'client',
    clientHost: '/127.0.0.1',
    memberMetadata: subscriptionTo('t'),
    memberAssignment: Buffer.from('assignment 1'),
  })
  group.join('g', leader)
  const preparing = group.describe('g')
  assert.deepEqual([preparing.groupState, preparing.protocolData], ['PreparingRebalance', ''])
  assert.deepEqual(
    preparing.members.map(({ memberMetadata, memberAssignment }) => [String(memberMetadata), String(memberAssignment)]),
    [
      ['', 'assignment 0'],
      ['', 'assignment 1'],
    ],
  )
})

test('a group that does not exist is dead, and from version 6 on an error', () => {
  const group = new GroupUnderTest()
  const old = group.describe('none', 5)
  assert.deepEqual([old.errorCode, old.errorMessage, old.groupState], [ErrorCode.none, null, 'Dead'])
  const newer = group.describe('none', 6)
  assert.deepEqual([newer.errorCode, newer.errorMessage], [ErrorCode.groupIdNotFound, 'Group none not found.'])
})

test('a group without members is deleted with its offsets; others are not', () => {
  const group = new GroupUnderTest()
  const [leader] = group.stableGroup('g', 1)
  group.offsetCommit('g', { 0: 1, 1: 2 }, { generationIdOrMemberEpoch: 1, memberId: leader })
  group.offsetCommit('simple', { 0: 1 })
  assert.deepEqual(deleted(group, 'g', 'simple', 'none'), [
    ErrorCode.nonEmptyGroup,
    ErrorCode.none,
    ErrorCode.groupIdNotFound,
  ])
  group.leave('g', [{ memberId: leader }])
  assert.deepEqual(deleted(group, 'g'), [ErrorCode.none])
  assert.deepEqual(
    group.lastRecords().map(record => [record.type, record.type === 'offsetCommit' ? record.partition : record.value]),
    [
      ['offsetCommit', 0],
      ['offsetCommit', 1],
      ['groupMetadata', undefined],
    ],
  )
  assert.deepEqual(listed(group), [])
  assert.deepEqual(group.fetchedOffsets('g', [0, 1]), [-1, -1])
  group.reload()
  assert.deepEqual(listed(group), [])
})

test('a deleted group begins anew', () => {
  const group = new GroupUnderTest()
  const [leader] = group.stableGroup('g', 1)
  group.leave('g', [{ memberId: leader }])
  deleted(group, 'g')
  const [again] = group.stableGroup('g', 1)
  assert.equal(group.heartbeat('g', 1, again), ErrorCode.none)
  assert.equal(group.heartbeat('g', 1, leader), ErrorCode.unknownMemberId)
})

test('the counts for metrics follow the groups', () => {
  const group = new GroupUnderTest()
  const [leader] = group.stableGroup('a', 1)
  group.stableGroup('b', 1)
  group.newMemberId('c')
  group.join('a', group.newMemberId('a'))
  assert.deepEqual(group.coordinator.groupCounts, {
    Empty: 1,
    PreparingRebalance: 1,
    CompletingRebalance: 0,
    Stable: 1,
  })
  group.join('a', leader)
  assert.equal(group.coordinator.groupCounts.CompletingRebalance, 1)
  group.offsetCommit('d', { 0: 1, 1: 1 })
  group.offsetCommit('d', { 0: 2 })
  assert.equal(group.coordinator.offsetCount, 2)
  deleted(group, 'c')
  assert.equal(group.coordinator.groupCounts.Empty, 0)
})

test('records of other kinds of groups are passed over, and named once', () => {
  const group = new GroupUnderTest()
  group.offsetCommit('g', { 0: 1 })
  group.runner.unload()
  const foreign = Buffer.from(group.log.batches[0])
  // The key of the record now says that it is a consumer group's (type 3).
  foreign[foreign.indexOf(Buffer.from([0, 1, 0, 1, 0x67])) + 1] = 3
  group.log.appendForeign(Buffer.from(foreign))
  group.log.appendForeign(Buffer.from(foreign))
  group.load()
  group.commit()
  assert.deepEqual(group.unknownRecordTypes, ['record type 3'])
  assert.deepEqual(group.fetchedOffsets('g', [0]), [1])
})
