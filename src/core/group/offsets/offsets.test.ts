import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ErrorCode } from '../../../base/error-code.ts'
import { zeroUuid } from '../../../base/uuid.ts'
import { commitOf, GroupUnderTest, subscriptionTo, topicIdOfT } from '../group-under-test.ts'

const t = (...partitionIndexes: number[]) => [{ name: 't', topicId: zeroUuid, partitionIndexes }]

test('I38: what is committed is what is fetched, also after a reload', () => {
  const group = new GroupUnderTest()
  assert.deepEqual(group.offsetCommit('g', { 0: 5, 3: 7 }).get(), [ErrorCode.none, ErrorCode.none])
  assert.deepEqual(group.fetchedOffsets('g', [0, 1, 3]), [5, -1, 7])
  group.offsetCommit('g', { 0: 4 })
  group.reload()
  assert.deepEqual(group.fetchedOffsets('g', [0, 1, 3]), [4, -1, 7])
})

test('a commit is answered, and read, only when it is committed', () => {
  const group = new GroupUnderTest()
  group.holdsCommits = true
  const commit = group.offsetCommit('g', { 0: 5 })
  const groups = [{ groupId: 'g', memberId: null, memberEpoch: -1, topics: t(0) }]
  const fetch = group.submit({ type: 'offsetFetch', apiVersion: 9, groups, requireStable: false })
  assert.deepEqual([commit.isAnswered, group.replyTo(fetch)], [false, undefined])
  group.commit()
  assert.deepEqual(commit.get(), [ErrorCode.none])
  assert.ok(group.replyTo(fetch) !== undefined)
})

test('a commit that the log refuses leaves the offset as it was', () => {
  const group = new GroupUnderTest()
  group.offsetCommit('g', { 0: 5 })
  for (const [refusal, answer] of [
    [ErrorCode.notEnoughReplicas, ErrorCode.coordinatorNotAvailable],
    [ErrorCode.notLeaderOrFollower, ErrorCode.notCoordinator],
    [ErrorCode.kafkaStorageError, ErrorCode.notCoordinator],
    [ErrorCode.messageTooLarge, ErrorCode.unknownServerError],
  ]) {
    group.log.refusal = refusal
    assert.deepEqual(group.offsetCommit('g', { 0: 6, 1: 1 }).get(), [answer, answer])
  }
  group.log.refusal = ErrorCode.none
  assert.deepEqual(group.fetchedOffsets('g', [0, 1]), [5, -1])
})

test('a commit that never becomes durable is answered in time, not left alone', () => {
  const group = new GroupUnderTest()
  group.holdsCommits = true
  const commit = group.offsetCommit('g', { 0: 5 })
  group.advance(4999)
  assert.equal(commit.isAnswered, false)
  group.advance(1)
  assert.deepEqual(commit.get(), [ErrorCode.coordinatorNotAvailable])
})

test('the record of a commit says what Kafka would say', () => {
  const group = new GroupUnderTest()
  const topics = [
    {
      name: 't',
      topicId: zeroUuid,
      partitions: [{ partitionIndex: 1, committedOffset: 9, committedLeaderEpoch: 4, committedMetadata: 'note' }],
    },
  ]
  group.offsetCommit('g', {}, { topics })
  const value = {
    committedOffset: 9,
    leaderEpoch: 4,
    metadata: 'note',
    commitTimestampMs: group.wallMs,
    expireTimestampMs: -1,
    topicId: topicIdOfT,
  }
  assert.deepEqual(group.lastRecords(), [{ type: 'offsetCommit', groupId: 'g', topic: 't', partition: 1, value }])
  group.offsetCommit('g', { 1: 3 }, { retentionTimeMs: 1000 }, 2)
  assert.deepEqual(group.lastRecords()[0].value, {
    ...value,
    committedOffset: 3,
    leaderEpoch: -1,
    metadata: '',
    expireTimestampMs: group.wallMs + 1000,
    topicId: zeroUuid,
  })
})

