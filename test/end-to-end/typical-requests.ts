import assert from 'node:assert/strict'
import { ErrorCode } from '../../src/base/error-code.ts'
import { zeroUuid } from '../../src/base/uuid.ts'
import type { Fields, Infer, Input, Message } from '../../src/protocol/schema.ts'
import { api } from './api.ts'
import type { Call, RawClient } from './raw-client.ts'
import {
  append,
  assignment,
  batchOf,
  createTopic,
  fetchBody,
  join,
  joinBody,
  type Place,
  produceBody,
  soleMember,
  valuesOf,
} from './requests.ts'

const { none } = ErrorCode

/** What requests find on a broker. */
export interface World {
  readonly client: RawClient
  /** What a topic or group of that name is called here. */
  named(name: string): string
  /** Creates a topic that can be used when this resolves. */
  createTopic: typeof createTopic
  readonly clusterId: string
  readonly nodeId: number
  readonly port: number
  /** Two partitions; partition 0 has the records 'one', 'two' and 'three' in two batches. */
  readonly orders: Required<Place>
  /** A stable group of one member that has committed offset 2 of orders-0. */
  readonly groupId: string
}

export async function makeWorld(
  client: RawClient,
  port: number,
  surroundings: Pick<World, 'named' | 'createTopic'> = { named: name => name, createTopic },
): Promise<World> {
  const { named } = surroundings
  const orders = await surroundings.createTopic(client, named('orders'), { partitions: 2 })
  await append(client, orders, ['one', 'two'])
  await append(client, orders, ['three'])
  const { clusterId, brokers } = await client.call(api.metadata, 12, { topics: [] })
  await untilCoordinated(client, named('typical'))
  const { groupId, memberId, generationId } = await soleMember(client, named('typical'), {
    topics: [orders.topic],
    sessionTimeoutMs: 600_000,
  })
  await client.call(api.offsetCommit, 9, {
    ...{ groupId, memberId, generationIdOrMemberEpoch: generationId },
    topics: [{ name: orders.topic, partitions: [{ partitionIndex: 0, committedOffset: 2, committedMetadata: 'two' }] }],
  })
  return { client, ...surroundings, clusterId: clusterId!, nodeId: brokers[0].nodeId, port, orders, groupId }
}

/** Kafka creates the groups' topic when it is first asked, and answers before it has. */
export async function untilCoordinated(client: RawClient, groupId: string): Promise<void> {
  for (let tries = 0; tries < 200; tries++) {
    const { errorCode } = await client.call(api.findCoordinator, 0, { key: groupId })
    const { errorCode: fetchError } = await client.call(api.offsetFetch, 7, { groupId, topics: null })
    if (errorCode === none && fetchError === none) return
    await new Promise(resolve => setTimeout(resolve, 50))
  }
  assert.fail('no coordinator')
}

/** One API with a request that its clients send often, and what makes sense as an answer. */
export interface Typical {
  /** Of the API, and what is special about the request if there is something. */
  readonly name: string
  readonly call: Call
  /** The versions in which it makes sense. */
  readonly from: number
  readonly to: number
  /** A new request each time; topics and groups of its own are named for the version. */
  body(version: number, world: World): Promise<unknown>
  check(answer: unknown, version: number, world: World): void
}

export function typical<Q extends Fields, A extends Fields>(
  call: Call<Q, A>,
  body: (version: number, world: World) => Input<Message<Q>> | Promise<Input<Message<Q>>>,
  check: (answer: Infer<Message<A>>, version: number, world: World) => void,
  about: { readonly about?: string; readonly from?: number; readonly to?: number } = {},
): Typical {
  const api = call.request.name.replace('Request', '')
  return {
    name: about.about === undefined ? api : `${api}, ${about.about},`,
    call: call as unknown as Call,
    from: about.from ?? call.request.minVersion,
    to: about.to ?? call.request.maxVersion,
    body: async (version, world) => await body(version, world),
    check: (answer, version, world) => check(answer as Infer<Message<A>>, version, world),
  }
}

/** The topic as a version names it. */
export function topicAs(version: number, firstWithIds: number, { topic, topicId }: Required<Place>) {
  return version >= firstWithIds ? { topicId } : { name: topic }
}

