import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ErrorCode } from '../base/error-code.ts'
import {
  alterList,
  checkBrokerConfig,
  checkClientMetricsConfig,
  checkGroupConfig,
  checkTopicConfig,
} from './alter-config.ts'
import { effectiveConfig, effectiveTexts, noDynamicTexts } from './effective-config.ts'
import { loadConfig } from './load-config.ts'
import { logConfigOf, topicConfigOf, topicSetting, topicText } from './topic-config.ts'

const none: ReadonlyMap<string, string> = new Map()
const development = loadConfig({ overrides: [], environment: {} })
const texts = development.type === 'loaded' ? development.texts : none

function dynamicBroker(...entries: [string, string][]) {
  return { ...noDynamicTexts, broker: new Map(entries) }
}

test('a topic without settings has the defaults of Kafka', () => {
  const { log, minInsyncReplicas } = topicConfigOf(none, none)
  assert.equal(minInsyncReplicas, 1)
  assert.deepEqual(log, {
    segmentBytes: 1_073_741_824,
    segmentMs: 604_800_000,
    segmentJitterMs: 0,
    segmentIndexBytes: 10_485_760,
    indexIntervalBytes: 4096,
    retentionBytes: -1,
    retentionMs: 604_800_000,
    maxMessageBytes: 1_048_588,
    maxDecompressedMessageBytes: 2_147_483_639,
    compressionType: 'producer',
    gzipLevel: -1,
    lz4Level: 9,
    zstdLevel: 3,
    isCompacted: false,
    isDeleted: true,
    timestampType: 'CreateTime',
    timestampBeforeMaxMs: Number.POSITIVE_INFINITY,
    timestampAfterMaxMs: 3_600_000,
    flushMessages: Number.POSITIVE_INFINITY,
    flushMs: Number.POSITIVE_INFINITY,
    fileDeleteDelayMs: 60_000,
    deleteRetentionMs: 86_400_000,
    minCleanableDirtyRatio: 0.5,
    minCompactionLagMs: 0,
    maxCompactionLagMs: Number.POSITIVE_INFINITY,
    preallocate: false,
  })
})

test('a setting of the topic counts before the dynamic one of the broker, that before the cluster and the file', () => {
  const given = new Map([['log.segment.bytes', '2000000']])
  const dynamic = {
    cluster: new Map([['log.segment.bytes', '3000000']]),
    broker: new Map([['log.segment.bytes', '4000000']]),
  }
  const own = new Map([['segment.bytes', '5000000']])
  assert.equal(logConfigOf(none, given).segmentBytes, 2_000_000)
  assert.equal(logConfigOf(none, effectiveTexts(given, { ...dynamic, broker: none })).segmentBytes, 3_000_000)
  assert.equal(logConfigOf(none, effectiveTexts(given, dynamic)).segmentBytes, 4_000_000)
  assert.equal(logConfigOf(own, effectiveTexts(given, dynamic)).segmentBytes, 5_000_000)
})

test('hours and minutes of the broker become the milliseconds of a topic, exactly', () => {
  assert.equal(logConfigOf(none, new Map([['log.retention.hours', '2']])).retentionMs, 7_200_000)
  const minutes = new Map([
    ['log.retention.hours', '2'],
    ['log.retention.minutes', '3'],
  ])
  assert.equal(topicText('retention.ms', none, minutes), '180000')
  assert.equal(logConfigOf(none, new Map([['log.roll.hours', '1']])).segmentMs, 3_600_000)
  const large = '9007199254740993'
  assert.equal(topicText('retention.ms', none, new Map([['log.retention.ms', large]])), large)
})

test('a dynamic value wins over what was given under any synonym', () => {
  const given = new Map([...texts, ['log.retention.minutes', '1']])
  const config = effectiveConfig(given, dynamicBroker(['log.retention.ms', '5']))
  assert.equal(config?.logRetentionMs, 5)
})

test('dynamic values that cannot be taken leave the others in force', () => {
  const dynamic = dynamicBroker(
    ['log.segment.bytes', 'x'],
    ['node.id', '9'],
    ['listeners', 'A://:1'],
    ['max.connections', '7'],
  )
  const config = effectiveConfig(texts, dynamic)
  assert.deepEqual([config?.nodeId, config?.maxConnections, config?.logSegmentBytes], [1, 7, 1_073_741_824])
  assert.equal(config?.brokerListeners[0].port, 9092)
})