test('I37: only the present generation commits, and only when it knows what it owns', () => {
  const group = new GroupUnderTest()
  const [leader] = group.stableGroup('g', 1)
  const commit = (generationIdOrMemberEpoch: number, memberId: string, groupInstanceId: string | null = null) =>
    group.offsetCommit('g', { 0: 1 }, { generationIdOrMemberEpoch, memberId, groupInstanceId }).get()[0]
  assert.equal(commit(0, leader), ErrorCode.illegalGeneration)
  assert.equal(commit(2, leader), ErrorCode.illegalGeneration)
  assert.equal(commit(-1, leader), ErrorCode.illegalGeneration)
  assert.equal(commit(1, 'nobody'), ErrorCode.unknownMemberId)
  assert.equal(commit(1, leader, 'i'), ErrorCode.unknownMemberId)
  assert.equal(commit(-1, '', 'i'), ErrorCode.unknownMemberId)
  assert.equal(commit(-1, ''), ErrorCode.unknownMemberId, 'whoever is no member commits to an empty group only')
  assert.deepEqual(group.fetchedOffsets('g', [0]), [-1])
  assert.equal(commit(1, leader), ErrorCode.none)
  const newcomer = group.newMemberId('g')
  group.join('g', newcomer)
  assert.equal(commit(1, leader), ErrorCode.none, 'what it owned it may still commit while the others join')
  group.join('g', leader)
  assert.equal(commit(2, leader), ErrorCode.rebalanceInProgress)
  assert.equal(commit(1, leader), ErrorCode.illegalGeneration)
})

test('a group that nobody knows: administrators make it, members have lost it', () => {
  const group = new GroupUnderTest()
  const commit = (generation: number, version: number) =>
    group.offsetCommit('g', { 0: 1 }, { generationIdOrMemberEpoch: generation, memberId: 'm' }, version).get()
  assert.deepEqual(commit(1, 8), [ErrorCode.illegalGeneration])
  assert.deepEqual(commit(1, 9), [ErrorCode.groupIdNotFound])
  assert.deepEqual(commit(-1, 9), [ErrorCode.none])
  const { groupState, protocolType } = group.describe('g')
  assert.deepEqual([groupState, protocolType], ['Empty', ''])
})

test('errors of partitions are said of each: missing ones first, and what else there is goes through', () => {
  const group = new GroupUnderTest()
  const long = { ...commitOf(1, 1), committedMetadata: 'x'.repeat(4097) }
  const topics = [
    { name: 't', topicId: zeroUuid, partitions: [commitOf(0, 1), long, commitOf(8, 1), commitOf(-1, 1)] },
    { name: 'none', topicId: zeroUuid, partitions: [commitOf(0, 1)] },
  ]
  const { response } = group.replyTo(group.offsetCommit('g', {}, { topics }).requestId) as never
  assert.deepEqual(response, {
    topics: [
      {
        name: 't',
        topicId: zeroUuid,
        partitions: [
          { partitionIndex: 8, errorCode: ErrorCode.unknownTopicOrPartition },
          { partitionIndex: -1, errorCode: ErrorCode.unknownTopicOrPartition },
          { partitionIndex: 0, errorCode: ErrorCode.none },
          { partitionIndex: 1, errorCode: ErrorCode.offsetMetadataTooLarge },
        ],
      },
      {
        name: 'none',
        topicId: zeroUuid,
        partitions: [{ partitionIndex: 0, errorCode: ErrorCode.unknownTopicOrPartition }],
      },
    ],
  })
  assert.deepEqual(group.fetchedOffsets('g', [0, 1]), [1, -1])
})

test('from version 10 on an id that no topic has is an error of its own', () => {
  const group = new GroupUnderTest()
  const otherId = 'AAAAAAAAAAAAAAAAAAAAZg'
  const topics = [
    { name: '', topicId: otherId, partitions: [commitOf(0, 1)] },
    { name: 't', topicId: topicIdOfT, partitions: [commitOf(0, 2)] },
  ]
  assert.deepEqual(group.offsetCommit('g', {}, { topics }, 10).get(), [ErrorCode.unknownTopicId, ErrorCode.none])
  const requested = [
    { name: '', topicId: otherId, partitionIndexes: [0] },
    { name: 't', topicId: topicIdOfT, partitionIndexes: [0] },
  ]
  const fetched = group.fetch('g', requested, { apiVersion: 10 })
  assert.deepEqual(
    fetched.map(({ topicId, partitions: [{ committedOffset, errorCode }] }) => [topicId, committedOffset, errorCode]),
    [
      [otherId, -1, ErrorCode.unknownTopicId],
      [topicIdOfT, 2, ErrorCode.none],
    ],
  )
})

