import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ErrorCode } from '../../../base/error-code.ts'
import { zeroUuid } from '../../../base/uuid.ts'
import { encodeToBuffer } from '../../../protocol/codec.ts'
import { createTopicsResponse } from '../../../protocol/messages/create-topics.ts'
import type { ChangedPartition } from '../metadata-delta.ts'
import { directory, id, TestCluster } from './fixtures/test-cluster.ts'

type Creation = Parameters<TestCluster['tryCreate']>[1]

function creation(cluster: TestCluster, name: string, about: Creation = {}): [number, string | null | undefined] {
  const { errorCode, errorMessage } = cluster.tryCreate(name, about)
  return [errorCode, errorMessage]
}

test('a topic is created with its settings and partitions, led by their first replica', () => {
  const cluster = new TestCluster().start(1, 2, 3)
  const created = cluster.tryCreate('t', { partitions: 3, replicas: 2, config: { 'retention.ms': '5000' } })
  assert.deepEqual([created.errorCode, created.numPartitions, created.replicationFactor], [0, 3, 2])
  assert.deepEqual(
    cluster.records.map(record => record.type),
    ['topic', 'config', 'partition', 'partition', 'partition'],
  )
  const topic = cluster.image.topic('t')!
  assert.equal(created.topicId, topic.id)
  assert.deepEqual(cluster.image.config(2, 't'), new Map([['retention.ms', '5000']]))
  for (const partition of topic.partitions) {
    assert.equal(partition.leader, partition.replicas[0])
    assert.deepEqual(partition.isr, partition.replicas)
    assert.deepEqual(
      partition.directories,
      partition.replicas.map(broker => directory(broker)),
    )
    assert.deepEqual([partition.leaderEpoch, partition.partitionEpoch, partition.leaderRecoveryState], [0, 0, 0])
  }
})

test('a topic without numbers has the defaults of the broker', () => {
  const cluster = new TestCluster(['num.partitions=4', 'default.replication.factor=2']).start(1, 2)
  const created = cluster.tryCreate('t')
  assert.deepEqual([created.numPartitions, created.replicationFactor], [4, 2])
})

test('the answer has every setting in force and where it comes from, and can be sent', () => {
  const cluster = new TestCluster(['log.retention.hours=1', 'log.segment.bytes=2000000']).start(1)
  const created = cluster.tryCreate('t', { config: { 'cleanup.policy': 'compact' } })
  const config = new Map(created.configs?.map(one => [one.name, [one.value, one.configSource]]))
  assert.equal(config.size, 37)
  assert.deepEqual(config.get('cleanup.policy'), ['compact', 1])
  assert.deepEqual(config.get('retention.ms'), ['3600000', 4])
  assert.deepEqual(config.get('segment.bytes'), ['2000000', 4])
  assert.deepEqual(config.get('max.message.bytes'), ['1048588', 5])
  encodeToBuffer(createTopicsResponse, 7, { throttleTimeMs: 0, topics: [created] })
  encodeToBuffer(createTopicsResponse, 2, { throttleTimeMs: 0, topics: [created] })
})

test('names of topics are refused in the words of Kafka', () => {
  const cluster = new TestCluster().start(1)
  cluster.create('t.dot')
  const long = 'x'.repeat(250)
  const { invalidTopicException: invalid, topicAlreadyExists, invalidRequest } = ErrorCode
  const rule = "contains one or more characters other than ASCII alphanumerics, '.', '_' and '-'"
  const expected: readonly (readonly [string, number, string])[] = [
    ['', invalid, 'Topic name is invalid: the empty string is not allowed'],
    ['.', invalid, "Topic name is invalid: '.' is not allowed"],
    ['..', invalid, "Topic name is invalid: '..' is not allowed"],
    ['a b', invalid, `Topic name is invalid: 'a b' ${rule}`],
    ['ä', invalid, `Topic name is invalid: 'ä' ${rule}`],
    [long, invalid, `Topic name is invalid: the length of '${long}' is longer than the max allowed length 249`],
    ['t.dot', topicAlreadyExists, "Topic 't.dot' already exists."],
    ['t_dot', invalid, "Topic 't_dot' collides with existing topic: t.dot"],
    ['__cluster_metadata', invalidRequest, 'Creation of internal topic __cluster_metadata is prohibited.'],
  ]
  for (const [name, errorCode, message] of expected) {
    assert.deepEqual(creation(cluster, name), [errorCode, message])
  }
  for (const name of ['x'.repeat(249), '__proto__', 'constructor', '__consumer_offsets', 'A-._z']) {
    assert.deepEqual(creation(cluster, name), [ErrorCode.none, null])
  }
  assert.equal(cluster.image.topic('__proto__')?.partitions.length, 1)
})

