import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { staticSettings } from './broker-settings.ts'
import {
  ConfigSource,
  type DescribedConfig,
  describeBroker,
  describeClientMetrics,
  describeCluster,
  describeGroup,
  describeTopic,
} from './describe-config.ts'

/** What Kafka 4.4 answered for one broker with the settings below; see the test for what was set while it ran. */
const answers = readFileSync(new URL('fixtures/kafka-4.4-described.tsv', import.meta.url), 'utf8')
  .split('\n')
  .slice(1, -1)

const texts = new Map([
  ['process.roles', 'broker,controller'],
  ['node.id', '1'],
  ['broker.id', '1'],
  ['controller.quorum.voters', '1@127.0.0.1:29393'],
  ['controller.listener.names', 'CONTROLLER'],
  ['listeners', 'PLAINTEXT://127.0.0.1:29392,CONTROLLER://127.0.0.1:29393'],
  ['listener.security.protocol.map', 'PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT'],
  ['log.dirs', '/var/kafka/data-1'],
  ['broker.rack', 'r1'],
  ['num.partitions', '4'],
  ['default.replication.factor', '1'],
  ['min.insync.replicas', '1'],
  ['offsets.topic.replication.factor', '1'],
  ['transaction.state.log.replication.factor', '1'],
  ['transaction.state.log.min.isr', '1'],
  ['share.coordinator.state.topic.replication.factor', '1'],
  ['share.coordinator.state.topic.min.isr', '1'],
  ['group.initial.rebalance.delay.ms', '0'],
  ['log.retention.hours', '100'],
  ['log.segment.bytes', '2097152'],
  ['delete.topic.enable', 'true'],
  ['some.unknown.key', '5'],
])
const layers = {
  texts,
  dynamic: {
    cluster: new Map([
      ['log.retention.ms', '888888'],
      ['min.insync.replicas', '2'],
    ]),
    broker: new Map([
      ['log.retention.ms', '7777777'],
      ['num.io.threads', '9'],
      ['compression.type', 'lz4'],
      ['foo.bar', 'x'],
      ['listener.name.plaintext.ssl.keystore.password', 'x'],
      ['leader.replication.throttled.rate', '1000'],
    ]),
  },
}

const sources = new Map<number, string>([
  [ConfigSource.dynamicTopic, 'DYNAMIC_TOPIC_CONFIG'],
  [ConfigSource.dynamicBroker, 'DYNAMIC_BROKER_CONFIG'],
  [ConfigSource.dynamicDefaultBroker, 'DYNAMIC_DEFAULT_BROKER_CONFIG'],
  [ConfigSource.staticBroker, 'STATIC_BROKER_CONFIG'],
  [ConfigSource.default, 'DEFAULT_CONFIG'],
  [ConfigSource.clientMetrics, 'DYNAMIC_CLIENT_METRICS_CONFIG'],
  [ConfigSource.group, 'DYNAMIC_GROUP_CONFIG'],
])
const types = ['UNKNOWN', 'BOOLEAN', 'STRING', 'INT', 'SHORT', 'LONG', 'DOUBLE', 'LIST', 'CLASS', 'PASSWORD']

function line(resource: string, entry: DescribedConfig): string {
  const synonyms = entry.synonyms.map(one => `${sources.get(one.source)}:${one.name}=${one.value}`)
  const { name, value, configType, configSource, readOnly, isSensitive } = entry
  return [
    ...[resource, name, String(value), types[configType], sources.get(configSource), readOnly, isSensitive],
    synonyms.join(' | '),
  ].join('\t')
}

/** What Millrace does not change while it runs, and therefore calls read-only. */
function isFixedHere(text: string): boolean {
  return /^BROKER:1\t(listeners|listener\.security\.protocol\.map)\t/.test(text)
}

function compare(resource: string, entries: readonly DescribedConfig[]): void {
  const expected = answers.filter(text => text.startsWith(`${resource}\t`) && !isFixedHere(text))
  const names = new Set(expected.map(text => text.split('\t')[1]))
  const actual = entries.filter(entry => names.has(entry.name)).map(entry => line(resource, entry))
  assert.deepEqual(actual.sort(), expected.sort())
}

test('a topic is described as Kafka describes it', () => {
  const entries = describeTopic(new Map([['cleanup.policy', '']]), layers)
  compare('TOPIC:t1', entries)
  assert.equal(entries.length, 37)
})

test('a broker is described as Kafka describes it', () => {
  const entries = describeBroker(layers)
  compare('BROKER:1', entries)
  const oddAnswers = answers.filter(text => text.startsWith('BROKER:1\t'))
  const odd = new Set(oddAnswers.map(text => text.split('\t')[1]))
  const plain = entries.filter(entry => !odd.has(entry.name) && !entry.name.startsWith('millrace.'))
  assert.equal(plain.length, 354 - oddAnswers.length)
  for (const entry of plain) {
    const setting = staticSettings.get(entry.name)
    const synonyms = [{ name: entry.name, value: setting?.default, source: ConfigSource.default }]
    assert.deepEqual([entry.value, entry.synonyms], [setting?.default, synonyms], entry.name)
    assert.equal(entry.readOnly, setting?.update === 'read-only', entry.name)
  }
})

test('what is set for all brokers is described as Kafka describes it', () => {
  compare('BROKER:', describeCluster(layers.dynamic))
})

test('a group is described as Kafka describes it, whether it has settings or not', () => {
  compare('GROUP:g1', describeGroup(new Map([['consumer.session.timeout.ms', '50000']]), layers))
  compare('GROUP:g2', describeGroup(new Map(), layers))
})

test('a value of a group is described as it is understood, not as it was written', () => {
  const texts = new Map([
    ['share.assignment.interval.ms', '010'],
    ['errors.deadletterqueue.topic.name', ' dlq '],
  ])
  const described = describeGroup(texts, layers).filter(({ name }) => texts.has(name))
  assert.deepEqual(
    described.map(({ value, synonyms }) => [value, synonyms[0].value]),
    [
      ['dlq', 'dlq'],
      ['10', '10'],
    ],
  )
})

test('a metrics subscription is described as Kafka describes it', () => {
  compare('CLIENT_METRICS:cm1', describeClientMetrics(new Map([['interval.ms', '5000']])))
  compare('CLIENT_METRICS:zz', describeClientMetrics(new Map()))
})

test('no secret and nothing unknown leaves in a description', () => {
  const secret = new Map([...texts, ['ssl.key.password', 'hunter2'], ['my.secret', 'hunter2']])
  const described = describeBroker({ texts: secret, dynamic: layers.dynamic })
  assert.ok(!JSON.stringify(described).includes('hunter2'))
})
