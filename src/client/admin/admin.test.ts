import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ErrorCode } from '../../base/error-code.ts'
import { encodeAssignment, encodeSubscription } from '../../protocol/consumer-protocol.ts'
import { ClientWorld } from '../fixtures/client-world.ts'
import type { FakeRequest } from '../fixtures/fake-cluster.ts'
import type { MillraceError } from '../millrace-error.ts'
import { allSucceeded } from './admin-result.ts'

/** Answers by API; a function is asked, and may leave the request to the broker. */
type Answers = Record<string, object | ((request: FakeRequest) => object | undefined)>

async function adminWorld(answers: Answers, nodes = 3) {
  const base = await ClientWorld.make({ nodes })
  const { cluster, client, world } = base
  cluster.mischief = request => {
    const answer = answers[request.api]
    const body = typeof answer === 'function' ? answer(request) : answer
    return body === undefined ? undefined : { type: 'answer', body }
  }
  return { cluster, world, admin: client.admin(), finish: <T>(promise: Promise<T>) => base.finish(promise) }
}

const codes = (results: readonly { error: MillraceError | undefined }[]) => results.map(({ error }) => error?.code)
/** Where and how often an API was asked. */
const nodesAsked = (requests: readonly FakeRequest[]) => requests.map(({ nodeId }) => nodeId)

/** CreateTopics as a controller does it. */
function createAnswer({ body }: FakeRequest, errorOf: (name: string) => ErrorCode): object {
  const topics = body.topics.map(({ name, numPartitions }: { name: string; numPartitions: number }) => {
    const errorCode = errorOf(name)
    return {
      name,
      errorCode,
      topicId: 'AAAAAAAAAAAAAAAAAAAACQ',
      numPartitions,
      replicationFactor: 1,
      errorMessage: null,
    }
  })
  return { topics }
}

test('topics are created by the controller, each with its own result, in the order of the call', async () => {
  const { admin, cluster, finish } = await adminWorld({
    CreateTopics: request =>
      createAnswer(request, name => (name === 'old' ? ErrorCode.topicAlreadyExists : ErrorCode.none)),
  })
  const results = await finish(
    admin.createTopics([
      { name: 'new', partitions: 3, configs: { 'retention.ms': '5' } },
      { name: 'old' },
      {
        name: 'by-hand',
        assignments: [
          [1, 2],
          [2, 3],
        ],
      },
    ]),
  )
  assert.deepEqual(codes(results), [undefined, 'TOPIC_ALREADY_EXISTS', undefined])
  assert.deepEqual([results[0].partitions, results[0].topicId], [3, 'AAAAAAAAAAAAAAAAAAAACQ'])
  assert.match(results[1].error!.message, /topic old: TOPIC_ALREADY_EXISTS. Use it, or delete it first/)
  const [{ body, nodeId }] = cluster.asked('CreateTopics')
  assert.equal(nodeId, 1)
  assert.deepEqual(
    body.topics.map((topic: object) => ({ ...topic })),
    [
      {
        name: 'new',
        numPartitions: 3,
        replicationFactor: -1,
        assignments: [],
        configs: [{ name: 'retention.ms', value: '5' }],
      },
      { name: 'old', numPartitions: -1, replicationFactor: -1, assignments: [], configs: [] },
      {
        name: 'by-hand',
        numPartitions: -1,
        replicationFactor: -1,
        assignments: [
          { partitionIndex: 0, brokerIds: [1, 2] },
          { partitionIndex: 1, brokerIds: [2, 3] },
        ],
        configs: [],
      },
    ],
  )
  assert.throws(() => allSucceeded(results), { code: 'TOPIC_ALREADY_EXISTS' })
  assert.equal(allSucceeded(results.slice(0, 1))[0].partitions, 3)
})

test('who is not the controller is left for who is; only what failed is asked again', async () => {
  let controllerId = 2
  const { admin, cluster, finish } = await adminWorld({
    Metadata: ({ body }) => ({
      brokers: cluster.nodes.map(({ nodeId }) => cluster.endpointOf(nodeId)),
      controllerId,
      topics: (body.topics ?? []).map(({ name }: { name: string }) => ({ errorCode: 3, name, partitions: [] })),
    }),
    CreateTopics: request => {
      const isController = request.nodeId === 3
      controllerId = 3
      return createAnswer(request, name =>
        isController || name === 'lucky' ? ErrorCode.none : ErrorCode.notController,
      )
    },
  })
  const results = await finish(admin.createTopics([{ name: 'a' }, { name: 'lucky' }, { name: 'b' }]))
  assert.deepEqual(codes(results), [undefined, undefined, undefined])
  assert.deepEqual(nodesAsked(cluster.asked('CreateTopics')), [2, 3])
  const again = cluster.asked('CreateTopics')[1].body.topics
  assert.deepEqual(
    again.map(({ name }: { name: string }) => name),
    ['a', 'b'],
  )
})