test('dynamic values that break a rule give no configuration', () => {
  assert.equal(effectiveConfig(texts, dynamicBroker(['log.retention.ms', '0'])), undefined)
})

test('the internal segment size of a test wins over the one with a lower bound', () => {
  assert.equal(logConfigOf(new Map([['internal.segment.bytes', '100']]), none).segmentBytes, 100)
})

test('a retention below -1, which only a file can give, is for ever', () => {
  assert.equal(logConfigOf(none, new Map([['log.retention.ms', '-7']])).retentionMs, -1)
})

/** Settings and the message of Kafka 4.4, or undefined where it takes them. */
const topics: readonly (readonly [Record<string, string>, string | undefined])[] = [
  [{ nope: 'x' }, 'Unknown topic config name: nope'],
  [{ 'retention.ms': 'abc' }, 'Invalid value abc for configuration retention.ms: Not a number of type LONG'],
  [{ 'retention.ms': '-2' }, 'Invalid value -2 for configuration retention.ms: Value must be at least -1'],
  [{ 'segment.bytes': '100' }, 'Invalid value 100 for configuration segment.bytes: Value must be at least 1048576'],
  [{ 'min.insync.replicas': '5' }, undefined],
  [{ 'cleanup.policy': '' }, undefined],
  [{ 'local.retention.ms': '999999999999' }, undefined],
  [
    { 'max.compaction.lag.ms': '1', 'min.compaction.lag.ms': '5' },
    'conflict topic config setting min.compaction.lag.ms (5) > max.compaction.lag.ms (1)',
  ],
  [
    { preallocate: 'yes' },
    'Invalid value yes for configuration preallocate: Expected value to be either true or false',
  ],
  [
    { 'remote.storage.enable': 'true' },
    'Tiered Storage functionality is disabled in the broker. Topic cannot be configured with remote log storage.',
  ],
  [{ 'remote.storage.enable': 'false' }, undefined],
]

test('settings of a topic are refused in the words of Kafka', () => {
  for (const [settings, message] of topics) {
    const refusal = checkTopicConfig(new Map(Object.entries(settings)), none)
    assert.equal(refusal?.message, message)
    if (message !== undefined) assert.equal(refusal?.errorCode, ErrorCode.invalidConfig)
  }
})

test('the compaction lag of a topic is compared with that of the broker', () => {
  const broker = new Map([['log.cleaner.max.compaction.lag.ms', '10']])
  assert.ok(checkTopicConfig(new Map([['min.compaction.lag.ms', '11']]), broker))
  assert.equal(checkTopicConfig(new Map([['min.compaction.lag.ms', '10']]), broker), undefined)
})

/** Whether for all brokers, the setting, and the message of Kafka 4.4, or undefined where it takes it. */
const brokers: readonly (readonly [boolean, string, string, string | undefined])[] = [
  [false, 'log.retention.ms', '7', undefined],
  [true, 'log.retention.ms', '7', undefined],
  [false, 'foo.bar', 'x', undefined],
  [false, 'node.id', '5', 'Cannot update these configs dynamically: [node.id]'],
  [true, 'log.dirs', '/x', 'Cannot update these configs dynamically: [log.dirs]'],
  [false, 'log.retention.hours', '5', 'Cannot update these configs dynamically: [log.retention.hours]'],
  [
    true,
    'cordoned.log.dirs',
    '/x',
    'Cannot update these configs at default cluster level, broker id must be specified: [cordoned.log.dirs]',
  ],
  [false, 'log.segment.bytes', 'x', 'Invalid value x for configuration log.segment.bytes: Not a number of type INT'],
  [
    false,
    'log.segment.bytes',
    '5',
    'Invalid value 5 for configuration log.segment.bytes: Value must be at least 1048576',
  ],
  [
    false,
    'ssl.keystore.password',
    'x',
    'These security configs can be dynamically updated only per-listener using the listener prefix: [ssl.keystore.password]',
  ],
  [false, 'listener.name.plaintext.ssl.keystore.password', 'x', undefined],
  [false, 'leader.replication.throttled.rate', '1000', undefined],
]

