import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ErrorCode } from '../../../base/error-code.ts'
import { bootstrapRecords } from '../snapshot.ts'
import { TestCluster } from './fixtures/test-cluster.ts'

const [set, remove, append, subtract] = [0, 1, 2, 3]
const [topicType, brokerType, metricsType, groupType] = [2, 4, 16, 32]

type Change = readonly [string, string | null, number]

function alter(cluster: TestCluster, resourceType: number, resourceName: string, ...changes: Change[]) {
  const configs = changes.map(([name, value, configOperation]) => ({ name, value, configOperation }))
  const request = { resources: [{ resourceType, resourceName, configs }], validateOnly: false }
  const { errorCode, errorMessage } = cluster.submit({ type: 'incrementalAlterConfigs', request }).response.responses[0]
  return [errorCode, errorMessage]
}

const done = [ErrorCode.none, null]

function withTopic(): TestCluster {
  const cluster = new TestCluster().start(1)
  cluster.create('t1')
  return cluster
}

test('settings of a topic are set, added to, taken from and removed', () => {
  const cluster = withTopic()
  const config = () => Object.fromEntries(cluster.image.config(topicType, 't1'))
  assert.deepEqual(alter(cluster, topicType, 't1', ['retention.ms', '5000', set]), done)
  assert.deepEqual(alter(cluster, topicType, 't1', ['cleanup.policy', 'compact', append]), done)
  assert.deepEqual(config(), { 'retention.ms': '5000', 'cleanup.policy': 'delete,compact' })
  assert.deepEqual(alter(cluster, topicType, 't1', ['cleanup.policy', 'compact', append]), done)
  assert.deepEqual(cluster.records, [])
  assert.deepEqual(alter(cluster, topicType, 't1', ['cleanup.policy', 'delete', subtract]), done)
  assert.deepEqual(alter(cluster, topicType, 't1', ['retention.ms', null, remove], ['nothing', null, remove]), done)
  assert.deepEqual(config(), { 'cleanup.policy': 'compact' })
  assert.deepEqual(alter(cluster, topicType, 't1', ['cleanup.policy', 'compact', subtract]), done)
  assert.deepEqual(config(), { 'cleanup.policy': '' })
})

test('changes of a topic are refused in the words of Kafka, and change nothing', () => {
  const cluster = withTopic()
  const { invalidConfig, invalidRequest } = ErrorCode
  const expected: readonly (readonly [string, Change[], number, string])[] = [
    ['t1', [['nope', '1', set]], invalidConfig, 'Unknown topic config name: nope'],
    [
      't1',
      [['retention.ms', 'x', set]],
      invalidConfig,
      'Invalid value x for configuration retention.ms: Not a number of type LONG',
    ],
    [
      't1',
      [['retention.ms', '1', append]],
      invalidConfig,
      "Can't APPEND to key retention.ms because its type is not LIST.",
    ],
    ['t1', [['retention.ms', null, set]], invalidRequest, 'Null value not supported for : retention.ms'],
    [
      't1',
      [
        ['retention.ms', '1', set],
        ['retention.ms', '2', set],
      ],
      invalidRequest,
      'Error due to duplicate config keys',
    ],
    ['zzz', [['retention.ms', '1', set]], ErrorCode.unknownTopicOrPartition, "The topic 'zzz' does not exist."],
    ['', [['retention.ms', '1', set]], invalidRequest, 'Default topic resources are not allowed.'],
    [
      'a b',
      [['retention.ms', '1', set]],
      ErrorCode.invalidTopicException,
      "Topic name is invalid: 'a b' contains one or more characters other than ASCII alphanumerics, '.', '_' and '-'",
    ],
  ]
  for (const [name, changes, errorCode, message] of expected) {
    assert.deepEqual(alter(cluster, topicType, name, ...changes), [errorCode, message])
    assert.deepEqual(cluster.records, [])
  }
})

test('settings of one broker and of all are set and refused in the words of Kafka', () => {
  const cluster = withTopic()
  assert.deepEqual(alter(cluster, brokerType, '1', ['log.retention.ms', '7', set]), done)
  assert.deepEqual(alter(cluster, brokerType, '', ['log.retention.ms', '8', set]), done)
  assert.deepEqual(alter(cluster, brokerType, '1', ['node.id', '5', set]), [
    ErrorCode.invalidRequest,
    'Cannot update these configs dynamically: [node.id]',
  ])
  assert.equal(alter(cluster, brokerType, 'abc', ['log.retention.ms', '7', set])[0], ErrorCode.invalidRequest)
  assert.equal(alter(cluster, 99, '1', ['log.retention.ms', '7', set])[0], ErrorCode.invalidRequest)
  assert.equal(cluster.image.config(brokerType, '').get('log.retention.ms'), '8')
})

