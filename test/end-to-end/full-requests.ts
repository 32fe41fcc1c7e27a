import assert from 'node:assert/strict'
import { ErrorCode } from '../../src/base/error-code.ts'
import { zeroUuid } from '../../src/base/uuid.ts'
import { api } from './api.ts'
import { append, assignment, batchOf, fetchBody, join, joinBody, produceBody, valuesOf } from './requests.ts'
import { freshTopic, type Typical, topicAs, typical, type World } from './typical-requests.ts'

const { none } = ErrorCode

/** Of a topic that no broker has. */
const unknownId = 'AAECAwQFBgcICQoLDA0ODw'
const instance = 'instance-1'

/** A group of one static member, stable, that has orders-0 and has committed offset 2 of it in epoch 3. */
async function staticGroup({ client, orders, named }: World, name: string) {
  const groupId = named(name)
  const { memberId, generationId } = await join(client, groupId, { groupInstanceId: instance, topics: [orders.topic] })
  const who = { groupId, memberId, generationId, groupInstanceId: instance }
  const { errorCode } = await client.call(api.syncGroup, 3, {
    ...who,
    assignments: [{ memberId, assignment: assignment({ [orders.topic]: [0] }) }],
  })
  assert.equal(errorCode, none)
  return who
}

function ofVersion<T extends object>(isServed: boolean, fields: T): Partial<T> {
  return isServed ? fields : {}
}

/**
 * Requests that, together with the typical ones, have something of their own in every field, in every version that has
 * the field: where a handler reads the wrong one, or passes one over, an answer is another.
 */