test('what does not pass in time keeps its own error; what is final is not tried again', async () => {
  const { admin, cluster, world, finish } = await adminWorld({
    CreateTopics: request =>
      createAnswer(request, name => (name === 'a' ? ErrorCode.notController : ErrorCode.invalidConfig)),
  })
  const before = world.nowMs
  const results = await finish(admin.createTopics([{ name: 'a' }, { name: 'b' }], { timeoutMs: 3000 }))
  assert.deepEqual(codes(results), ['NOT_CONTROLLER', 'INVALID_CONFIG'])
  assert.ok(world.nowMs - before <= 3010)
  const askedForB = cluster
    .asked('CreateTopics')
    .filter(({ body }) => body.topics.some((t: { name: string }) => t.name === 'b'))
  assert.equal(askedForB.length, 1)
})

test('a broker that has no more to say than the name of the error does not say it twice', async () => {
  const errorMessage = 'KAFKA_STORAGE_ERROR'
  const { admin, finish } = await adminWorld({
    CreateTopics: request => {
      const topics = request.body.topics.map(({ name }: { name: string }) => {
        return { name, errorCode: ErrorCode.kafkaStorageError, errorMessage, topicId: 'AAAAAAAAAAAAAAAAAAAACQ' }
      })
      return { throttleTimeMs: 0, topics }
    },
  })
  const [{ error }] = await finish(admin.createTopics([{ name: 'a' }], { timeoutMs: 1000 }))
  assert.match(error?.message ?? '', /^topic a: KAFKA_STORAGE_ERROR\. A disk of the broker is full or has failed/)
})

test('a time that no request could say is the longest that it can', async () => {
  const { admin, cluster, finish } = await adminWorld({
    CreateTopics: request => createAnswer(request, () => ErrorCode.none),
  })
  const timeoutMs = Number.POSITIVE_INFINITY
  assert.deepEqual(codes(await finish(admin.createTopics([{ name: 'a' }], { timeoutMs }))), [undefined])
  const [{ body }] = cluster.asked('CreateTopics')
  assert.ok(body.timeoutMs > 2_000_000_000 && body.timeoutMs < 2 ** 31)
})

test('a controller that cannot be reached fails each resource with the reason', async () => {
  const { admin, cluster, finish } = await adminWorld({})
  await finish(admin.describeCluster({ timeoutMs: 100 }).catch(() => undefined))
  for (const { host } of cluster.nodes) host.crash('kill')
  const results = await finish(admin.deleteTopics(['a', { topicId: 'AAAAAAAAAAAAAAAAAAAACQ' }], { timeoutMs: 2000 }))
  assert.deepEqual(codes(results), ['TIMED_OUT', 'TIMED_OUT'])
  assert.match(results[0].error!.message, /broker-\d/)
})

test('what may have been done by a call whose answer got lost is said to be unknown', async () => {
  const { admin, cluster, finish } = await adminWorld({})
  let tries = 0
  cluster.mischief = request => {
    if (request.api !== 'CreateTopics') return undefined
    if (tries++ === 0) return { type: 'close' }
    return { type: 'answer', body: createAnswer(request, () => ErrorCode.topicAlreadyExists) }
  }
  const [result] = await finish(admin.createTopics([{ name: 'a' }]))
  assert.deepEqual([result.error?.code, result.error?.outcomeUnknown], ['TOPIC_ALREADY_EXISTS', true])
})

test('topics are deleted by name or id', async () => {
  const { admin, cluster, finish } = await adminWorld({
    DeleteTopics: ({ body }) => ({
      responses: body.topics.map(({ name, topicId }: { name: string; topicId: string }) => ({
        name,
        topicId,
        errorCode: name === 'gone' ? ErrorCode.unknownTopicOrPartition : ErrorCode.none,
      })),
    }),
  })
  const results = await finish(admin.deleteTopics(['a', { topicId: 'AAAAAAAAAAAAAAAAAAAACQ' }, 'gone']))
  assert.deepEqual(codes(results), [undefined, undefined, 'UNKNOWN_TOPIC_OR_PARTITION'])
  assert.deepEqual(
    results.map(({ name, topicId }) => [name, topicId]),
    [
      ['a', undefined],
      [undefined, 'AAAAAAAAAAAAAAAAAAAACQ'],
      ['gone', undefined],
    ],
  )
  assert.equal(cluster.asked('DeleteTopics').length, 1, 'that a topic is not there is an answer')
})