test('a dynamic setting of the brokers governs new topics and is named as their source', () => {
  const cluster = withTopic()
  alter(cluster, brokerType, '', ['log.segment.bytes', '3000000', set])
  const all = cluster.tryCreate('t2').configs?.find(one => one.name === 'segment.bytes')
  assert.deepEqual([all?.value, all?.configSource], ['3000000', 3])
  alter(cluster, brokerType, '1', ['log.segment.bytes', '4000000', set])
  const one = cluster.tryCreate('t3').configs?.find(config => config.name === 'segment.bytes')
  assert.deepEqual([one?.value, one?.configSource], ['4000000', 2])
})

test('settings of groups and metrics subscriptions are kept', () => {
  const cluster = withTopic()
  assert.deepEqual(alter(cluster, groupType, 'g', ['consumer.session.timeout.ms', '50000', set]), done)
  assert.deepEqual(alter(cluster, metricsType, 'm', ['interval.ms', '5000', set]), done)
  assert.equal(cluster.image.config(groupType, 'g').get('consumer.session.timeout.ms'), '50000')
  assert.equal(
    alter(cluster, groupType, '', ['consumer.session.timeout.ms', '50000', set])[0],
    ErrorCode.invalidRequest,
  )
  assert.equal(alter(cluster, metricsType, '', ['interval.ms', '5000', set])[0], ErrorCode.invalidRequest)
})

test('lists of groups and metrics subscriptions are set as a whole, as in Kafka', () => {
  const cluster = withTopic()
  for (const [type, name] of [
    [groupType, 'streams.rack.aware.assignment.tags'],
    [metricsType, 'metrics'],
  ] as const) {
    const words = { [append]: 'APPEND', [subtract]: 'SUBTRACT' }
    for (const operation of [append, subtract]) {
      const message = `Can't ${words[operation]} to key ${name} because its type is not LIST.`
      assert.deepEqual(alter(cluster, type, 'x', [name, 'a', operation]), [ErrorCode.invalidConfig, message])
    }
    assert.deepEqual(alter(cluster, type, 'x', [name, 'a,b', set]), done)
  }
})

test('settings of a new topic are answered as they were given', () => {
  const cluster = withTopic()
  const config = { 'retention.ms': ' 07 ', 'cleanup.policy': 'delete, compact', 'min.cleanable.dirty.ratio': '1e-1' }
  const described = cluster.tryCreate('t2', { config }).configs ?? []
  const given = described.filter(one => one.configSource === 1).map(one => [one.name, one.value])
  assert.deepEqual(Object.fromEntries(given), config)
})

test('each resource succeeds or fails for itself, and one that is named twice fails', () => {
  const cluster = withTopic()
  const resource = (resourceName: string, value: string) => ({
    ...{ resourceType: topicType, resourceName },
    configs: [{ name: 'retention.ms', value, configOperation: set }],
  })
  cluster.create('t2')
  const resources = [resource('t1', '5'), resource('t2', 'x'), resource('t3', '5'), resource('t3', '6')]
  const { response } = cluster.submit({ type: 'incrementalAlterConfigs', request: { resources, validateOnly: false } })
  assert.deepEqual(
    response.responses.map(({ resourceName, errorCode }) => [resourceName, errorCode]),
    [
      ['t1', ErrorCode.none],
      ['t2', ErrorCode.invalidConfig],
      ['t3', ErrorCode.invalidRequest],
    ],
  )
  assert.equal(cluster.image.config(topicType, 't1').get('retention.ms'), '5')
})

test('the older request replaces all settings of a resource', () => {
  const cluster = withTopic()
  alter(cluster, topicType, 't1', ['retention.ms', '1', set], ['cleanup.policy', 'compact', set])
  const configs = [
    { name: 'retention.ms', value: '2' },
    { name: 'segment.ms', value: '3' },
  ]
  const resources = [{ resourceType: topicType, resourceName: 't1', configs }]
  const only = cluster.submit({ type: 'alterConfigs', request: { resources, validateOnly: true } })
  assert.equal(only.response.responses[0].errorCode, ErrorCode.none)
  assert.deepEqual(cluster.records, [])
  cluster.submit({ type: 'alterConfigs', request: { resources, validateOnly: false } })
  assert.deepEqual(Object.fromEntries(cluster.image.config(topicType, 't1')), {
    'retention.ms': '2',
    'segment.ms': '3',
  })
})