test('numbers of partitions and replicas are refused in the words of Kafka', () => {
  const cluster = new TestCluster().start(1)
  const partitions = 'Number of partitions was set to an invalid non-positive value.'
  const replicas = 'Replication factor must be larger than 0, or -1 to use the default value.'
  const tooFew =
    'Unable to replicate the partition 2 time(s): The target replication factor of 2 cannot be reached because only 1 broker(s) are registered or some brokers have all their log directories cordoned.'
  const tooMany = 'Excessively large number of partitions per request.'
  assert.deepEqual(creation(cluster, 'a', { partitions: 0 }), [ErrorCode.invalidPartitions, partitions])
  assert.deepEqual(creation(cluster, 'a', { partitions: -2 }), [ErrorCode.invalidPartitions, partitions])
  assert.deepEqual(creation(cluster, 'a', { replicas: 0 }), [ErrorCode.invalidReplicationFactor, replicas])
  assert.deepEqual(creation(cluster, 'a', { replicas: -2 }), [ErrorCode.invalidReplicationFactor, replicas])
  assert.deepEqual(creation(cluster, 'a', { replicas: 2 }), [ErrorCode.invalidReplicationFactor, tooFew])
  assert.deepEqual(creation(cluster, 'a', { partitions: 10_001 }), [ErrorCode.policyViolation, tooMany])
  const tooLarge = 'Unable to perform excessively large batch operation.'
  assert.deepEqual(creation(cluster, 'a', { partitions: 10_000 }), [ErrorCode.policyViolation, tooLarge])
  assert.deepEqual(creation(cluster, 'a', { partitions: 9999 }), [ErrorCode.none, null])
})

test('of what a request names twice, nothing counts towards the most partitions that it may ask for', () => {
  const cluster = new TestCluster().start(1)
  cluster.create('t')
  cluster.create('u')
  const create = (...wanted: [string, number][]) => {
    const about = { replicationFactor: 1, assignments: [], configs: [] }
    const topics = wanted.map(([name, numPartitions]) => ({ name, numPartitions, ...about }))
    const { response } = cluster.submit({
      type: 'createTopics',
      request: { topics, timeoutMs: 1, validateOnly: true },
    })
    return response.topics.map(({ name, errorCode }) => [name, errorCode])
  }
  const { none, invalidRequest, policyViolation } = ErrorCode
  const [tooMany, metadata] = [20_000, '__cluster_metadata']
  assert.deepEqual(create(['a', tooMany], ['b', 1], ['a', 1], [metadata, tooMany]), [
    ['a', invalidRequest],
    ['b', none],
    [metadata, invalidRequest],
  ])
  assert.deepEqual(create(['a', 1], ['b', tooMany], ['a', 1]), [
    ['a', policyViolation],
    ['b', policyViolation],
    ['a', policyViolation],
  ])
  const add = (...wanted: [string, number][]) => {
    const topics = wanted.map(([name, count]) => ({ name, count, assignments: null }))
    const { response } = cluster.submit({
      type: 'createPartitions',
      request: { topics, timeoutMs: 1, validateOnly: true },
    })
    return response.results.map(({ name, errorCode }) => [name, errorCode])
  }
  assert.deepEqual(add(['t', tooMany], ['t', 2], ['u', 4]), [
    ['t', invalidRequest],
    ['u', none],
  ])
  assert.deepEqual(
    add(['t', 2], ['t', 2], ['u', tooMany]).map(([, errorCode]) => errorCode),
    [policyViolation, policyViolation, policyViolation],
  )
})