export async function freshTopic(
  world: World,
  api: string,
  version: number,
  options: Parameters<typeof createTopic>[2] = {},
): Promise<Required<Place>> {
  return await world.createTopic(world.client, world.named(`${api}-${version}`), options)
}

export const typicalRequests: readonly Typical[] = [
  typical(
    api.produce,
    async (version, world) =>
      produceBody(await freshTopic(world, 'produce', version), batchOf(['a', 'b'], { timestamp: 1_700_000_000_000 }), {
        version,
      }),
    ({ responses }, version) => {
      const [{ name, topicId, partitionResponses }] = responses
      assert.equal(name === '', version >= 13)
      assert.equal(topicId === zeroUuid, version < 13)
      const [{ errorCode, baseOffset, logAppendTimeMs, logStartOffset }] = partitionResponses
      assert.deepEqual(
        { errorCode, baseOffset, logAppendTimeMs, logStartOffset },
        { errorCode: none, baseOffset: 0, logAppendTimeMs: -1, logStartOffset: version >= 5 ? 0 : -1 },
      )
    },
  ),
  typical(
    api.fetch,
    (version, world) => fetchBody([world.orders], { version, sessionEpoch: version >= 7 ? 0 : -1 }),
    ({ responses, sessionId, errorCode }, version, { orders }) => {
      assert.equal(errorCode, none)
      assert.equal(sessionId !== 0, version >= 7)
      assert.equal(responses[0].topicId, version >= 13 ? orders.topicId : zeroUuid)
      assert.equal(responses[0].topic, version >= 13 ? '' : orders.topic)
      const [partition] = responses[0].partitions
      assert.equal(partition.errorCode, none)
      assert.equal(partition.highWatermark, 3)
      assert.equal(partition.lastStableOffset, 3)
      assert.equal(partition.logStartOffset, version >= 5 ? 0 : -1)
      assert.equal(partition.preferredReadReplica, -1)
      assert.deepEqual(valuesOf(partition.records), ['one', 'two', 'three'])
    },
  ),
  typical(
    api.listOffsets,
    (_, { orders }) => ({
      replicaId: -1,
      topics: [{ name: orders.topic, partitions: [{ partitionIndex: 0, timestamp: -1n }] }],
    }),
    ({ topics }, version) => {
      const [{ errorCode, offset, timestamp, leaderEpoch }] = topics[0].partitions
      assert.deepEqual({ errorCode, offset, timestamp }, { errorCode: none, offset: 3, timestamp: -1n })
      assert.equal(leaderEpoch, version >= 4 ? 0 : -1)
    },
  ),
  typical(
    api.metadata,
    (_, { orders }) => ({ topics: [{ name: orders.topic }] }),
    ({ topics, brokers, clusterId, controllerId }, version, world) => {
      const { orders, nodeId } = world
      assert.deepEqual(
        brokers.map(broker => [broker.nodeId, broker.port]),
        [[nodeId, world.port]],
      )
      assert.equal(clusterId, version >= 2 ? world.clusterId : null)
      assert.equal(controllerId, version >= 1 ? nodeId : -1)
      assert.deepEqual([topics[0].name, topics[0].errorCode], [orders.topic, none])
      assert.equal(topics[0].topicId, version >= 10 ? orders.topicId : zeroUuid)
      assert.deepEqual(
        topics[0].partitions.map(({ errorCode, leaderId, replicaNodes, isrNodes }) => ({
          ...{ errorCode, leaderId, replicaNodes, isrNodes },
        })),
        [0, 1].map(() => ({ errorCode: none, leaderId: nodeId, replicaNodes: [nodeId], isrNodes: [nodeId] })),
      )
    },
  ),
  typical(
    api.offsetCommit,
    (version, { orders, named }) => ({
      groupId: named(`offset-commit-${version}`),
      memberId: '',
      topics: [
        {
          ...topicAs(version, 10, orders),
          partitions: [{ partitionIndex: 1, committedOffset: 5, committedMetadata: 'note' }],
        },
      ],
    }),
    ({ topics }, version, { orders }) => {
      assert.deepEqual(topics[0].partitions, [{ partitionIndex: 1, errorCode: none }])
      assert.equal(topics[0].name, version >= 10 ? '' : orders.topic)
    },
  ),
  typical(
    api.offsetFetch,
    (version, { groupId, orders }) => {
      const topic = { ...topicAs(version, 10, orders), partitionIndexes: [0, 1] }
      if (version >= 8) return { groups: [{ groupId, topics: [topic] }] }
      return { groupId, topics: [{ name: orders.topic, partitionIndexes: [0, 1] }] }
    },
    ({ topics, groups, errorCode }, version) => {
      assert.equal(errorCode, none)
      const [{ partitions }] = version >= 8 ? groups[0].topics : topics
      assert.deepEqual(
        partitions.map(partition => [partition.committedOffset, partition.metadata, partition.errorCode]),
        [
          [2, 'two', none],
          [-1, '', none],
        ],
      )
    },
  ),
  typical(
    api.findCoordinator,
    (version, { groupId }) => (version >= 4 ? { coordinatorKeys: [groupId, 'other'] } : { key: groupId }),
    (answer, version, { nodeId, port }) => {
      const found = version >= 4 ? answer.coordinators : [answer]
      assert.equal(found.length, version >= 4 ? 2 : 1)
      for (const one of found) assert.deepEqual([one.errorCode, one.nodeId, one.port], [none, nodeId, port])
    },
  ),
  typical(
    api.joinGroup,
    (version, { orders, named }) => joinBody(named(`join-group-${version}`), { version, topics: [orders.topic] }),
    ({ errorCode, memberId, generationId, members, leader, protocolType, protocolName }, version) => {
      assert.match(memberId, /^raw-/)
      if (version >= 4) {
        assert.equal(errorCode, ErrorCode.memberIdRequired)
        assert.deepEqual(members, [])
        return
      }
      assert.deepEqual(
        { errorCode, generationId, protocolName },
        { errorCode: none, generationId: 1, protocolName: 'range' },
      )
      assert.equal(leader, memberId)
      assert.equal(protocolType, version >= 7 ? 'consumer' : null)
      assert.deepEqual(
        members.map(member => member.memberId),
        [memberId],
      )
    },
  ),
  typical(
    api.heartbeat,
    async (version, { client, named }) => await soleMember(client, named(`heartbeat-${version}`)),
    ({ errorCode }) => assert.equal(errorCode, none),
  ),
  typical(
    api.leaveGroup,
    async (version, { client, named }) => {
      const { groupId, memberId } = await soleMember(client, named(`leave-group-${version}`))
      return version >= 3 ? { groupId, members: [{ memberId }] } : { groupId, memberId }
    },
    ({ errorCode, members }, version) => {
      assert.equal(errorCode, none)
      assert.deepEqual(
        members.map(member => member.errorCode),
        version >= 3 ? [none] : [],
      )
    },
  ),
  typical(
    api.syncGroup,
    async (version, { client, named }) => {
      const groupId = named(`sync-group-${version}`)
      const { memberId, generationId } = await join(client, groupId)
      return {
        ...{ groupId, memberId, generationId },
        ...(version >= 5 ? { protocolType: 'consumer', protocolName: 'range' } : {}),
        assignments: [{ memberId, assignment: assignment({ orders: [0] }) }],
      }
    },
    (answer, version) => {
      assert.equal(answer.errorCode, none)
      assert.equal(answer.protocolName, version >= 5 ? 'range' : null)
      assert.deepEqual(answer.assignment, assignment({ orders: [0] }))
    },
  ),
  typical(
    api.describeGroups,
    (version, { groupId }) => ({ groups: [groupId], ...(version >= 3 ? { includeAuthorizedOperations: true } : {}) }),
    ({ groups }, version, { groupId }) => {
      const [group] = groups
      assert.deepEqual(
        [group.errorCode, group.groupId, group.groupState, group.protocolType, group.protocolData],
        [none, groupId, 'Stable', 'consumer', 'range'],
      )
      assert.deepEqual(
        group.members.map(member => [member.clientId, member.clientHost]),
        [['raw', '/127.0.0.1']],
      )
      assert.equal(group.authorizedOperations > 0, version >= 3)
    },
  ),
  typical(
    api.listGroups,
    version => (version >= 4 ? { statesFilter: ['Stable'] } : {}),
    ({ errorCode, groups }, version, { groupId }) => {
      assert.equal(errorCode, none)
      const group = groups.find(one => one.groupId === groupId)
      assert.ok(group)
      assert.equal(group.protocolType, 'consumer')
      assert.equal(group.groupState, version >= 4 ? 'Stable' : '')
      assert.equal(group.groupType, version >= 5 ? 'classic' : '')
    },
  ),
  typical(
    api.apiVersions,
    version => (version >= 3 ? { clientSoftwareName: 'raw', clientSoftwareVersion: '1.0' } : {}),
    ({ errorCode, apiKeys }, _) => {
      assert.equal(errorCode, none)
      assert.deepEqual(
        apiKeys.find(one => one.apiKey === 18),
        { apiKey: 18, minVersion: 0, maxVersion: 5 },
      )
    },
  ),
  typical(
    api.createTopics,
    (version, { named }) => ({
      topics: [
        {
          ...{ name: named(`create-topics-${version}`), numPartitions: 2, replicationFactor: 1, assignments: [] },
          configs: [{ name: 'retention.ms', value: '1000' }],
        },
      ],
    }),
    ({ topics }, version, { named }) => {
      const [{ errorCode, name, topicId, numPartitions, replicationFactor, configs }] = topics
      assert.deepEqual([errorCode, name], [none, named(`create-topics-${version}`)])
      assert.equal(topicId === zeroUuid, version < 7)
      assert.deepEqual([numPartitions, replicationFactor], version >= 5 ? [2, 1] : [-1, -1])
      const retention = configs?.find(config => config.name === 'retention.ms')
      assert.equal(retention?.value, version >= 5 ? '1000' : undefined)
    },
  ),
  typical(
    api.deleteTopics,
    async (version, world) => {
      const { topic, topicId } = await freshTopic(world, 'delete-topics', version)
      const timeoutMs = 10_000
      return version >= 6 ? { topics: [{ name: null, topicId }], timeoutMs } : { topicNames: [topic], timeoutMs }
    },
    ({ responses }, version, { named }) => {
      assert.deepEqual(
        responses.map(one => [one.name, one.errorCode]),
        [[named(`delete-topics-${version}`), none]],
      )
    },
  ),
  typical(
    api.deleteRecords,
    async (version, world) => {
      const place = await freshTopic(world, 'delete-records', version)
      await append(world.client, place, ['a', 'b'])
      return { topics: [{ name: place.topic, partitions: [{ partitionIndex: 0, offset: 1 }] }], timeoutMs: 10_000 }
    },
    ({ topics }) => {
      assert.deepEqual(topics[0].partitions, [{ partitionIndex: 0, lowWatermark: 1, errorCode: none }])
    },
  ),
  typical(
    api.initProducerId,
    () => ({ transactionalId: null, transactionTimeoutMs: 1000 }),
    ({ errorCode, producerId, producerEpoch }) => {
      assert.deepEqual([errorCode, producerEpoch], [none, 0])
      assert.ok(producerId >= 0)
    },
  ),
  typical(
    api.offsetForLeaderEpoch,
    (_, { orders }) => ({
      replicaId: -1,
      topics: [{ topic: orders.topic, partitions: [{ partition: 0, leaderEpoch: 0 }] }],
    }),
    ({ topics }) => {
      assert.deepEqual(topics[0].partitions, [{ errorCode: none, partition: 0, leaderEpoch: 0, endOffset: 3 }])
    },
  ),
  typical(
    api.describeConfigs,
    (version, { orders }) => ({
      resources: [{ resourceType: 2, resourceName: orders.topic, configurationKeys: ['retention.ms'] }],
      includeSynonyms: true,
      ...(version >= 3 ? { includeDocumentation: true } : {}),
    }),
    ({ results }, version) => {
      const [{ errorCode, configs }] = results
      assert.equal(errorCode, none)
      assert.deepEqual(
        configs.map(({ name, value, configSource }) => [name, value, configSource]),
        [['retention.ms', '604800000', 5]],
      )
      assert.equal(configs[0].configType, version >= 3 ? 5 : 0)
      assert.equal(configs[0].documentation !== null && configs[0].documentation.length > 0, version >= 3)
    },
  ),
  typical(
    api.alterConfigs,
    async (version, world) => ({
      resources: [
        {
          ...{ resourceType: 2, resourceName: (await freshTopic(world, 'alter-configs', version)).topic },
          configs: [{ name: 'retention.ms', value: '1000' }],
        },
      ],
      validateOnly: false,
    }),
    ({ responses }) => assert.deepEqual([responses[0].errorCode, responses[0].errorMessage], [none, null]),
  ),
  typical(
    api.createPartitions,
    async (version, world) => ({
      topics: [{ name: (await freshTopic(world, 'create-partitions', version)).topic, count: 3, assignments: null }],
      timeoutMs: 10_000,
      validateOnly: false,
    }),
    ({ results }, version, { named }) => {
      assert.deepEqual(results, [{ name: named(`create-partitions-${version}`), errorCode: none, errorMessage: null }])
    },
  ),
  typical(
    api.deleteGroups,
    async (version, { client, orders, named }) => {
      const groupId = named(`delete-groups-${version}`)
      await client.call(api.offsetCommit, 2, {
        groupId,
        memberId: '',
        topics: [
          { name: orders.topic, partitions: [{ partitionIndex: 0, committedOffset: 1, committedMetadata: null }] },
        ],
      })
      return { groupsNames: [groupId] }
    },
    ({ results }, version, { named }) => {
      assert.deepEqual(
        results.map(one => [one.groupId, one.errorCode]),
        [[named(`delete-groups-${version}`), none]],
      )
    },
  ),
  typical(
    api.incrementalAlterConfigs,
    async (version, world) => ({
      resources: [
        {
          ...{ resourceType: 2, resourceName: (await freshTopic(world, 'incremental-alter-configs', version)).topic },
          configs: [{ name: 'retention.ms', configOperation: 0, value: '1000' }],
        },
      ],
      validateOnly: false,
    }),
    ({ responses }) => assert.equal(responses[0].errorCode, none),
  ),
  typical(
    api.offsetDelete,
    async (version, { client, orders, named }) => {
      const groupId = named(`offset-delete-${version}`)
      await client.call(api.offsetCommit, 2, {
        groupId,
        memberId: '',
        topics: [
          { name: orders.topic, partitions: [{ partitionIndex: 0, committedOffset: 1, committedMetadata: null }] },
        ],
      })
      return { groupId, topics: [{ name: orders.topic, partitions: [{ partitionIndex: 0 }] }] }
    },
    ({ errorCode, topics }) => {
      assert.equal(errorCode, none)
      assert.deepEqual(topics[0].partitions, [{ partitionIndex: 0, errorCode: none }])
    },
  ),
  typical(
    api.updateFeatures,
    version => ({
      featureUpdates: [{ feature: 'metadata.version', maxVersionLevel: 33 }],
      ...(version >= 1 ? { validateOnly: true } : {}),
    }),
    ({ errorCode }) => assert.equal(errorCode, none),
  ),
  typical(
    api.describeCluster,
    () => ({ includeClusterAuthorizedOperations: true }),
    ({ errorCode, clusterId, controllerId, brokers, clusterAuthorizedOperations, endpointType }, _, world) => {
      assert.deepEqual([errorCode, clusterId, controllerId], [none, world.clusterId, world.nodeId])
      assert.deepEqual(
        brokers.map(broker => [broker.brokerId, broker.port, broker.isFenced]),
        [[world.nodeId, world.port, false]],
      )
      assert.ok(clusterAuthorizedOperations > 0)
      assert.equal(endpointType, 1)
    },
  ),
  typical(
    api.describeTopicPartitions,
    (_, { orders }) => ({ topics: [{ name: orders.topic }] }),
    ({ topics, nextCursor }, _, { orders, nodeId }) => {
      assert.equal(nextCursor, null)
      assert.deepEqual([topics[0].errorCode, topics[0].topicId], [none, orders.topicId])
      assert.deepEqual(
        topics[0].partitions.map(({ partitionIndex, leaderId }) => [partitionIndex, leaderId]),
        [
          [0, nodeId],
          [1, nodeId],
        ],
      )
    },
  ),
]