test('offsets are asked of the leaders, also two of one partition', async () => {
  const { admin, cluster, finish } = await adminWorld({})
  cluster.addTopic('t', 3)
  const results = await finish(
    admin.listOffsets([
      { topic: 't', partition: 0, spec: 'earliest' },
      { topic: 't', partition: 0, spec: 'latest' },
      { topic: 't', partition: 1, spec: 'latest' },
      { topic: 't', partition: 2, spec: { timestamp: 7n } },
      { topic: 't', partition: 9, spec: 'latest' },
      { topic: 'nowhere', partition: 0, spec: 'latest' },
    ]),
  )
  assert.deepEqual(
    results.map(({ offset, error }) => offset ?? error?.code),
    [0, 0, 0, -1, 'UNKNOWN_TOPIC_OR_PARTITION', 'UNKNOWN_TOPIC_OR_PARTITION'],
  )
  const asked = cluster.asked('ListOffsets')
  assert.deepEqual(nodesAsked(asked).sort(), [1, 1, 2, 3])
  assert.ok(asked.every(({ body }) => body.topics[0].partitions.length === 1))
})

test('a leader that has moved is found', async () => {
  const { admin, cluster, finish } = await adminWorld({
    DeleteRecords: ({ nodeId }) => {
      if (nodeId === 1) cluster.topics.get('t')!.partitions[0].leaderId = 2
      const errorCode = nodeId === 1 ? ErrorCode.notLeaderOrFollower : ErrorCode.none
      return { topics: [{ name: 't', partitions: [{ partitionIndex: 0, lowWatermark: 5, errorCode }] }] }
    },
  })
  cluster.addTopic('t', 1)
  const [result] = await finish(admin.deleteRecords([{ topic: 't', partition: 0, beforeOffset: 5 }]))
  assert.deepEqual([result.error, result.logStartOffset], [undefined, 5])
  // The old leader may be asked once more while newer metadata is on its way.
  assert.deepEqual([...new Set(nodesAsked(cluster.asked('DeleteRecords')))], [1, 2])
})

test('a large topic is described page by page', async () => {
  const pages = [
    { partitions: [0, 1], nextCursor: { topicName: 't', partitionIndex: 2 } },
    { partitions: [2], nextCursor: null },
  ]
  let page = 0
  const { admin, cluster, finish } = await adminWorld({
    DescribeTopicPartitions: () => {
      const { partitions, nextCursor } = pages[page++]
      const described = partitions.map(partitionIndex => ({
        errorCode: 0,
        partitionIndex,
        leaderId: 1,
        replicaNodes: [1],
        isrNodes: [1],
        eligibleLeaderReplicas: [],
        lastKnownElr: null,
      }))
      const missing = { errorCode: ErrorCode.unknownTopicOrPartition, name: 'u', partitions: [] }
      return { topics: [{ errorCode: 0, name: 't', partitions: described }, missing], nextCursor }
    },
  })
  const results = await finish(admin.describeTopics(['t', 'u']))
  assert.deepEqual(codes(results), [undefined, 'UNKNOWN_TOPIC_OR_PARTITION'])
  assert.deepEqual(
    results[0].partitions?.map(({ partition, elr }) => [partition, elr]),
    [
      [0, []],
      [1, []],
      [2, []],
    ],
  )
  assert.deepEqual(cluster.asked('DescribeTopicPartitions')[1].body.cursor, { topicName: 't', partitionIndex: 2 })
})

test('a page that never ends does', async () => {
  const nextCursor = { topicName: 't', partitionIndex: 2 }
  const { admin, cluster, finish } = await adminWorld({
    DescribeTopicPartitions: { topics: [{ errorCode: 0, name: 't', partitions: [] }], nextCursor },
  })
  await finish(admin.describeTopics(['t']))
  assert.equal(cluster.asked('DescribeTopicPartitions').length, 2)
})