test('settings of a broker are refused in the words of Kafka', () => {
  for (const [isCluster, name, text, message] of brokers) {
    const refusal = checkBrokerConfig({ isCluster, texts: new Map([[name, text]]) }, texts)
    assert.equal(refusal?.message, message, name)
    if (message !== undefined) assert.equal(refusal?.errorCode, ErrorCode.invalidRequest)
  }
})

test('what Millrace reads at the start only cannot be set while it runs', () => {
  const refusal = checkBrokerConfig({ isCluster: false, texts: new Map([['listeners', 'A://:1']]) }, texts)
  assert.equal(refusal?.message, 'Cannot update these configs dynamically: [listeners]')
})

test('a dynamic value that would break a rule across settings is refused', () => {
  const limits = new Map([['max.connections.per.ip', '0']])
  assert.equal(checkBrokerConfig({ isCluster: true, texts: limits }, texts)?.errorCode, ErrorCode.invalidRequest)
})

test('settings of a group must be known and lie between the bounds of the broker', () => {
  const check = (name: string, text: string) => checkGroupConfig(new Map([[name, text]]), none)?.message
  assert.equal(check('consumer.session.timeout.ms', '50000'), undefined)
  assert.equal(
    check('consumer.session.timeout.ms', '1'),
    'consumer.session.timeout.ms must be in the range 45000 to 60000 inclusive.',
  )
  assert.equal(check('nope', '1'), 'Unknown group config name: nope')
  assert.equal(check('streams.num.standby.replicas', '2'), undefined)
  assert.equal(
    check('streams.num.standby.replicas', '3'),
    'streams.num.standby.replicas must be less than or equal to 2',
  )
  assert.equal(
    check('streams.num.warmup.replicas', '21'),
    'streams.num.warmup.replicas must be less than or equal to 20',
  )
  assert.equal(
    check('streams.task.offset.interval.ms', '14999'),
    'streams.task.offset.interval.ms must be greater than or equal to 15000',
  )
  assert.equal(check('streams.assignor.name', ' sticky '), undefined)
  for (const name of ['', 'range']) {
    assert.equal(
      check('streams.assignor.name', name),
      `streams.assignor.name '${name}' is not a registered task assignor. Registered assignors are: [sticky].`,
    )
  }
})

test('settings of a metrics subscription are refused in the words of Kafka', () => {
  const check = (name: string, text: string) => checkClientMetricsConfig(new Map([[name, text]]))?.message
  assert.equal(check('interval.ms', '5000'), undefined)
  assert.equal(
    check('interval.ms', '1'),
    'Invalid value 1 for interval.ms, interval must be between 100 and 3600000 (1 hour)',
  )
  assert.equal(check('match', 'client_id=a.*,client_software_name=b'), undefined)
  assert.equal(check('match', 'zzz'), 'Illegal client matching pattern: zzz')
  assert.equal(check('match', 'client_id=('), 'Illegal client matching pattern: client_id=(')
  assert.equal(check('foo', 'x'), 'Unknown client metrics configuration: foo')
  const code = (text: string) => checkClientMetricsConfig(new Map([['interval.ms', text]]))?.errorCode
  assert.equal(code('99'), ErrorCode.invalidRequest)
  assert.equal(code('often'), ErrorCode.invalidConfig)
  const several = new Map([
    ['match', 'zzz'],
    ['interval.ms', '1'],
  ])
  assert.equal(
    checkClientMetricsConfig(several)?.errorCode,
    ErrorCode.invalidRequest,
    'the interval is looked at first',
  )
})

test('elements are added to a list and taken away, starting from its default', () => {
  const policy = topicSetting('cleanup.policy')
  const add = (current: string | undefined, elements: string) =>
    alterList(policy, current, { operation: 'append', elements })
  const take = (current: string | undefined, elements: string) =>
    alterList(policy, current, { operation: 'subtract', elements })
  assert.equal(add(undefined, 'compact'), 'delete,compact')
  assert.equal(add('delete,compact', 'compact'), 'delete,compact')
  assert.equal(take('delete,compact', 'delete'), 'compact')
  assert.equal(take('compact', 'compact'), '')
  assert.equal(take(undefined, 'delete'), '')
  assert.equal(alterList(topicSetting('retention.ms'), undefined, { operation: 'append', elements: '1' }), undefined)
  assert.equal(alterList(undefined, undefined, { operation: 'append', elements: '1' }), undefined)
})