test('W27, A11: a missing group, topic or partition has offset -1 and no error, and is not made', () => {
  const group = new GroupUnderTest()
  group.offsetCommit('g', { 0: 5 })
  const absent = { committedOffset: -1, committedLeaderEpoch: -1, metadata: '', errorCode: ErrorCode.none }
  assert.deepEqual(group.fetch('none', t(0)), [
    { name: 't', topicId: zeroUuid, partitions: [{ partitionIndex: 0, ...absent }] },
  ])
  const [missingTopic] = group.fetch('g', [{ name: 'none', topicId: zeroUuid, partitionIndexes: [0] }])
  assert.deepEqual(missingTopic.partitions, [{ partitionIndex: 0, ...absent }])
  assert.deepEqual(group.fetch('g', t(99))[0].partitions, [{ partitionIndex: 99, ...absent }])
  assert.deepEqual(group.fetch('none', null), [])
  assert.equal(group.describe('none').errorCode, ErrorCode.groupIdNotFound)
})

test('W29: the leader epoch is in the answer whether topics are named or all are asked for', () => {
  const group = new GroupUnderTest()
  const partitions = [{ ...commitOf(0, 5), committedLeaderEpoch: 3 }]
  group.offsetCommit('g', {}, { topics: [{ name: 't', topicId: zeroUuid, partitions }] })
  for (const topics of [null, t(0)]) {
    assert.equal(group.fetch('g', topics)[0].partitions[0].committedLeaderEpoch, 3)
  }
})

test('W28: trouble of the coordinator is an error of each partition in version 1, and of the request later', () => {
  const group = new GroupUnderTest()
  group.runner.unload()
  const groups = [{ groupId: 'g', memberId: null, memberEpoch: -1, topics: t(0, 1) }]
  const fetch = (apiVersion: number) => {
    const reply = group.replyTo(group.submit({ type: 'offsetFetch', apiVersion, groups, requireStable: false }))
    assert.ok(reply?.type === 'offsetFetch')
    return reply.groups[0]
  }
  const old = fetch(1)
  assert.deepEqual(
    old.topics[0].partitions.map(({ committedOffset, errorCode }) => [committedOffset, errorCode]),
    [
      [-1, ErrorCode.notCoordinator],
      [-1, ErrorCode.notCoordinator],
    ],
  )
  assert.deepEqual([fetch(2).errorCode, fetch(2).topics], [ErrorCode.notCoordinator, []])
})

test('all offsets of a group: by id only those of topics that there are', () => {
  const group = new GroupUnderTest()
  group.topics.set('u', { topicId: 'AAAAAAAAAAAAAAAAAAAAZg', partitionCount: 1 })
  group.offsetCommit('g', { 0: 5, 1: 6 })
  group.offsetCommit('g', {}, { topics: [{ name: 'u', topicId: zeroUuid, partitions: [commitOf(0, 7)] }] })
  group.topics.delete('u')
  assert.deepEqual(
    group.fetch('g', null).map(({ name }) => name),
    ['t', 'u'],
  )
  assert.deepEqual(
    group.fetch('g', null, { apiVersion: 10 }).map(({ topicId }) => topicId),
    [topicIdOfT],
  )
})

test('offsets are deleted one by one, unless a member reads the topic', () => {
  const group = new GroupUnderTest()
  const [leader] = group.stableGroup('g', 1, { protocols: [{ name: 'range', metadata: subscriptionTo('u') }] })
  group.topics.set('u', { topicId: 'AAAAAAAAAAAAAAAAAAAAZg', partitionCount: 1 })
  const u = [{ name: 'u', topicId: zeroUuid, partitions: [commitOf(0, 7)] }]
  const member = { generationIdOrMemberEpoch: 1, memberId: leader }
  group.offsetCommit('g', { 0: 5, 1: 6 }, member)
  group.offsetCommit('g', {}, { ...member, topics: u })
  const topics = [
    { name: 't', partitions: [{ partitionIndex: 0 }, { partitionIndex: 5 }, { partitionIndex: 8 }] },
    { name: 'u', partitions: [{ partitionIndex: 0 }] },
  ]
  const requestId = group.submit({ type: 'offsetDelete', apiVersion: 0, request: { groupId: 'g', topics } })
  const reply = group.replyTo(requestId)
  assert.ok(reply?.type === 'offsetDelete')
  assert.deepEqual(
    reply.response.topics.flatMap(topic =>
      topic.partitions.map(one => [topic.name, one.partitionIndex, one.errorCode]),
    ),
    [
      ['t', 8, ErrorCode.unknownTopicOrPartition],
      ['t', 0, ErrorCode.none],
      ['t', 5, ErrorCode.none],
      ['u', 0, ErrorCode.groupSubscribedToTopic],
    ],
  )
  assert.equal(group.lastRecords().length, 1, 'what is not there needs no tombstone')
  assert.deepEqual(group.fetchedOffsets('g', [0, 1]), [-1, 6])
})