test('replicas chosen by hand are refused in the words of Kafka', () => {
  const cluster = new TestCluster().start(1, 2)
  cluster.register(3)
  const by = (...assignments: number[][]) => creation(cluster, 'a', { assignments })
  const prefix = 'The manual partition assignment includes'
  const code = ErrorCode.invalidReplicaAssignment
  assert.deepEqual(by([7]), [code, `${prefix} broker 7, but no such broker is registered.`])
  assert.deepEqual(by([-1]), [code, `${prefix} broker -1, but no such broker is registered.`])
  assert.deepEqual(by([1, 1]), [code, `${prefix} the broker 1 more than once.`])
  assert.deepEqual(by([1], []), [code, `${prefix} an empty replica list.`])
  assert.deepEqual(by([1], [1, 2]), [
    code,
    `${prefix} a partition with 2 replica(s), but this is not consistent with previous partitions, which have 1 replica(s).`,
  ])
  assert.deepEqual(by([3]), [
    code,
    'All brokers specified in the manual partition assignment for partition 0 are fenced or in controlled shutdown.',
  ])
  assert.deepEqual(by([3, 1]), [ErrorCode.none, null])
  assert.deepEqual([cluster.partition('a').leader, cluster.partition('a').isr], [1, [1]])
})

test('partitions that are numbered by hand have no gaps and are numbered once, and come without other numbers', () => {
  const cluster = new TestCluster().start(1)
  const request = (indexes: number[], numPartitions: number, replicationFactor: number) =>
    cluster.submit({
      type: 'createTopics',
      request: {
        topics: [
          {
            ...{ name: 'a', numPartitions, replicationFactor, configs: [] },
            assignments: indexes.map(partitionIndex => ({ partitionIndex, brokerIds: [1] })),
          },
        ],
        ...{ timeoutMs: 1, validateOnly: false },
      },
    }).response.topics[0].errorMessage
  assert.equal(request([0, 2], -1, -1), 'partitions should be a consecutive 0-based integer sequence')
  assert.equal(request([0, 0], -1, -1), 'Found multiple manual partition assignments for partition 0')
  assert.equal(request([0], 1, -1), 'A manual partition assignment was specified, but numPartitions was not set to -1.')
  assert.equal(
    request([0], -1, 1),
    'A manual partition assignment was specified, but replication factor was not set to -1.',
  )
  assert.equal(request([1, 0], -1, -1), null)
})

test('a topic with a setting that is not allowed is not created', () => {
  const cluster = new TestCluster().start(1)
  const [code, message] = creation(cluster, 'a', { config: { 'segment.bytes': '100' } })
  assert.equal(code, ErrorCode.invalidConfig)
  assert.equal(message, 'Invalid value 100 for configuration segment.bytes: Value must be at least 1048576')
  const topics = [
    {
      name: 'n',
      numPartitions: 1,
      replicationFactor: 1,
      assignments: [],
      configs: [{ name: 'retention.ms', value: null }],
    },
  ]
  const reply = cluster.submit({ type: 'createTopics', request: { topics, timeoutMs: 1, validateOnly: false } })
  assert.equal(reply.response.topics[0].errorMessage, 'Null value not supported for topic configs: retention.ms')
  assert.equal(cluster.image.topicCount, 0)
})

