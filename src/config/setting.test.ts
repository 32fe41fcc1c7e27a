import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { brokerSetting, brokerSettings, staticSettings } from './broker-settings.ts'
import { clientMetricsSettings, groupConfigSettings } from './resource-settings.ts'
import type { Setting } from './setting.ts'
import { allTopicSettings } from './topic-config.ts'

interface KafkaSetting {
  readonly scope: string
  readonly name: string
  readonly type: string
  readonly default: string | null | undefined
  readonly valid: string
  readonly update: string
  readonly isInternal: boolean
}

const kafkaSettings: readonly KafkaSetting[] = readFileSync(
  new URL('fixtures/kafka-4.4-settings.tsv', import.meta.url),
  'utf8',
)
  .split('\n')
  .slice(1, -1)
  .map(line => {
    const [scope, name, type, value, valid, update, flags] = line.split('\t')
    const text = value === 'null' ? null : value === '(required)' ? undefined : value === '""' ? '' : value
    return { scope, name, type, default: text, valid, update, isInternal: flags.includes('internal') }
  })

function ours({ scope, name }: KafkaSetting): Setting | undefined {
  switch (scope) {
    case 'topic':
      return allTopicSettings.get(name)
    case 'group':
      return groupConfigSettings.find(one => one.setting.name === name)?.setting
    case 'client-metrics':
      return clientMetricsSettings.find(one => one.name === name)
    default:
      return brokerSetting(name)
  }
}

test('every setting of Kafka 4.4 is declared with its type, default and update mode', () => {
  const wrong: string[] = []
  for (const kafka of kafkaSettings) {
    const setting = ours(kafka)
    const expected = [
      kafka.type,
      kafka.default,
      kafka.isInternal,
      kafka.update === 'dynamic' ? 'read-only' : kafka.update,
    ]
    const actual = setting && [setting.type, setting.default, setting.isInternal, setting.update]
    if (JSON.stringify(expected) !== JSON.stringify(actual)) wrong.push(`${kafka.name}: ${actual}, not ${expected}`)
  }
  assert.deepEqual(wrong, [])
  assert.equal(kafkaSettings.length, 450)
})

test('nothing is declared that Kafka does not have, but for names that begin with millrace', () => {
  const known = new Set(kafkaSettings.map(kafka => kafka.name))
  const strangers = [...staticSettings.keys(), ...allTopicSettings.keys()].filter(name => !known.has(name))
  assert.deepEqual(
    strangers.filter(name => !name.startsWith('millrace.')),
    [],
  )
  assert.ok(strangers.length > 0)
})

test('every bound of Kafka is held: its ends are taken and what lies beyond is not', () => {
  const wrong: string[] = []
  for (const kafka of kafkaSettings) {
    const bounds = /^\[(-?[\d.]+),\.\.\.(?:,(-?[\d.]+))?\]( or -1)?$/.exec(kafka.valid)
    if (!bounds || kafka.scope === 'client-metrics') continue
    const taken = (text: string) => ours(kafka)?.parse(text).type === 'parsed'
    const [, min, max, orMinusOne] = bounds
    if (!taken(min) || taken(String(Number(min) - 1))) wrong.push(`${kafka.name} at ${min}`)
    if (max !== undefined && (!taken(max) || taken(String(Number(max) + 1)))) wrong.push(`${kafka.name} at ${max}`)
    if (orMinusOne !== undefined && !taken('-1')) wrong.push(`${kafka.name} at -1`)
  }
  assert.deepEqual(wrong, [])
})

test('where Kafka has no bound, there is none', () => {
  const wrong = kafkaSettings
    .filter(kafka => kafka.valid === '' && ['int', 'short', 'long'].includes(kafka.type))
    .filter(kafka => ours(kafka)?.parse('-32768').type !== 'parsed')
  assert.deepEqual(wrong, [])
})

test('where Kafka lists values, those are taken and no other', () => {
  const wrong: string[] = []
  for (const kafka of kafkaSettings) {
    const values = /^(ci:)?\[([A-Za-z_, 0-9]+)\](?!:)/.exec(kafka.valid)
    if (!values) continue
    const names = values[2].split(', ')
    const taken = (text: string) => ours(kafka)?.parse(text).type === 'parsed'
    if (!names.every(taken) || taken('other')) wrong.push(kafka.name)
    const ignoresCase = (name: string) => values[1] !== undefined || names.includes(name.toLowerCase())
    if (names.some(name => taken(name.toLowerCase()) !== ignoresCase(name))) wrong.push(`${kafka.name} in lower case`)
  }
  assert.deepEqual(wrong, [])
})

test('a list that must not be empty is not, and an empty element never is', () => {
  const wrong: string[] = []
  for (const kafka of kafkaSettings.filter(one => one.type === 'list' && /nonempty|empty-ok/.test(one.valid))) {
    const taken = ours(kafka)?.parse('').type === 'parsed'
    if (taken === / ?nonempty/.test(kafka.valid)) wrong.push(kafka.name)
  }
  assert.deepEqual(wrong, [])
  assert.equal(brokerSettings.logDirs.parse('/a,,/b').type, 'invalid')
})