test('deleting offsets of a group that is not there, or of members that are no consumers', () => {
  const group = new GroupUnderTest()
  const topics = [{ name: 't', partitions: [{ partitionIndex: 0 }] }]
  const errorOf = (groupId: string) => {
    const requestId = group.submit({ type: 'offsetDelete', apiVersion: 0, request: { groupId, topics } })
    const reply = group.replyTo(requestId)
    assert.ok(reply?.type === 'offsetDelete')
    return reply.response.errorCode
  }
  assert.equal(errorOf(''), ErrorCode.invalidGroupId)
  assert.equal(errorOf('none'), ErrorCode.groupIdNotFound)
  group.stableGroup('connect', 1, { protocolType: 'connect' })
  assert.equal(errorOf('connect'), ErrorCode.nonEmptyGroup)
})

test('I8: the offsets of a deleted topic go with it, and not those of the topic that has its name next', () => {
  const group = new GroupUnderTest()
  const formerId = topicIdOfT
  const newId = 'AAAAAAAAAAAAAAAAAAAAZw'
  group.offsetCommit('g1', { 0: 5, 1: 6 })
  group.offsetCommit('g2', { 0: 7 }, { retentionTimeMs: 1_000_000 }, 2)
  group.topics.set('t', { topicId: newId, partitionCount: 8 })
  group.offsetCommit('g1', { 1: 0 })
  group.perform({ type: 'topicsDeleted', topics: [{ name: 't', topicId: formerId }] })
  assert.deepEqual(group.fetchedOffsets('g1', [0, 1]), [-1, 0])
  assert.deepEqual(group.fetchedOffsets('g2', [0]), [-1], 'what does not say which topic it is of goes too')
  group.reload()
  assert.deepEqual(group.fetchedOffsets('g1', [0, 1]), [-1, 0])
})

test('I8: an offset of a former topic is none of the one that has its name now, though it could not be removed', () => {
  const group = new GroupUnderTest()
  group.offsetCommit('g', { 0: 5 })
  group.log.refusal = ErrorCode.notEnoughReplicas
  group.topics.set('t', { topicId: 'AAAAAAAAAAAAAAAAAAAAZw', partitionCount: 8 })
  group.perform({ type: 'topicsDeleted', topics: [{ name: 't', topicId: topicIdOfT }] })
  assert.deepEqual(group.fetchedOffsets('g', [0]), [-1])
})

test('offsets of topics that were deleted while no coordinator was there go when it is told to look', () => {
  const group = new GroupUnderTest()
  group.topics.set('u', { topicId: 'AAAAAAAAAAAAAAAAAAAAZg', partitionCount: 1 })
  group.offsetCommit('g', { 0: 5 })
  group.offsetCommit('g', {}, { topics: [{ name: 'u', topicId: zeroUuid, partitions: [commitOf(0, 7)] }] })
  group.topics.set('u', { topicId: 'AAAAAAAAAAAAAAAAAAAAaA', partitionCount: 1 })
  group.perform({ type: 'removeStaleOffsets' })
  assert.deepEqual(
    group.fetch('g', null).map(({ name }) => name),
    ['t'],
  )
})

test('removing very many offsets goes over several batches', () => {
  const group = new GroupUnderTest()
  group.topics.set('t', { topicId: topicIdOfT, partitionCount: 500 })
  for (let i = 0; i < 500; i += 50) {
    group.offsetCommit('g', Object.fromEntries(Array.from({ length: 50 }, (_, j) => [i + j, 1])))
  }
  group.log.maxBatchBytes = 4000
  const batches = group.log.batches.length
  group.perform({ type: 'topicsDeleted', topics: [{ name: 't', topicId: topicIdOfT }] })
  assert.ok(group.log.batches.length > batches + 1)
  assert.deepEqual(group.fetch('g', null), [])
  assert.equal(group.coordinator.offsetCount, 0)
})