test('of one request, what can be created is, and a name that is there twice is not', () => {
  const cluster = new TestCluster().start(1)
  const one = (name: string) => ({ name, numPartitions: 1, replicationFactor: 1, assignments: [], configs: [] })
  const topics = ['good', 'bad name', 'twice', 'twice'].map(one)
  const { response } = cluster.submit({ type: 'createTopics', request: { topics, timeoutMs: 1, validateOnly: false } })
  assert.deepEqual(
    response.topics.map(topic => [topic.name, topic.errorCode]),
    [
      ['good', ErrorCode.none],
      ['bad name', ErrorCode.invalidTopicException],
      ['twice', ErrorCode.invalidRequest],
    ],
  )
  assert.deepEqual(
    [...cluster.image.topics()].map(topic => topic.name),
    ['good'],
  )
})

test('a request that only validates changes nothing', () => {
  const cluster = new TestCluster().start(1)
  const topics = [{ name: 'a', numPartitions: 2, replicationFactor: 1, assignments: [], configs: [] }]
  const { response } = cluster.submit({ type: 'createTopics', request: { topics, timeoutMs: 1, validateOnly: true } })
  assert.deepEqual([response.topics[0].errorCode, response.topics[0].numPartitions], [0, 2])
  assert.deepEqual(cluster.records, [])
})

test('no topic is created while every broker is out of service', () => {
  const cluster = new TestCluster()
  cluster.register(1)
  const [code, message] = creation(cluster, 'a')
  assert.equal(code, ErrorCode.invalidReplicationFactor)
  assert.equal(message, 'Unable to replicate the partition 1 time(s): All brokers are currently fenced.')
})

function remove(cluster: TestCluster, topics: { name: string | null; topicId?: string }[]) {
  const request = {
    topics: topics.map(({ name, topicId }) => ({ name, topicId: topicId ?? zeroUuid })),
    ...{ topicNames: [], timeoutMs: 1 },
  }
  const { response } = cluster.submit({ type: 'deleteTopics', apiVersion: 6, request })
  return response.responses.map(one => [one.name, one.errorCode])
}

test('topics are deleted by name or by id, with their settings, and may be created anew', () => {
  const cluster = new TestCluster().start(1)
  cluster.create('a', { config: { 'retention.ms': '1' } })
  cluster.create('b')
  const first = cluster.image.topic('a')!.id
  const second = cluster.image.topic('b')!.id
  assert.deepEqual(remove(cluster, [{ name: 'a' }, { name: null, topicId: second }]), [
    ['a', ErrorCode.none],
    ['b', ErrorCode.none],
  ])
  assert.deepEqual([cluster.image.topicCount, cluster.image.partitionCount], [0, 0])
  assert.equal(cluster.image.config(2, 'a').size, 0)
  cluster.create('a')
  assert.notEqual(cluster.image.topic('a')!.id, first)
})

test('what cannot be deleted is answered for itself', () => {
  const cluster = new TestCluster().start(1)
  cluster.create('a')
  cluster.create('b')
  const topicId = cluster.image.topic('b')!.id
  assert.deepEqual(remove(cluster, [{ name: 'nothing' }, { name: null, topicId: id(9) }]), [
    ['nothing', ErrorCode.unknownTopicOrPartition],
    [null, ErrorCode.unknownTopicId],
  ])
  assert.deepEqual(remove(cluster, [{ name: 'a' }, { name: 'a' }]), [['a', ErrorCode.invalidRequest]])
  assert.deepEqual(remove(cluster, [{ name: 'b' }, { name: null, topicId }]), [['b', ErrorCode.invalidRequest]])
  assert.deepEqual(remove(cluster, [{ name: 'b', topicId }]), [['b', ErrorCode.invalidRequest]])
  assert.deepEqual(remove(cluster, [{ name: null }]), [[null, ErrorCode.invalidRequest]])
  assert.equal(cluster.image.topicCount, 2)
})

