import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ErrorCode } from '../../base/error-code.ts'
import { zeroUuid } from '../../base/uuid.ts'
import { GroupUnderTest } from './group-under-test.ts'

test('a coordinator that is being loaded says so; a heartbeat is given the benefit of the doubt', () => {
  const group = new GroupUnderTest()
  group.runner.unload()
  group.runner.startLoading()
  const loading = ErrorCode.coordinatorLoadInProgress
  assert.equal(group.heartbeat('g', 1, 'm'), ErrorCode.none)
  assert.equal(group.join('g', 'm').get().errorCode, loading)
  assert.equal(group.join('g', 'm', {}, 6).get().protocolName, '')
  assert.equal(group.sync('g', 1, 'm').get().errorCode, loading)
  assert.deepEqual(group.leave('g', [{ memberId: 'm' }]), { errorCode: loading, members: [] })
  assert.deepEqual(group.leave('g', [{ memberId: 'm' }], 1), { errorCode: loading, members: [] })
  assert.deepEqual(group.offsetCommit('g', { 0: 1, 1: 1 }).get(), [loading, loading])
  assert.equal(group.describe('g').errorCode, loading)
})

test('every kind of request has an answer for what is not the coordinator', () => {
  const group = new GroupUnderTest()
  group.runner.unload()
  const errorCode = ErrorCode.notCoordinator
  assert.equal(group.heartbeat('g', 1, 'm'), errorCode)
  const topics = [{ name: 't', partitions: [{ partitionIndex: 0 }] }]
  const replies = [
    group.submit({ type: 'offsetDelete', apiVersion: 0, request: { groupId: 'g', topics } }),
    group.submit({ type: 'listGroups', apiVersion: 5, statesFilter: [], typesFilter: [] }),
    group.submit({ type: 'deleteGroups', apiVersion: 2, groupIds: ['g'] }),
    group.submit({
      type: 'offsetFetch',
      apiVersion: 8,
      groups: [{ groupId: 'g', memberId: null, memberEpoch: -1, topics: null }],
      requireStable: false,
    }),
  ].map(requestId => group.replyTo(requestId))
  assert.deepEqual(replies, [
    { type: 'offsetDelete', response: { errorCode, throttleTimeMs: 0, topics: [] } },
    { type: 'listGroups', errorCode, groups: [] },
    { type: 'deleteGroups', results: [{ groupId: 'g', errorCode }] },
    { type: 'offsetFetch', groups: [{ groupId: 'g', topics: [], errorCode }] },
  ])
})

test('a fetch of offsets that waits too long sends the client to look for the coordinator anew', () => {
  const group = new GroupUnderTest()
  group.holdsCommits = true
  group.offsetCommit('g', { 0: 1 })
  const topics = [{ name: 't', topicId: zeroUuid, partitionIndexes: [0] }]
  const groups = [{ groupId: 'g', memberId: null, memberEpoch: -1, topics }]
  const requestId = group.submit({ type: 'offsetFetch', apiVersion: 9, groups, requireStable: true })
  group.advance(5000)
  const reply = group.replyTo(requestId)
  assert.ok(reply?.type === 'offsetFetch')
  assert.equal(reply.groups[0].errorCode, ErrorCode.notCoordinator)
})