/** Name, given text, and what Kafka 4.4 made of it: the value as it prints it, or its message. */
const parsedByKafka: readonly (readonly [string, string, string])[] = [
  ['cleanup.policy', 'compact,delete,compact', '= compact,delete'],
  ['cleanup.policy', ' compact , delete ', '= compact,delete'],
  ['cleanup.policy', '', '= '],
  ['cleanup.policy', 'compact,', "Configuration 'cleanup.policy' values must not be empty."],
  [
    'cleanup.policy',
    'COMPACT',
    'Invalid value COMPACT for configuration cleanup.policy: String must be one of: compact, delete',
  ],
  ['log.dirs', '', "Configuration 'log.dirs' must not be empty. Valid values include: any non-empty value"],
  ['process.roles', '', "Configuration 'process.roles' must not be empty. Valid values include: [broker, controller]"],
  ['node.id', ' 5 ', '= 5'],
  ['node.id', '+5', '= 5'],
  ['node.id', '0x5', 'Invalid value 0x5 for configuration node.id: Not a number of type INT'],
  ['node.id', '2147483648', 'Invalid value 2147483648 for configuration node.id: Not a number of type INT'],
  ['node.id', '-1', 'Invalid value -1 for configuration node.id: Value must be at least 0'],
  ['node.id', '', 'Invalid value  for configuration node.id: Not a number of type INT'],
  ['auto.create.topics.enable', ' TRUE ', '= true'],
  [
    'auto.create.topics.enable',
    '1',
    'Invalid value 1 for configuration auto.create.topics.enable: Expected value to be either true or false',
  ],
  ['log.retention.bytes', '9223372036854775807', '= 9223372036854775807'],
  [
    'log.retention.bytes',
    '9223372036854775808',
    'Invalid value 9223372036854775808 for configuration log.retention.bytes: Not a number of type LONG',
  ],
  ['log.retention.bytes', '9007199254740993', '= 9007199254740993'],
  ['min.cleanable.dirty.ratio', '.5', '= 0.5'],
  ['min.cleanable.dirty.ratio', '1', '= 1.0'],
  ['min.cleanable.dirty.ratio', '0.5d', '= 0.5'],
  ['min.cleanable.dirty.ratio', '0.0001', '= 1.0E-4'],
  ['min.cleanable.dirty.ratio', 'NaN', '= NaN'],
  [
    'min.cleanable.dirty.ratio',
    'x',
    'Invalid value x for configuration min.cleanable.dirty.ratio: Not a number of type DOUBLE',
  ],
  [
    'min.cleanable.dirty.ratio',
    '1.5',
    'Invalid value 1.5 for configuration min.cleanable.dirty.ratio: Value must be no more than 1',
  ],
  [
    'offsets.topic.replication.factor',
    '40000',
    'Invalid value 40000 for configuration offsets.topic.replication.factor: Not a number of type SHORT',
  ],
  [
    'compression.gzip.level',
    '0',
    'Invalid value 0 for configuration compression.gzip.level: Value must be between 1 and 9 or equal to -1',
  ],
  ['group.consumer.migration.policy', 'upgrade', '= upgrade'],
  [
    'group.consumer.migration.policy',
    'x',
    'Invalid value x for configuration group.consumer.migration.policy: String must be one of (case insensitive): DISABLED, DOWNGRADE, UPGRADE, BIDIRECTIONAL',
  ],
  [
    'remote.log.storage.manager.class.name',
    '',
    'Invalid value  for configuration remote.log.storage.manager.class.name: String must be non-empty',
  ],
  ['follower.replication.throttled.replicas', '*', '= *'],
  ['follower.replication.throttled.replicas', '1:2,3:4', '= 1:2,3:4'],
  ['follower.replication.throttled.replicas', '1:2,', '= 1:2,'],
  [
    'follower.replication.throttled.replicas',
    '1:2,x',
    "Invalid value [1:2, x] for configuration follower.replication.throttled.replicas: follower.replication.throttled.replicas must be the literal '*' or a list of replicas in the following format: [partitionId]:[brokerId],[partitionId]:[brokerId],...",
  ],
]

test('values are read, printed and refused as Kafka does', () => {
  for (const [name, text, expected] of parsedByKafka) {
    const parsed = (brokerSetting(name) ?? allTopicSettings.get(name))?.parse(text)
    assert.equal(parsed?.type === 'parsed' ? `= ${parsed.text}` : parsed?.message, expected, `${name}=${text}`)
  }
})

test('durations of a share group are read as Kafka does', () => {
  const reset = groupConfigSettings.find(one => one.setting.name === 'share.auto.offset.reset')?.setting
  for (const text of ['latest', 'earliest', 'by_duration:PT1H', 'by_duration:P1D', 'by_duration:PT0.5S']) {
    assert.equal(reset?.parse(text).type, 'parsed', text)
  }
  for (const text of [
    'x',
    'LATEST',
    'by_duration:',
    'by_duration:x',
    'by_duration:-PT1H',
    'by_duration:P',
    'by_duration:PT',
  ]) {
    assert.equal(reset?.parse(text).type, 'invalid', text)
  }
})

test('the largest long is Infinity as a number and exact as a text', () => {
  const parsed = brokerSettings.logFlushIntervalMessages.parse('9223372036854775807')
  assert.deepEqual(parsed, { type: 'parsed', value: Number.POSITIVE_INFINITY, text: '9223372036854775807' })
})

test('every setting that changes something is documented, and every other one says why it does not', () => {
  const undocumented = [...staticSettings.values(), ...allTopicSettings.values()].filter(setting => setting.doc === '')
  assert.deepEqual(
    undocumented.map(setting => setting.name),
    [],
  )
})

test('a setting of one listener is known by the setting that it narrows', () => {
  assert.equal(brokerSetting('listener.name.internal.ssl.keystore.password')?.type, 'password')
  assert.equal(brokerSetting('listener.name.internal.scram-sha-256.sasl.jaas.config')?.type, 'password')
  assert.equal(brokerSetting('listener.name.internal.nothing'), undefined)
})