export const fullRequests: readonly Typical[] = [
  typical(
    api.produce,
    async (version, world) => {
      const place = await freshTopic(world, 'full-produce', version, { partitions: 2 })
      await append(world.client, { ...place, partition: 1 }, ['before'])
      return {
        ...{ transactionalId: world.named('unused'), acks: 1, timeoutMs: 1234 },
        topicData: [{ ...topicAs(version, 13, place), partitionData: [{ index: 1, records: batchOf(['a', 'b']) }] }],
      }
    },
    ({ responses }) => {
      const [{ index, errorCode, baseOffset }] = responses[0].partitionResponses
      assert.deepEqual({ index, errorCode, baseOffset }, { index: 1, errorCode: none, baseOffset: 1 })
    },
    { about: 'of a transactional id without a transaction' },
  ),
  typical(
    api.produce,
    async (version, world) => {
      const configs = { 'cleanup.policy': 'compact' }
      const place = await freshTopic(world, 'full-produce-refused', version, { configs })
      return produceBody(place, batchOf(['a', 'b'], { key: null }), { version })
    },
    ({ responses }, version) => {
      const [{ errorCode, baseOffset, recordErrors, errorMessage }] = responses[0].partitionResponses
      assert.deepEqual([errorCode, baseOffset], [ErrorCode.invalidRecord, -1])
      assert.deepEqual(
        recordErrors.map(one => [one.batchIndex, one.batchIndexErrorMessage !== null]),
        version < 8
          ? []
          : [
              [0, true],
              [1, true],
            ],
      )
      assert.equal(errorMessage !== null, version >= 8)
    },
    { about: 'refused' },
  ),
  typical(
    api.produce,
    async (version, world) => {
      const configs = { 'message.timestamp.type': 'LogAppendTime' }
      const place = await freshTopic(world, 'full-produce-append-time', version, { configs })
      return produceBody(place, batchOf(['a']), { version })
    },
    ({ responses }) => {
      const [{ errorCode, logAppendTimeMs }] = responses[0].partitionResponses
      assert.deepEqual([errorCode, logAppendTimeMs > 1_700_000_000_000], [none, true])
    },
    { about: 'with the time of the broker' },
  ),
  typical(
    api.fetch,
    async (version, world) => {
      const { client } = world
      const place = { ...(await freshTopic(world, 'full-fetch', version, { partitions: 2 })), partition: 1 }
      await append(client, place, ['one', 'two'])
      await append(client, place, ['three'])
      const topic = version >= 13 ? { topicId: place.topicId } : { topic: place.topic }
      const session = await openSession(version, world)
      return {
        ...ofVersion(version >= 12, { clusterId: world.clusterId }),
        ...{ maxWaitMs: 10, minBytes: 1, maxBytes: 10_000, isolationLevel: 1, ...session },
        topics: [
          {
            ...topic,
            partitions: [
              {
                ...{ partition: 1, fetchOffset: 2, partitionMaxBytes: 1000 },
                ...ofVersion(version >= 5, { logStartOffset: 0 }),
                ...ofVersion(version >= 9, { currentLeaderEpoch: 0 }),
                ...ofVersion(version >= 12, { lastFetchedEpoch: 0 }),
                ...ofVersion(version >= 17, { replicaDirectoryId: unknownId }),
                ...ofVersion(version >= 18, { highWatermark: 1 }),
              },
            ],
          },
        ],
        ...ofVersion(version >= 11, { rackId: 'elsewhere' }),
      }
    },
    ({ responses, errorCode, sessionId }, version) => {
      assert.deepEqual([errorCode, sessionId !== 0, responses.length], [none, version >= 7, 1])
      const [{ partitionIndex, records, abortedTransactions, ...partition }] = responses[0].partitions
      assert.deepEqual([partitionIndex, partition.errorCode, partition.lastStableOffset], [1, none, 3])
      assert.deepEqual([valuesOf(records), abortedTransactions], [['three'], []])
    },
    { about: 'with all that a consumer can say' },
  ),
  typical(
    api.fetch,
    (version, { orders }) => ({
      ...fetchBody([orders], { version }),
      ...(version >= 15 ? { replicaState: { replicaId: 99, replicaEpoch: 5 } } : { replicaId: 99 }),
    }),
    ({ responses }, version, { nodeId }) => {
      const [{ errorCode, records, currentLeader }] = responses[0].partitions
      assert.equal(errorCode, ErrorCode.notLeaderOrFollower)
      assert.equal(records?.length, 0)
      assert.deepEqual(
        currentLeader,
        version >= 16 ? { leaderId: nodeId, leaderEpoch: 0 } : { leaderId: -1, leaderEpoch: -1 },
      )
    },
    { about: 'of a replica that the partition does not have' },
  ),
  typical(
    api.fetch,
    (version, { orders }) => {
      const [topic] = fetchBody([orders], { version, offset: 10 }).topics
      const partitions = topic.partitions.map(partition => ({ ...partition, lastFetchedEpoch: 0 }))
      return { ...fetchBody([], { version }), topics: [{ ...topic, partitions }] }
    },
    ({ responses }) => {
      const [{ errorCode, divergingEpoch, records }] = responses[0].partitions
      assert.deepEqual([errorCode, records?.length], [none, 0])
      assert.deepEqual(divergingEpoch, { epoch: 0, endOffset: 3 })
    },
    { about: 'behind records that the log never had', from: 12 },
  ),
  typical(
    api.fetch,
    (version, { orders }) => {
      const [topic] = fetchBody([orders], { version, offset: 1 }).topics
      const partitions = topic.partitions.map(partition => ({ ...partition, lastFetchedEpoch: 7 }))
      return { ...fetchBody([], { version }), topics: [{ ...topic, partitions }] }
    },
    ({ responses }) => assert.equal(responses[0].partitions[0].errorCode, ErrorCode.offsetOutOfRange),
    { about: 'after an epoch that the log never had', from: 12 },
  ),
  typical(
    api.fetch,
    (version, { orders }) => fetchBody([orders], { version, sessionId: 1, sessionEpoch: 7 }),
    ({ errorCode, responses, sessionId }) => {
      assert.deepEqual([errorCode, responses, sessionId], [ErrorCode.fetchSessionIdNotFound, [], 0])
    },
    { about: 'of a session that is not there', from: 7 },
  ),
  typical(
    api.listOffsets,
    async (version, world) => {
      const place = { ...(await freshTopic(world, 'full-list-offsets', version, { partitions: 2 })), partition: 1 }
      for (const [index, value] of ['a', 'b'].entries()) {
        const records = batchOf([value], { timestamp: 1_700_000_000_000 + index })
        const topicData = [{ name: place.topic, partitionData: [{ index: 1, records }] }]
        await world.client.call(api.produce, 9, { acks: -1, timeoutMs: 10_000, topicData })
      }
      const epoch = ofVersion(version >= 4, { currentLeaderEpoch: 0 })
      return {
        replicaId: -1,
        ...ofVersion(version >= 2, { isolationLevel: 1 }),
        topics: [{ name: place.topic, partitions: [{ partitionIndex: 1, timestamp: 1_700_000_000_001n, ...epoch }] }],
        ...ofVersion(version >= 10, { timeoutMs: 1234 }),
      }
    },
    ({ topics }, version) => {
      const leaderEpoch = version >= 4 ? 0 : -1
      assert.deepEqual(topics[0].partitions, [
        { partitionIndex: 1, errorCode: none, timestamp: 1_700_000_000_001n, offset: 1, leaderEpoch },
      ])
    },
    { about: 'by time' },
  ),
  typical(
    api.listOffsets,
    (_, { orders }) => ({
      replicaId: -1,
      topics: [{ name: orders.topic, partitions: [{ partitionIndex: 9, timestamp: -1n }] }],
    }),
    ({ topics }) => {
      const [{ partitionIndex, errorCode, offset }] = topics[0].partitions
      assert.deepEqual([partitionIndex, errorCode, offset], [9, ErrorCode.unknownTopicOrPartition, -1])
    },
    { about: 'of a partition that is not there' },
  ),
  typical(
    api.metadata,
    (version, { orders, named }) => ({
      topics: [
        { name: orders.topic },
        ...(version >= 4 ? [{ name: named('never') }] : [{ name: 'a b' }]),
        { name: '__consumer_offsets' },
      ],
      ...ofVersion(version >= 4, { allowAutoTopicCreation: false }),
      ...ofVersion(version >= 8 && version <= 10, { includeClusterAuthorizedOperations: true }),
      ...ofVersion(version >= 8, { includeTopicAuthorizedOperations: true }),
    }),
    ({ topics, brokers, clusterAuthorizedOperations }, version, { orders, named }) => {
      const byName = new Map(topics.map(topic => [topic.name, topic]))
      const found = byName.get(orders.topic)!
      assert.deepEqual([found.errorCode, found.isInternal], [none, false])
      assert.equal(found.topicAuthorizedOperations > 0, version >= 8)
      assert.equal(clusterAuthorizedOperations > 0, version >= 8 && version <= 10)
      const missing = byName.get(version >= 4 ? named('never') : 'a b')!
      assert.notEqual(missing.errorCode, none)
      assert.equal(byName.get('__consumer_offsets')?.isInternal, version >= 1)
      assert.equal(brokers[0].rack, version >= 1 ? 'rack-1' : null)
    },
    { about: 'with all that can be asked' },
  ),
  typical(
    api.metadata,
    (version, { orders }) => ({ topics: [{ name: version >= 12 ? null : '', topicId: orders.topicId }] }),
    ({ topics, errorCode }, version, { orders }) => {
      if (version >= 12) assert.deepEqual([topics[0].name, topics[0].errorCode], [orders.topic, none])
      else assert.notEqual(topics[0]?.errorCode ?? errorCode, none)
    },
    { about: 'by id', from: 10 },
  ),
  typical(
    api.offsetCommit,
    async (version, world) => {
      const { orders } = world
      const { generationId, ...who } = await staticGroup(world, `full-offset-commit-${version}`)
      const { groupId, memberId, groupInstanceId } = who
      const topic = topicAs(version, 10, orders)
      const partition = (partitionIndex: number, committedMetadata: string) => ({
        ...{ partitionIndex, committedOffset: 5, committedMetadata },
        ...ofVersion(version >= 6, { committedLeaderEpoch: 3 }),
      })
      return {
        ...{ groupId, memberId, generationIdOrMemberEpoch: generationId },
        ...ofVersion(version <= 4, { retentionTimeMs: 3_600_000 }),
        ...ofVersion(version >= 7, { groupInstanceId }),
        topics: [{ ...topic, partitions: [partition(1, 'note'), partition(0, 'x'.repeat(5000))] }],
      }
    },
    ({ topics }) => {
      assert.deepEqual(topics[0].partitions, [
        { partitionIndex: 1, errorCode: none },
        { partitionIndex: 0, errorCode: ErrorCode.offsetMetadataTooLarge },
      ])
    },
    { about: 'of a static member' },
  ),
  typical(
    api.offsetFetch,
    async (version, world) => {
      const { client, orders, named } = world
      const groupId = named(`full-offset-fetch-${version}`)
      const partition = { partitionIndex: 1, committedOffset: 5, committedLeaderEpoch: 3, committedMetadata: 'note' }
      const topics = [{ name: orders.topic, partitions: [partition] }]
      await client.call(api.offsetCommit, 9, { groupId, memberId: '', topics })
      const stable = ofVersion(version >= 7, { requireStable: true })
      if (version < 8) return { groupId, topics: [{ name: orders.topic, partitionIndexes: [1] }], ...stable }
      const group = { groupId, topics: [{ ...topicAs(version, 10, orders), partitionIndexes: [1] }] }
      return { groups: [{ ...group, ...ofVersion(version >= 9, { memberId: '', memberEpoch: 7 }) }], ...stable }
    },
    ({ topics, groups }, version) => {
      const [topic] = version >= 8 ? groups[0].topics : topics
      assert.deepEqual(topic.partitions, [
        {
          ...{ partitionIndex: 1, committedOffset: 5, committedLeaderEpoch: version >= 5 ? 3 : -1 },
          ...{ metadata: 'note', errorCode: none },
        },
      ])
    },
    { about: 'with an epoch' },
  ),
  typical(
    api.offsetFetch,
    (_, { groupId }) => ({ groups: [{ groupId, topics: [{ topicId: unknownId, partitionIndexes: [1] }] }] }),
    ({ groups }) => {
      const [{ topicId, partitions }] = groups[0].topics
      assert.deepEqual([topicId, partitions[0].errorCode], [unknownId, ErrorCode.unknownTopicId])
    },
    { about: 'of a topic that is not there', from: 10 },
  ),
  typical(
    api.findCoordinator,
    version => ({ keyType: 7, ...(version >= 4 ? { coordinatorKeys: ['k'] } : { key: 'k' }) }),
    (answer, version) => {
      const [found] = version >= 4 ? answer.coordinators : [answer]
      assert.equal(found.errorCode, ErrorCode.invalidRequest)
      assert.deepEqual([found.nodeId, found.port], [-1, -1])
    },
    { about: 'of a kind that nobody knows', from: 1 },
  ),
  typical(
    api.joinGroup,
    async (version, world) => {
      const { client, orders, named } = world
      const groupId = named(`full-join-group-${version}`)
      const topics = [orders.topic]
      const options = { version, topics, ...ofVersion(version >= 5, { groupInstanceId: instance }) }
      const { memberId } = await join(client, groupId, options)
      return { ...joinBody(groupId, { ...options, memberId }), ...ofVersion(version >= 8, { reason: 'told to' }) }
    },
    ({ errorCode, memberId, generationId, leader, members, protocolName }, version) => {
      // Still the first generation: nobody has said yet who gets what.
      assert.deepEqual([errorCode, generationId, protocolName, leader], [none, 1, 'range', memberId])
      assert.deepEqual(
        members.map(one => [one.memberId, one.groupInstanceId, one.metadata.length > 0]),
        [[memberId, version >= 5 ? instance : null, true]],
      )
    },
    { about: 'of a member that joins again' },
  ),
  typical(
    api.joinGroup,
    async (version, world) => {
      const { groupId } = await staticGroup(world, `full-join-group-back-${version}`)
      return joinBody(groupId, { version, groupInstanceId: instance, topics: [world.orders.topic] })
    },
    ({ errorCode, generationId, members, leader, memberId, skipAssignment }, version) => {
      assert.deepEqual([errorCode, generationId], [none, 1])
      assert.equal(skipAssignment, version >= 9)
      // Before version 9 the member must not take itself for a leader, or it would assign anew.
      assert.equal(leader === memberId, version >= 9)
      assert.equal(members.length, version >= 9 ? 1 : 0)
    },
    { about: 'of a static member that is back', from: 5 },
  ),
  typical(
    api.heartbeat,
    async (version, world) => {
      const { groupInstanceId, ...who } = await staticGroup(world, `full-heartbeat-${version}`)
      return { ...who, ...ofVersion(version >= 3, { groupInstanceId }) }
    },
    ({ errorCode }) => assert.equal(errorCode, none),
    { about: 'of a static member' },
  ),
  typical(
    api.heartbeat,
    (_, { groupId }) => ({ groupId, memberId: 'stranger', generationId: 1 }),
    ({ errorCode }) => assert.equal(errorCode, ErrorCode.unknownMemberId),
    { about: 'of a stranger' },
  ),
  typical(
    api.joinGroup,
    (version, { named }) => joinBody(named(`full-join-group-short-${version}`), { version, sessionTimeoutMs: 1 }),
    ({ errorCode, members }) => assert.deepEqual([errorCode, members], [ErrorCode.invalidSessionTimeout, []]),
    { about: 'of a session that is too short' },
  ),
  typical(
    api.syncGroup,
    (_, { groupId }) => ({ groupId, generationId: 1, memberId: 'stranger', assignments: [] }),
    ({ errorCode, assignment: given }) => {
      assert.deepEqual([errorCode, given.length], [ErrorCode.unknownMemberId, 0])
    },
    { about: 'of a stranger', to: 4 },
  ),
  typical(
    api.syncGroup,
    (_, { groupId }) => ({
      ...{ groupId, generationId: 1, memberId: 'stranger', protocolType: 'consumer', protocolName: 'range' },
      assignments: [],
    }),
    ({ errorCode, protocolName }) => assert.deepEqual([errorCode, protocolName], [ErrorCode.unknownMemberId, null]),
    { about: 'of a stranger', from: 5 },
  ),
  typical(
    api.leaveGroup,
    () => ({ groupId: '', members: [{ memberId: 'stranger' }] }),
    ({ errorCode }) => assert.equal(errorCode, ErrorCode.invalidGroupId),
    { about: 'of a group without a name', from: 3 },
  ),
  typical(
    api.leaveGroup,
    async (version, world) => {
      const { groupId, groupInstanceId } = await staticGroup(world, `full-leave-group-${version}`)
      if (version < 3) return { groupId, memberId: 'stranger' }
      const reason = ofVersion(version >= 5, { reason: 'done' })
      const members = [
        { memberId: '', groupInstanceId, ...reason },
        { memberId: 'stranger', ...reason },
      ]
      return { groupId, members }
    },
    ({ errorCode, members }, version) => {
      assert.equal(errorCode, version < 3 ? ErrorCode.unknownMemberId : none)
      assert.deepEqual(
        members.map(one => [one.memberId, one.groupInstanceId, one.errorCode]),
        version < 3
          ? []
          : [
              ['', instance, none],
              ['stranger', null, ErrorCode.unknownMemberId],
            ],
      )
    },
    { about: 'of a static member and a stranger' },
  ),
  typical(
    api.syncGroup,
    async (version, world) => {
      const { groupInstanceId, ...who } = await staticGroup(world, `full-sync-group-${version}`)
      return {
        ...{ ...who, ...ofVersion(version >= 3, { groupInstanceId }) },
        ...ofVersion(version >= 5, { protocolType: 'consumer', protocolName: 'range' }),
        assignments: [],
      }
    },
    ({ errorCode, assignment: given }, _, { orders }) => {
      assert.deepEqual([errorCode, given], [none, assignment({ [orders.topic]: [0] })])
    },
    { about: 'of a static member' },
  ),
  typical(
    api.describeGroups,
    async (version, world) => {
      const { groupId } = await staticGroup(world, `full-describe-groups-${version}`)
      return { groups: [groupId, world.named('no-such-group')] }
    },
    ({ groups }, version) => {
      const [known, unknown] = groups
      assert.deepEqual(
        known.members.map(member => member.groupInstanceId),
        [version >= 4 ? instance : null],
      )
      assert.equal(unknown.groupState, 'Dead')
      assert.equal(unknown.errorCode, version >= 6 ? ErrorCode.groupIdNotFound : none)
      assert.equal(unknown.errorMessage !== null, version >= 6)
    },
    { about: 'of a static member, and of no group' },
  ),
  typical(
    api.listGroups,
    () => ({ statesFilter: ['Stable', 'Empty'], typesFilter: ['consumer'] }),
    ({ errorCode, groups }) => assert.deepEqual([errorCode, groups], [none, []]),
    { about: 'of another type', from: 5 },
  ),
  typical(
    api.apiVersions,
    () => ({ clientSoftwareName: '-', clientSoftwareVersion: '1.0' }),
    ({ errorCode, apiKeys }) => assert.deepEqual([errorCode, apiKeys], [ErrorCode.invalidRequest, []]),
    { about: 'of software without a proper name', from: 3 },
  ),
  typical(
    api.apiVersions,
    (_, { clusterId, nodeId }) => ({
      ...{ clientSoftwareName: 'raw', clientSoftwareVersion: '1.0', clusterId, nodeId },
    }),
    ({ errorCode, apiKeys, finalizedFeatures }) => {
      assert.equal(errorCode, none)
      assert.ok(apiKeys.length > 20 && finalizedFeatures.length > 0)
    },
    { about: 'to the right node', from: 5 },
  ),
  typical(
    api.createTopics,
    (version, { named, nodeId }) => ({
      topics: [
        {
          ...{ name: named(`full-create-topics-${version}`), numPartitions: -1, replicationFactor: -1 },
          assignments: [0, 1, 2].map(partitionIndex => ({ partitionIndex, brokerIds: [nodeId] })),
          configs: [{ name: 'cleanup.policy', value: 'compact' }],
        },
        { name: 'a b', numPartitions: 1, replicationFactor: 1, assignments: [], configs: [] },
      ],
      timeoutMs: 1234,
      validateOnly: true,
    }),
    ({ topics }, version, { named }) => {
      const fine = topics.find(topic => topic.name === named(`full-create-topics-${version}`))!
      assert.deepEqual([fine.errorCode, fine.numPartitions], [none, version >= 5 ? 3 : -1])
      const refused = topics.find(topic => topic.name === 'a b')!
      assert.equal(refused.errorCode, ErrorCode.invalidTopicException)
      assert.ok(refused.errorMessage)
    },
    { about: 'by hand, and only to see' },
  ),
  typical(
    api.deleteTopics,
    async (version, world) => {
      const { topic } = await freshTopic(world, 'full-delete-topics', version)
      const names = [topic, world.named('no-such-topic')]
      if (version < 6) return { topicNames: names, timeoutMs: 1234 }
      return { topics: names.map(name => ({ name, topicId: zeroUuid })), timeoutMs: 1234 }
    },
    ({ responses }, version, { named }) => {
      const missing = responses.find(one => one.name === named('no-such-topic'))!
      const deleted = responses.find(one => one !== missing)!
      assert.deepEqual([deleted.errorCode, missing.errorCode], [none, ErrorCode.unknownTopicOrPartition])
      assert.equal(missing.errorMessage !== null, version >= 5)
    },
    { about: 'by name' },
  ),
  typical(
    api.deleteRecords,
    async (version, world) => {
      const place = { ...(await freshTopic(world, 'full-delete-records', version, { partitions: 2 })), partition: 1 }
      await append(world.client, place, ['a', 'b'])
      return { topics: [{ name: place.topic, partitions: [{ partitionIndex: 1, offset: -1 }] }], timeoutMs: 1234 }
    },
    ({ topics }) => {
      assert.deepEqual(topics[0].partitions, [{ partitionIndex: 1, lowWatermark: 2, errorCode: none }])
    },
    { about: 'all there are' },
  ),
  typical(
    api.deleteRecords,
    (_, { orders }) => ({
      topics: [{ name: orders.topic, partitions: [{ partitionIndex: 9, offset: 0 }] }],
      timeoutMs: 1234,
    }),
    ({ topics }) => {
      const errorCode = ErrorCode.unknownTopicOrPartition
      assert.deepEqual(topics[0].partitions, [{ partitionIndex: 9, lowWatermark: -1, errorCode }])
    },
    { about: 'of a partition that is not there' },
  ),
  typical(
    api.initProducerId,
    () => ({ transactionalId: null, transactionTimeoutMs: 1234, producerId: 7, producerEpoch: 3 }),
    ({ errorCode, producerEpoch }) => assert.deepEqual([errorCode, producerEpoch], [none, 0]),
    { about: 'of one that had an id', from: 3 },
  ),
  typical(
    api.initProducerId,
    () => ({ transactionalId: '', transactionTimeoutMs: 1234 }),
    ({ errorCode, producerId }) => assert.deepEqual([errorCode, producerId], [ErrorCode.invalidRequest, -1]),
    { about: 'of an empty transactional id' },
  ),
  typical(
    api.offsetForLeaderEpoch,
    (version, { orders }) => ({
      ...ofVersion(version >= 3, { replicaId: -1 }),
      topics: [
        {
          topic: orders.topic,
          partitions: [
            { partition: 1, currentLeaderEpoch: 0, leaderEpoch: 5 },
            { partition: 9, currentLeaderEpoch: 0, leaderEpoch: 5 },
          ],
        },
      ],
    }),
    ({ topics }) => {
      const [newer, missing] = topics[0].partitions
      assert.deepEqual(newer, { errorCode: none, partition: 1, leaderEpoch: -1, endOffset: -1 })
      assert.deepEqual([missing.partition, missing.errorCode], [9, ErrorCode.unknownTopicOrPartition])
    },
    { about: 'of an epoch to come' },
  ),
  typical(
    api.describeConfigs,
    async (version, world) => {
      const configs = { 'retention.ms': '1000' }
      const { topic } = await freshTopic(world, 'full-describe-configs', version, { configs })
      const ofBroker = ['node.id', 'ssl.keystore.password']
      return {
        resources: [
          { resourceType: 2, resourceName: topic, configurationKeys: ['retention.ms'] },
          { resourceType: 4, resourceName: String(world.nodeId), configurationKeys: ofBroker },
          { resourceType: 2, resourceName: world.named('no-such-topic'), configurationKeys: null },
        ],
        includeSynonyms: true,
        ...ofVersion(version >= 3, { includeDocumentation: true }),
      }
    },
    ({ results }, version, { nodeId }) => {
      const [ofTopic, ofBroker, missing] = results
      assert.deepEqual([ofTopic.errorCode, ofBroker.errorCode], [none, none])
      assert.equal(missing.errorCode, ErrorCode.unknownTopicOrPartition)
      const [retention] = ofTopic.configs
      assert.deepEqual([retention.name, retention.value, retention.configSource], ['retention.ms', '1000', 1])
      assert.deepEqual(
        retention.synonyms.map(one => [one.name, one.value, one.source]),
        [['retention.ms', '1000', 1]],
      )
      const broker = new Map(ofBroker.configs.map(config => [config.name, config]))
      assert.deepEqual([broker.get('node.id')?.value, broker.get('node.id')?.readOnly], [String(nodeId), true])
      const secret = broker.get('ssl.keystore.password')
      assert.deepEqual([secret?.value, secret?.isSensitive, secret?.configType], [null, true, version >= 3 ? 9 : 0])
    },
    { about: 'of what is set, what is secret and what is not there' },
  ),
  typical(
    api.alterConfigs,
    async (version, world) => ({
      resources: [
        {
          ...{ resourceType: 2, resourceName: (await freshTopic(world, 'full-alter-configs', version)).topic },
          configs: [{ name: 'retention.ms', value: 'soon' }],
        },
      ],
      validateOnly: true,
    }),
    ({ responses }) => {
      assert.equal(responses[0].errorCode, ErrorCode.invalidConfig)
      assert.ok(responses[0].errorMessage)
    },
    { about: 'refused' },
  ),
  typical(
    api.createPartitions,
    async (version, world) => {
      const { topic } = await freshTopic(world, 'full-create-partitions', version)
      return {
        topics: [{ name: topic, count: 2, assignments: [{ brokerIds: [world.nodeId] }] }],
        ...{ timeoutMs: 1234, validateOnly: true },
      }
    },
    ({ results }) => assert.deepEqual([results.length, results[0].errorCode], [1, none]),
    { about: 'by hand, and only to see' },
  ),
  typical(
    api.createPartitions,
    (_, { orders }) => ({
      topics: [{ name: orders.topic, count: 1, assignments: null }],
      ...{ timeoutMs: 1234, validateOnly: false },
    }),
    ({ results }) => {
      assert.equal(results[0].errorCode, ErrorCode.invalidPartitions)
      assert.ok(results[0].errorMessage)
    },
    { about: 'fewer than there are' },
  ),
  typical(
    api.deleteGroups,
    (_, { groupId, named }) => ({ groupsNames: [groupId, named('no-such-group')] }),
    ({ results }, _, { groupId }) => {
      const own = results.find(one => one.groupId === groupId)!
      const missing = results.find(one => one !== own)!
      assert.deepEqual([own.errorCode, missing.errorCode], [ErrorCode.nonEmptyGroup, ErrorCode.groupIdNotFound])
    },
    { about: 'refused' },
  ),
  typical(
    api.incrementalAlterConfigs,
    async (version, world) => ({
      resources: [
        {
          resourceType: 2,
          resourceName: (await freshTopic(world, 'full-incremental-alter-configs', version)).topic,
          configs: [{ name: 'cleanup.policy', configOperation: 2, value: 'compact' }],
        },
        {
          resourceType: 2,
          resourceName: world.named('no-such-topic'),
          configs: [{ name: 'retention.ms', configOperation: 1, value: null }],
        },
      ],
      validateOnly: true,
    }),
    ({ responses }, _, { named }) => {
      const missing = responses.find(one => one.resourceName === named('no-such-topic'))!
      const fine = responses.find(one => one !== missing)!
      assert.deepEqual([fine.errorCode, missing.errorCode], [none, ErrorCode.unknownTopicOrPartition])
    },
    { about: 'only to see' },
  ),
  typical(
    api.offsetDelete,
    (_, { named, orders }) => ({
      ...{ groupId: named('no-such-group'), topics: [{ name: orders.topic, partitions: [{ partitionIndex: 1 }] }] },
    }),
    ({ errorCode, topics }) => assert.deepEqual([errorCode, topics], [ErrorCode.groupIdNotFound, []]),
    { about: 'of no group' },
  ),
  typical(
    api.offsetDelete,
    async (version, world) => {
      const { groupId, memberId, generationId } = await staticGroup(world, `full-offset-delete-${version}`)
      const { client, orders } = world
      await client.call(api.offsetCommit, 7, {
        ...{ groupId, memberId, groupInstanceId: instance, generationIdOrMemberEpoch: generationId },
        topics: [
          { name: orders.topic, partitions: [{ partitionIndex: 1, committedOffset: 1, committedMetadata: null }] },
        ],
      })
      return { groupId, topics: [{ name: orders.topic, partitions: [{ partitionIndex: 1 }] }] }
    },
    ({ errorCode, topics }) => {
      assert.equal(errorCode, none)
      assert.deepEqual(topics[0].partitions, [{ partitionIndex: 1, errorCode: ErrorCode.groupSubscribedToTopic }])
    },
    { about: 'of what is still read' },
  ),
  typical(
    api.updateFeatures,
    version => ({
      timeoutMs: 1234,
      featureUpdates: [
        {
          ...{ feature: 'no.such.feature', maxVersionLevel: 1 },
          ...(version >= 1 ? { upgradeType: 2 } : { allowDowngrade: true }),
        },
      ],
      ...ofVersion(version >= 1, { validateOnly: true }),
    }),
    ({ errorCode, errorMessage }) => {
      assert.equal(errorCode, ErrorCode.invalidUpdateVersion)
      assert.match(errorMessage!, /no\.such\.feature/)
    },
    { about: 'of what is no feature' },
  ),
  typical(
    api.describeCluster,
    version => ({
      includeClusterAuthorizedOperations: true,
      endpointType: 2,
      ...ofVersion(version >= 2, { includeFencedBrokers: true }),
    }),
    ({ errorCode, errorMessage }) => {
      assert.equal(errorCode, ErrorCode.mismatchedEndpointType)
      assert.ok(errorMessage)
    },
    { about: 'of controllers', from: 1 },
  ),
  typical(
    api.describeTopicPartitions,
    (_, { orders }) => ({ topics: [{ name: orders.topic }], responsePartitionLimit: 1 }),
    ({ nextCursor }, _, { orders }) => {
      assert.deepEqual(nextCursor, { topicName: orders.topic, partitionIndex: 1 })
    },
    { about: 'cut short' },
  ),
  typical(
    api.describeTopicPartitions,
    (_, { named }) => ({ topics: [{ name: named('no-such-topic') }] }),
    ({ topics }) => {
      assert.equal(topics[0].errorCode, ErrorCode.unknownTopicOrPartition)
      assert.ok(topics[0].topicAuthorizedOperations > 0)
    },
    { about: 'of no topic' },
  ),
  typical(
    api.describeTopicPartitions,
    (_, { orders }) => ({
      topics: [{ name: '__consumer_offsets' }, { name: orders.topic }],
      ...{ responsePartitionLimit: 1, cursor: { topicName: '__consumer_offsets', partitionIndex: 1 } },
    }),
    ({ topics, nextCursor }, _, { orders }) => {
      assert.deepEqual(
        topics.map(topic => [topic.name, topic.isInternal, topic.partitions.map(one => one.partitionIndex)]),
        [['__consumer_offsets', true, [1]]],
      )
      assert.ok(nextCursor !== null && [orders.topic, '__consumer_offsets'].includes(nextCursor.topicName))
    },
    { about: 'page by page' },
  ),
]

/** In an incremental session that has another partition, which the request is to forget. */
async function openSession(version: number, { client, orders }: World) {
  if (version < 7) return {}
  const { sessionId } = await client.call(api.fetch, version, fetchBody([orders], { version, sessionEpoch: 0 }))
  const forgotten = version >= 13 ? { topicId: orders.topicId } : { topic: orders.topic }
  return { sessionId, sessionEpoch: 1, forgottenTopicsData: [{ ...forgotten, partitions: [0] }] }
}