test('with eligible replicas, another minimum of in-sync replicas ends eligibility, and brokers have none of their own', () => {
  const elr = { type: 'featureLevel', version: 0, name: 'eligible.leader.replicas.version', featureLevel: 1 } as const
  const cluster = new TestCluster([], [...bootstrapRecords(), elr]).start(1, 2)
  cluster.create('t', { assignments: [[1, 2]], config: { 'min.insync.replicas': '2' } })
  cluster.heartbeat(2, { wantFence: true })
  assert.deepEqual(cluster.partition('t').elr, [2])
  assert.deepEqual(alter(cluster, topicType, 't', ['min.insync.replicas', '1', set]), done)
  assert.deepEqual(cluster.partition('t').elr, [])
  assert.deepEqual(alter(cluster, brokerType, '1', ['min.insync.replicas', '2', set]), [
    ErrorCode.invalidConfig,
    'Broker-level min.insync.replicas cannot be altered while ELR is enabled.',
  ])
})

function update(
  cluster: TestCluster,
  feature: string,
  maxVersionLevel: number,
  upgradeType: number,
  validateOnly = false,
) {
  const featureUpdates = [{ feature, maxVersionLevel, allowDowngrade: false, upgradeType }]
  const { response } = cluster.submit({
    type: 'updateFeatures',
    request: { timeoutMs: 1, featureUpdates, validateOnly },
  })
  const prefix = 'The update failed for all features since the following feature had an error: '
  assert.ok(response.errorMessage === null || response.errorMessage.startsWith(prefix))
  return [response.errorCode, response.errorMessage?.slice(prefix.length) ?? null]
}

test('levels of features are refused in the words of Kafka', () => {
  const cluster = withTopic()
  const [upgrade, safe, unsafe] = [1, 2, 3]
  const code = ErrorCode.invalidUpdateVersion
  const expected: readonly (readonly [string, number, number, string])[] = [
    [
      'group.version',
      5,
      upgrade,
      'Invalid update version 5 for feature group.version. Local controller 1 only supports versions 0-0',
    ],
    ['foo', 1, upgrade, 'Invalid update version 1 for feature foo. Local controller 1 does not support this feature.'],
    [
      'metadata.version',
      30,
      safe,
      'Unsupported metadata.version downgrade from 33 to 30. Refusing to perform the requested downgrade because it might delete metadata information.',
    ],
    [
      'metadata.version',
      29,
      unsafe,
      'Unsupported metadata.version downgrade from 33 to 29. Unsafe metadata downgrade is not supported in this version.',
    ],
    [
      'metadata.version',
      99,
      upgrade,
      'Invalid update version 99 for feature metadata.version. Local controller 1 only supports versions 7-33',
    ],
    [
      'metadata.version',
      5,
      unsafe,
      'Invalid update version 5 for feature metadata.version. Local controller 1 only supports versions 7-33',
    ],
  ]
  for (const [feature, level, type, message] of expected) {
    assert.deepEqual(update(cluster, feature, level, type), [code, message])
  }
  for (const feature of ['metadata.version', 'kraft.version', 'group.version']) {
    const level = { 'metadata.version': 33, 'kraft.version': 1, 'group.version': 0 }[feature] ?? -1
    assert.deepEqual(update(cluster, feature, level, upgrade), [ErrorCode.none, null])
    assert.deepEqual(cluster.records, [])
  }
})

test('a level that Kafka had set can be lowered to none', () => {
  const group = { type: 'featureLevel', version: 0, name: 'group.version', featureLevel: 1 } as const
  const cluster = new TestCluster([], [...bootstrapRecords(), group]).start(1)
  assert.equal(update(cluster, 'group.version', 0, 1)[0], ErrorCode.invalidUpdateVersion)
  assert.deepEqual(update(cluster, 'group.version', 0, 2, true), done)
  assert.equal(cluster.image.featureLevel('group.version'), 1)
  assert.deepEqual(update(cluster, 'group.version', 0, 2), done)
  assert.deepEqual([...cluster.image.features().keys()], ['metadata.version'])
})

test('threads are halved and doubled at most, counted from what is in force on this broker', () => {
  const cluster = withTopic()
  const change = (resource: string, value: string | null) =>
    alter(cluster, brokerType, resource, ['log.cleaner.threads', value, value === null ? remove : set])
  const refused = (what: string) => [ErrorCode.invalidRequest, `Log cleaner threads cannot be ${what}`]
  assert.deepEqual(change('', '3'), refused('increased to more than double the current value 1'))
  assert.deepEqual(cluster.records, [])
  for (const value of ['2', '4', '8']) assert.deepEqual(change('', value), done)
  assert.deepEqual(change('', '3'), refused('reduced to less than half the current value 8'))
  assert.deepEqual(change('', null), refused('reduced to less than half the current value 8'))
  assert.deepEqual(change('1', '16'), done)
  assert.deepEqual(change('', '100'), done, 'what is set for the broker hides it')
  assert.deepEqual(change('1', null), refused('increased to more than double the current value 16'))
  assert.deepEqual(change('2', '77'), done, 'another broker knows what it has')
})