test('where topics are not deleted, that is said in the form of the version', () => {
  const cluster = new TestCluster(['delete.topic.enable=false']).start(1)
  cluster.create('a')
  const request = { topics: [], topicNames: ['a'], timeoutMs: 1 }
  const codeIn = (apiVersion: number) =>
    cluster.submit({ type: 'deleteTopics', apiVersion, request }).response.responses[0].errorCode
  assert.deepEqual([codeIn(2), codeIn(3)], [ErrorCode.invalidRequest, ErrorCode.topicDeletionDisabled])
  assert.equal(cluster.image.topicCount, 1)
})

function grow(cluster: TestCluster, name: string, count: number, assignments: number[][] | null = null) {
  const topic = { name, count, assignments: assignments?.map(brokerIds => ({ brokerIds })) ?? null }
  const request = { topics: [topic], timeoutMs: 1, validateOnly: false }
  const { errorCode, errorMessage } = cluster.submit({ type: 'createPartitions', request }).response.results[0]
  return [errorCode, errorMessage]
}

test('a topic gets more partitions with the replicas that it has', () => {
  const cluster = new TestCluster().start(1, 2)
  cluster.create('t', { partitions: 1, replicas: 2 })
  assert.deepEqual(grow(cluster, 't', 3), [ErrorCode.none, null])
  const { partitions } = cluster.image.topic('t')!
  assert.deepEqual(
    partitions.map(one => [one.partition, one.replicas.length]),
    [
      [0, 2],
      [1, 2],
      [2, 2],
    ],
  )
  assert.deepEqual(grow(cluster, 't', 4, [[2, 1]]), [ErrorCode.none, null])
  assert.equal(cluster.partition('t', 3).leader, 2)
})

test('numbers and replicas of new partitions are refused in the words of Kafka', () => {
  const cluster = new TestCluster().start(1)
  cluster.create('t', { partitions: 3 })
  const { invalidPartitions, invalidReplicaAssignment } = ErrorCode
  const manual = 'The manual partition assignment includes'
  assert.deepEqual(grow(cluster, 't', 3), [invalidPartitions, 'Topic already has 3 partition(s).'])
  assert.deepEqual(grow(cluster, 't', 2), [
    invalidPartitions,
    'The topic t currently has 3 partition(s); 2 would not be an increase.',
  ])
  assert.deepEqual(grow(cluster, 'nothing', 2), [ErrorCode.unknownTopicOrPartition, null])
  assert.deepEqual(grow(cluster, 't', 50_000), [
    ErrorCode.policyViolation,
    'Excessively large number of additional partitions per request.',
  ])
  assert.deepEqual(grow(cluster, 't', 5, [[1]]), [
    invalidReplicaAssignment,
    'Attempted to add 2 additional partition(s), but only 1 assignment(s) were specified.',
  ])
  assert.deepEqual(grow(cluster, 't', 4, [[9]]), [
    invalidReplicaAssignment,
    `${manual} broker 9, but no such broker is registered.`,
  ])
  assert.equal(cluster.image.topic('t')!.partitions.length, 3)
})

test('whoever opens partitions is told of new, changed and deleted ones before the image moves', () => {
  const cluster = new TestCluster().start(1, 2)
  const seen: string[] = []
  const describe = ({ topicName, partition, before, after }: ChangedPartition) =>
    `${topicName}-${partition} ${before?.leader ?? 'none'} to ${after.leader}, image ${cluster.image.topic(topicName)?.partitions[partition]?.leader ?? 'none'}`
  cluster.onDelta = delta => {
    for (const changed of delta.changedPartitions()) seen.push(describe(changed))
    for (const { name } of delta.createdTopics()) seen.push(`created ${name}`)
    for (const { name, partitions } of delta.deletedTopics()) seen.push(`deleted ${name} of ${partitions.length}`)
  }
  cluster.create('t', { assignments: [[1, 2]] })
  cluster.heartbeat(1, { wantFence: true })
  remove(cluster, [{ name: 't' }])
  assert.deepEqual(seen, ['t-0 none to 1, image none', 'created t', 't-0 1 to 2, image 1', 'deleted t of 1'])
})