test('older brokers describe topics and themselves by metadata, and create nothing', async () => {
  const { admin, cluster, finish } = await adminWorld({})
  cluster.autoCreatePartitions = 1
  cluster.addTopic('t', 2)
  for (const { maxVersions } of cluster.nodes)
    Object.assign(maxVersions, { DescribeTopicPartitions: -1, DescribeCluster: -1 })
  const results = await finish(admin.describeTopics(['t', 'u']))
  assert.deepEqual(codes(results), [undefined, 'UNKNOWN_TOPIC_OR_PARTITION'])
  assert.deepEqual(
    results[0].partitions?.map(({ leader, elr }) => [leader, elr]),
    [
      [1, undefined],
      [2, undefined],
    ],
  )
  assert.deepEqual(
    (await finish(admin.listTopics())).map(({ name, partitionCount }) => [name, partitionCount]),
    [['t', 2]],
  )
  const { clusterId, brokers } = await finish(admin.describeCluster())
  assert.deepEqual([clusterId, brokers.length], ['fake', 3])
})

test('what concerns one broker is asked of it, the rest of any', async () => {
  const { admin, cluster, finish } = await adminWorld({
    DescribeConfigs: ({ body }) => ({
      results: body.resources.map(({ resourceType, resourceName }: { resourceType: number; resourceName: string }) => ({
        errorCode: ['bad', ''].includes(resourceName) ? ErrorCode.invalidRequest : 0,
        errorMessage: null,
        resourceType,
        resourceName,
        configs: [{ name: 'x', value: '1', configSource: 5, configType: 3, documentation: null }],
      })),
    }),
  })
  const results = await finish(
    admin.describeConfigs([
      { type: 'broker', name: '2' },
      { type: 'topic', name: 't', keys: ['x'] },
      { type: 'broker', name: '3' },
      { type: 'group', name: 'bad' },
      { type: 'broker', name: '' },
    ]),
  )
  assert.deepEqual(codes(results), [undefined, undefined, undefined, 'INVALID_REQUEST', 'INVALID_REQUEST'])
  assert.match(results[3].error!.message, /^configs of group bad: /)
  assert.match(results[4].error!.message, /^configs of all brokers: /)
  const [entry] = results[1].configs!
  assert.deepEqual([entry.name, entry.value, entry.source, entry.type], ['x', '1', 'default', 'int'])
  const asked = cluster.asked('DescribeConfigs')
  assert.deepEqual(
    asked
      .flatMap(({ nodeId, body }) =>
        body.resources.map((one: { resourceName: string }) => `${one.resourceName}@${nodeId}`),
      )
      .filter((name: string) => /^[23]@/.test(name))
      .sort(),
    ['2@2', '3@3'],
  )
  assert.equal(asked.length, 3)
})

test('settings are changed one by one, or replaced', async () => {
  const well = ({ body }: FakeRequest) => ({
    responses: body.resources.map((one: object) => ({ ...one, configs: undefined, errorCode: 0, errorMessage: null })),
  })
  const { admin, cluster, finish } = await adminWorld({ IncrementalAlterConfigs: well, AlterConfigs: well })
  const changes = [
    { name: 'a', value: '1' },
    { name: 'b', operation: 'delete' },
    { name: 'c', operation: 'append', value: 'x' },
  ] as const
  assert.deepEqual(codes(await finish(admin.alterConfigs([{ type: 'topic', name: 't', changes }]))), [undefined])
  assert.deepEqual(
    cluster.asked('IncrementalAlterConfigs')[0].body.resources[0].configs.map((one: object) => Object.values(one)),
    [
      ['a', 0, '1'],
      ['b', 1, null],
      ['c', 2, 'x'],
    ],
  )
  await finish(admin.replaceConfigs([{ type: 'topic', name: 't', configs: { a: '1' } }], { validateOnly: true }))
  assert.equal(cluster.asked('AlterConfigs')[0].body.validateOnly, true)
  const nothing = admin.alterConfigs([{ type: 'topic', name: 't', changes: [{ name: 'a' }] }])
  await assert.rejects(nothing, { code: 'INVALID_ARGUMENT' })
})

test('groups are listed by all brokers, and described by their coordinators', async () => {
  const member = {
    memberId: 'm',
    clientId: 'c',
    clientHost: '/1.2.3.4',
    memberMetadata: encodeSubscription({ topics: ['t'] }),
    memberAssignment: encodeAssignment({ assignedPartitions: [{ topic: 't', partitions: [1, 2] }] }),
  }
  const odd = { ...member, memberId: 'odd', memberMetadata: Buffer.from('x'), memberAssignment: Buffer.alloc(0) }
  const { admin, cluster, finish } = await adminWorld({
    ListGroups: ({ nodeId }) => ({
      groups: [{ groupId: `g${nodeId}`, protocolType: 'consumer', groupState: 'Stable', groupType: 'classic' }],
    }),
    DescribeGroups: ({ nodeId, body }) => {
      const group = { groupId: body.groups[0], groupState: 'Stable', protocolType: 'consumer', protocolData: 'range' }
      if (nodeId === 2) return { groups: [{ ...group, members: [member, odd] }] }
      cluster.coordinatorId = 2
      return { groups: [{ ...group, errorCode: ErrorCode.notCoordinator, members: [] }] }
    },
  })
  assert.deepEqual(
    (await finish(admin.listGroups())).map(({ groupId, state }) => [groupId, state]),
    [
      ['g1', 'Stable'],
      ['g2', 'Stable'],
      ['g3', 'Stable'],
    ],
  )
  const [group] = allSucceeded(await finish(admin.describeGroups(['g'])))
  assert.deepEqual([group.coordinator, group.assignor], [2, 'range'])
  assert.deepEqual(group.members[0].subscribedTopics, ['t'])
  assert.deepEqual(group.members[0].assignment, [
    { topic: 't', partition: 1 },
    { topic: 't', partition: 2 },
  ])
  assert.deepEqual([group.members[1].subscribedTopics, group.members[1].assignment], [undefined, []])
})

test('offsets of a group are read, set and forgotten', async () => {
  const { admin, cluster, finish } = await adminWorld({
    OffsetDelete: ({ body }) => ({
      topics: body.topics.map(({ name, partitions }: { name: string; partitions: { partitionIndex: number }[] }) => ({
        name,
        partitions: partitions.map(one => ({
          ...one,
          errorCode: one.partitionIndex === 1 ? ErrorCode.groupSubscribedToTopic : 0,
        })),
      })),
    }),
  })
  cluster.addTopic('t', 2)
  const set = await finish(admin.alterGroupOffsets('g', [{ topic: 't', partition: 1, offset: 9 }]))
  assert.deepEqual(codes(set), [undefined])
  const partitions = [0, 1].map(partition => ({ topic: 't', partition }))
  const offsets = await finish(admin.listGroupOffsets('g', { partitions }))
  assert.deepEqual(
    offsets.map(({ offset }) => offset),
    [-1, 9],
  )
  const forgotten = await finish(admin.deleteGroupOffsets('g', partitions))
  assert.deepEqual(codes(forgotten), [undefined, 'GROUP_SUBSCRIBED_TO_TOPIC'])
})

test('members are removed by instance or id, each with its result', async () => {
  const { admin, cluster, finish } = await adminWorld({
    LeaveGroup: ({ body }) => ({
      members: body.members.map((one: { groupInstanceId: string | null }) => ({
        ...one,
        reason: undefined,
        errorCode: one.groupInstanceId === 'x' ? ErrorCode.unknownMemberId : 0,
      })),
    }),
  })
  const results = await finish(
    admin.removeMembers('g', [{ groupInstanceId: 'x' }, { memberId: 'm' }], { reason: 'test' }),
  )
  assert.deepEqual(codes(results), ['UNKNOWN_MEMBER_ID', undefined])
  assert.equal(cluster.asked('LeaveGroup')[0].body.members[0].reason, 'test')
})

test('groups are deleted one by one', async () => {
  const { admin, finish } = await adminWorld({
    DeleteGroups: ({ body }) => ({
      results: [
        { groupId: body.groupsNames[0], errorCode: body.groupsNames[0] === 'busy' ? ErrorCode.nonEmptyGroup : 0 },
      ],
    }),
  })
  const results = await finish(admin.deleteGroups(['idle', 'busy']))
  assert.deepEqual(codes(results), [undefined, 'NON_EMPTY_GROUP'])
  assert.match(results[1].error!.message, /group busy: NON_EMPTY_GROUP. Stop its members first/)
})

test('what a broker speaks is told, and the version in which this client speaks to it', async () => {
  const { admin, cluster, finish } = await adminWorld({})
  cluster.node(2).maxVersions.Metadata = 8
  const { apis } = await finish(admin.describeVersions({ nodeId: 2 }))
  const metadata = apis.find(({ name }) => name === 'Metadata')
  assert.deepEqual([metadata?.maxVersion, metadata?.usedVersion], [8, 8])
})
