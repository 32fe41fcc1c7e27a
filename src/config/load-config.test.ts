import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ConfigSources, type LoadedConfig, loadConfig } from './load-config.ts'
import { problemText } from './problem.ts'

const serverProperties = [
  'process.roles=broker,controller',
  'node.id=1',
  'controller.listener.names=CONTROLLER',
  'controller.quorum.voters=1@localhost:9093',
  'listeners=PLAINTEXT://:9092,CONTROLLER://:9093',
]

/** A file of the usual lines with others put in their place; NAME=- takes a line away. */
function fileWith(...lines: string[]): string {
  const names = lines.map(line => line.slice(0, line.indexOf('=')))
  const kept = serverProperties.filter(line => !names.includes(line.slice(0, line.indexOf('='))))
  return [...kept, ...lines.filter(line => !line.endsWith('=-'))].join('\n')
}

function load(sources: Partial<ConfigSources>) {
  return loadConfig({ overrides: [], environment: {}, ...sources })
}

function loaded(sources: Partial<ConfigSources>): LoadedConfig {
  const result = load(sources)
  assert.equal(result.type, 'loaded', result.type === 'invalid' ? result.problems.map(problemText).join('\n') : '')
  return result as LoadedConfig
}

function loadFile(...lines: string[]): LoadedConfig {
  return loaded({ file: { path: 'server.properties', text: fileWith(...lines) } })
}

function problemsOf(sources: Partial<ConfigSources>): string[] {
  const result = load(sources)
  return result.type === 'invalid' ? result.problems.map(problemText) : []
}

function problemsOfFile(...lines: string[]): string[] {
  return problemsOf({ file: { path: 'server.properties', text: fileWith(...lines) } })
}

test('with nothing given, the development profile holds', () => {
  const { config, isDevelopment, warnings } = loaded({})
  assert.equal(isDevelopment, true)
  assert.deepEqual(warnings, [])
  assert.deepEqual(config.brokerListeners, [
    { name: 'PLAINTEXT', securityProtocol: 'PLAINTEXT', host: 'localhost', port: 9092 },
  ])
  assert.deepEqual(
    config.controllerListeners.map(({ host, port }) => [host, port]),
    [['127.0.0.1', 9093]],
  )
  assert.deepEqual(config.logDirs, ['data'])
  assert.deepEqual(config.adminListener, { host: '127.0.0.1', port: 9644 })
  assert.equal(config.groupInitialRebalanceDelayMs, 0)
  assert.equal(config.offsetsTopicReplicationFactor, 1)
  assert.equal(config.nodeId, 1)
})

test('the development profile ends where a file or the environment says who the node is', () => {
  assert.equal(loadFile().isDevelopment, false)
  assert.equal(loadFile().config.groupInitialRebalanceDelayMs, 3000)
  for (const name of ['KAFKA_PROCESS_ROLES', 'KAFKA_NODE_ID', 'MILLRACE_LOG_DIRS', 'KAFKA_BROKER_ID']) {
    const value = name.endsWith('ROLES') ? 'broker' : '1'
    const problems = problemsOf({ environment: { [name]: value } })
    assert.ok(
      problems.some(problem => problem.startsWith('controller.listener.names: not given')),
      name,
    )
  }
})

test('an override alone leaves the development profile in force', () => {
  const { isDevelopment, config } = loaded({ overrides: ['log.dirs=/srv/a,/srv/b', 'node.id=7'] })
  assert.equal(isDevelopment, true)
  assert.deepEqual(config.logDirs, ['/srv/a', '/srv/b'])
  assert.equal(config.metadataLogDir, '/srv/a')
  assert.equal(config.nodeId, 7)
})

test('in the development profile, whoever listens elsewhere still has the controller listener', () => {
  const elsewhere = loaded({ environment: { KAFKA_LISTENERS: 'PLAINTEXT://:19092' } }).config
  assert.deepEqual(
    [...elsewhere.brokerListeners, ...elsewhere.controllerListeners].map(one => one.port),
    [19_092, 9093],
  )
  const embedded = loaded({ overrides: ['listeners=PLAINTEXT://127.0.0.1:0,CONTROLLER://127.0.0.1:0'] }).config
  assert.deepEqual(
    [...embedded.brokerListeners, ...embedded.controllerListeners].map(one => one.port),
    [0, 0],
  )
})

test('what is not given is missing, and said so', () => {
  assert.deepEqual(problemsOf({ file: { path: 'f', text: '' } }), [
    'process.roles: not given, allowed: a list of: broker, controller, at least one',
    'node.id: not given, allowed: a whole number of at least 0',
    'controller.listener.names: not given, allowed: names of listeners, at least one, with commas between',
  ])
})

test('an override counts before MILLRACE_, that before KAFKA_, that before the file', () => {
  const file = { path: 'f', text: fileWith('num.partitions=2', 'num.io.threads=8') }
  const environment = { KAFKA_NUM_PARTITIONS: '3', MILLRACE_NUM_PARTITIONS: '4' }
  assert.equal(loaded({ file }).config.numPartitions, 2)
  assert.equal(loaded({ file, environment: { KAFKA_NUM_PARTITIONS: '3' } }).config.numPartitions, 3)
  assert.equal(loaded({ file, environment }).config.numPartitions, 4)
  assert.equal(
    loaded({ file, environment, overrides: ['num.partitions=5', 'num.partitions=6'] }).config.numPartitions,
    6,
  )
})

test('names in the environment are decoded as the image of Apache Kafka does', () => {
  const { config, texts, warnings } = loaded({
    environment: {
      MILLRACE_FLUSH: 'ack',
      KAFKA_AUTO_CREATE_TOPICS_ENABLE: 'false',
      KAFKA_LISTENER_NAME_INTERNAL_SCRAM___SHA___256_SASL_JAAS_CONFIG: 'secret',
      KAFKA_HEAP_OPTS: '-Xmx1g',
      KAFKA_PORT: 'tcp://10.0.0.1:9092',
      KAFKA_SERVICE_HOST: '10.0.0.1',
      MILLRACE_PORT_9092_TCP_ADDR: '10.0.0.1',
      MILLRACE_SERVICE_PORT_HTTP: '1',
      MILLRACE_NOTHING: '1',
      OTHER: 'x',
    },
  })
  assert.equal(config.millraceFlush, 'ack')
  assert.equal(config.autoCreateTopicsEnable, false)
  assert.equal(texts.get('listener.name.internal.scram-sha-256.sasl.jaas.config'), 'secret')
  assert.deepEqual(
    warnings.filter(warning => warning.startsWith('environment')),
    ['environment MILLRACE_NOTHING: no setting has that name'],
  )
})

test('the last of the development settings can be changed from the environment', () => {
  const { config, isDevelopment } = loaded({ environment: { MILLRACE_ADMIN_LISTENER: '', KAFKA_NUM_PARTITIONS: '3' } })
  assert.equal(isDevelopment, true)
  assert.equal(config.adminListener, undefined)
  assert.equal(config.numPartitions, 3)
})

test('who gives only advertised listeners in the environment listens on their ports everywhere', () => {
  const environment = { KAFKA_ADVERTISED_LISTENERS: 'PLAINTEXT://kafka.example:19092' }
  const { config } = loaded({ environment })
  assert.deepEqual(
    [...config.brokerListeners, ...config.controllerListeners].map(one => `${one.name}://${one.host}:${one.port}`),
    ['PLAINTEXT://0.0.0.0:19092', 'CONTROLLER://127.0.0.1:9093'],
  )
  assert.equal(config.advertisedListeners[0].host, 'kafka.example')
})

test('a properties file is read as Java reads it', () => {
  const text = [
    '# a comment with \\u00zz in it',
    '! another',
    ...serverProperties.slice(0, 4),
    'listeners : PLAINTEXT://:9092, \\',
    '    CONTROLLER://:9093',
    'broker.rack a\\u0062c',
    'log.dirs=C\\:\\\\logs',
  ].join('\r\n')
  const { config } = loaded({ file: { path: 'f', text } })
  assert.equal(config.brokerRack, 'abc')
  assert.deepEqual(config.logDirs, ['C:\\logs'])
  assert.equal(config.controllerListeners.length, 1)
})

test('a bad value names its file, line, key, what was given and what is allowed', () => {
  const text = `${fileWith()}\n\nlog.segment.bytes=100\n`
  assert.deepEqual(problemsOf({ file: { path: 'etc/server.properties', text } }), [
    'etc/server.properties, line 7: log.segment.bytes: given "100", allowed: a whole number of at least 1048576',
  ])
})

test('a number beyond its type is told the bound of the type', () => {
  const told = (line: string) => problemsOfFile(line).map(problem => problem.replace(/^.*allowed: a whole number/, ''))
  assert.deepEqual(told('log.segment.bytes=2147483648'), [' of at least 1048576, at most 2147483647'])
  assert.deepEqual(told('log.segment.bytes=9223372036854775808'), [' of at least 1048576, at most 2147483647'])
  assert.deepEqual(told('log.segment.bytes=-9223372036854775809'), [' of at least 1048576'])
  assert.deepEqual(told('log.retention.bytes=9223372036854775808'), [', at most 9223372036854775807'])
  assert.deepEqual(told('log.retention.bytes=-9223372036854775809'), [', at least -9223372036854775808'])
  assert.deepEqual(told('log.retention.ms=9223372036854775808'), [' of at least 1, or -1, at most 9223372036854775807'])
  assert.deepEqual(told('offsets.topic.replication.factor=32768'), [' of at least 1, at most 32767'])
  assert.deepEqual(told('offsets.commit.timeout.ms=2147483648'), [' of at least 1, at most 2147483647'])
  assert.deepEqual(told('group.share.delivery.count.limit=2147483648'), [' from 2 to 10'])
})

test('a bad value of each kind is refused', () => {
  const bad = [
    'num.partitions=many',
    'num.partitions=1.5',
    'num.partitions=0',
    'log.retention.bytes=99999999999999999999',
    'offsets.topic.replication.factor=40000',
    'log.cleaner.min.cleanable.ratio=half',
    'log.cleaner.min.cleanable.ratio=2',
    'auto.create.topics.enable=yes',
    'compression.type=brotli',
    'log.cleanup.policy=keep',
    'log.dirs=',
    'millrace.flush=never',
    'millrace.admin.listener=9644',
    'millrace.max.uncompressed.batch.bytes=1',
    'group.share.delivery.count.limit=11',
  ]
  for (const line of bad) {
    const problems = problemsOfFile(line)
    assert.equal(problems.length, 1, line)
    assert.match(problems[0], /^server\.properties, line 6: [a-z.]+: given ".*", allowed: ./, line)
  }
})

test('all bad values are named at once', () => {
  const problems = problemsOf({
    file: { path: 'f', text: fileWith('num.partitions=x') },
    environment: { KAFKA_COMPRESSION_TYPE: 'x', MILLRACE_FLUSH: 'x' },
    overrides: ['log.segment.bytes=x', 'nothing'],
  })
  assert.deepEqual(
    problems.map(problem => problem.split(',')[0].split(': given')[0]),
    [
      '--override KEY=VALUE',
      'f',
      'environment KAFKA_COMPRESSION_TYPE: compression.type',
      'environment MILLRACE_FLUSH: millrace.flush',
      '--override log.segment.bytes',
    ],
  )
})

test('a broken escape is named by its line', () => {
  const text = `${fileWith()}\nbroker.rack=\\u00zz\n`
  assert.deepEqual(problemsOf({ file: { path: 'f', text } }), [
    'f, line 6: text: given "broker.rack=\\u00zz", allowed: \\u with four hexadecimal digits',
  ])
})

test('a secret is not repeated', () => {
  const { texts } = loadFile('ssl.key.password=hunter2')
  assert.equal(texts.get('ssl.key.password'), 'hunter2')
  const result = load({ file: { path: 'f', text: fileWith('ssl.key.password=hunter2', 'num.partitions=x') } })
  assert.ok(!JSON.stringify(result).includes('hunter2'))
})

test('unknown keys, keys that stand twice and keys without effect warn and do no more', () => {
  const { warnings } = loadFile(
    'some.unknown.key=5',
    'num.partitions=2',
    'num.partitions=3',
    'num.io.threads=16',
    'num.network.threads=3',
  )
  assert.deepEqual(warnings, [
    'server.properties, line 8: num.partitions stands on line 7 too; the last counts',
    'server.properties, line 6: some.unknown.key is not a setting of Kafka 4.4 or Millrace and is ignored',
    'without effect, since one broker is one event loop and sizes its queues and its pool itself: num.io.threads',
  ])
})

test('what is set and has no effect is told with its place, unless it is what is so anyway', () => {
  const { warnings } = loaded({
    file: {
      path: 'server.properties',
      text: fileWith('socket.send.buffer.bytes=1000', 'socket.receive.buffer.bytes=-1'),
    },
    environment: { KAFKA_LOG_PREALLOCATE: 'true', KAFKA_REPLICA_FETCH_MIN_BYTES: '1' },
    overrides: [
      'compression.lz4.level=3',
      'listener.name.plaintext.max.connections=3',
      'listener.name.plaintext.connections.max.idle.ms=3',
    ],
  })
  assert.deepEqual(warnings, [
    'server.properties, line 6: socket.send.buffer.bytes has no effect so far: it is left to the system',
    'environment KAFKA_LOG_PREALLOCATE: log.preallocate has no effect so far: it grows as it is written',
    '--override compression.lz4.level has no effect so far: there is one level',
    '--override listener.name.plaintext.connections.max.idle.ms has no effect: no listener has it for itself',
  ])
})

test('a bad value does not hide what else is to be said', () => {
  const result = load({ file: { path: 'f', text: fileWith('num.partition=3', 'num.partitions=x') } })
  assert.ok(result.type === 'invalid')
  assert.deepEqual(result.warnings, [
    'f, line 6: num.partition is not a setting of Kafka 4.4 or Millrace and is ignored; did you mean num.partitions?',
  ])
  assert.deepEqual(result.problems.map(problemText), [
    'f, line 7: num.partitions: given "x", allowed: a whole number of at least 1',
  ])
  const rule = load({ overrides: ['num.partition=3', 'max.connections.per.ip=0'] })
  assert.deepEqual([rule.type, rule.warnings.length], ['invalid', 1])
})

test('who turns the development profile off by a variable is told which', () => {
  const hintOf = (sources: Partial<ConfigSources>) => {
    const result = load(sources)
    assert.ok(result.type === 'invalid')
    return result.hint
  }
  assert.equal(
    hintOf({ environment: { KAFKA_LOG_DIRS: '/data', MILLRACE_NODE_ID: '1' } }),
    'the development profile, which gives what is missing, is off, since MILLRACE_NODE_ID, KAFKA_LOG_DIRS are in the environment; --override leaves it on',
  )
  assert.equal(hintOf({ file: { path: 'f', text: 'log.dirs=/data' }, environment: { KAFKA_NODE_ID: '1' } }), undefined)
  assert.equal(hintOf({ overrides: ['num.partitions=x'] }), undefined)
})

test('an unknown name is told with the one that was probably meant', () => {
  const { warnings } = load({
    overrides: ['num.partition=3', 'millrace.flsh=ack', 'wholly.different=1'],
    environment: { MILLRACE_FLUHS: 'ack', MILLRACE_LOG_DIR_S: 'x' },
  }) as LoadedConfig
  assert.deepEqual(warnings, [
    'environment MILLRACE_FLUHS: no setting has that name; did you mean millrace.flush?',
    'environment MILLRACE_LOG_DIR_S: no setting has that name; did you mean log.dirs?',
    '--override: num.partition is not a setting of Kafka 4.4 or Millrace and is ignored; did you mean num.partitions?',
    '--override: millrace.flsh is not a setting of Kafka 4.4 or Millrace and is ignored; did you mean millrace.flush?',
    '--override: wholly.different is not a setting of Kafka 4.4 or Millrace and is ignored',
  ])
})

test('retention is given by ms, else by minutes, else by hours, and any negative value is for ever', () => {
  assert.equal(loadFile().config.logRetentionMs, 604_800_000)
  assert.equal(loadFile('log.retention.minutes=1').config.logRetentionMs, 60_000)
  assert.equal(loadFile('log.retention.ms=5', 'log.retention.minutes=1').config.logRetentionMs, 5)
  assert.equal(loadFile('log.retention.ms=-5').config.logRetentionMs, -1)
  assert.equal(loadFile('log.roll.hours=2').config.logRollMs, 7_200_000)
  assert.equal(loadFile('log.roll.jitter.hours=1', 'log.roll.jitter.ms=3').config.logRollJitterMs, 3)
  assert.equal(loadFile('log.flush.scheduler.interval.ms=9').config.logFlushIntervalMs, 9)
})

test('node.id may be given as broker.id, and both must agree', () => {
  assert.equal(loadFile('node.id=-', 'broker.id=1').config.nodeId, 1)
  assert.equal(problemsOfFile('broker.id=2').length, 1)
})

/** What Kafka 4.4 takes and what it refuses; the few that Millrace refuses besides stand in the test below. */
const takenByKafka: readonly (readonly string[])[] = [
  [],
  ['process.roles=broker', 'controller.quorum.voters=2@h:1', 'listeners=PLAINTEXT://:9092'],
  ['process.roles=controller', 'listeners=CONTROLLER://:9093'],
  ['controller.quorum.voters=-', 'controller.quorum.bootstrap.servers=h:1'],
  [
    'listeners=A://:9092,CONTROLLER://:9093',
    'listener.security.protocol.map=A:PLAINTEXT,CONTROLLER:PLAINTEXT',
    'inter.broker.listener.name=A',
  ],
  ['inter.broker.listener.name=PLAINTEXT'],
  ['advertised.listeners=PLAINTEXT://h:1'],
  ['advertised.listeners=PLAINTEXT://h:1,CONTROLLER://h:2'],
  ['advertised.listeners=PLAINTEXT://:9'],
  ['advertised.listeners=plaintext://h:1'],
  ['listeners=PLAINTEXT://:0,CONTROLLER://:0'],
  ['listeners=plaintext://:9092,controller://:9093'],
  ['listeners=PLAINTEXT://bad_host:9092,CONTROLLER://:9093'],
  ['listeners=PLAINTEXT://[::1]:9092,CONTROLLER://:9093'],
  ['listeners= PLAINTEXT://:9092 , CONTROLLER://:9093 '],
  ['max.connections.per.ip.overrides=127.0.0.1:1'],
  ['log.cleanup.policy='],
  ['default.replication.factor=-1'],
  ['broker.session.timeout.ms=10'],
  ['unknown.key=1'],
]

const refusedByKafka: readonly (readonly string[])[] = [
  ['listeners=PLAINTEXT://:9092'],
  ['listeners=CONTROLLER://:9093'],
  ['listeners=-'],
  ['process.roles=broker', 'controller.quorum.voters=2@h:1'],
  ['process.roles=broker', 'listeners=PLAINTEXT://:9092'],
  ['process.roles=controller'],
  ['controller.quorum.voters=2@h:1'],
  ['controller.quorum.voters=-'],
  ['controller.quorum.voters=abc'],
  ['controller.quorum.voters=1@h:x'],
  ['controller.quorum.bootstrap.servers=h'],
  ['controller.listener.names=-'],
  ['controller.listener.names=FOO'],
  ['controller.listener.names=CONTROLLER,PLAINTEXT'],
  ['listeners=A://:9092,CONTROLLER://:9093'],
  ['listeners=A://:9092,CONTROLLER://:9093', 'listener.security.protocol.map=A:PLAINTEXT'],
  ['listeners=A://:9092,CONTROLLER://:9093', 'listener.security.protocol.map=A:PLAINTEXT,CONTROLLER:PLAINTEXT'],
  ['listener.security.protocol.map=PLAINTEXT:FOO,CONTROLLER:PLAINTEXT'],
  ['listener.security.protocol.map=PLAINTEXT'],
  ['inter.broker.listener.name=FOO'],
  ['inter.broker.listener.name=CONTROLLER'],
  ['inter.broker.listener.name=PLAINTEXT', 'security.inter.broker.protocol=PLAINTEXT'],
  ['security.inter.broker.protocol=SSL'],
  ['advertised.listeners=FOO://h:1'],
  ['advertised.listeners=PLAINTEXT://0.0.0.0:1'],
  ['advertised.listeners=CONTROLLER://h:2'],
  ['advertised.listeners=PLAINTEXT://h'],
  ['listeners=PLAINTEXT://:9092,PLAINTEXT://:9094,CONTROLLER://:9093'],
  ['listeners=PLAINTEXT://:9093,CONTROLLER://:9093'],
  ['listeners=PLAINTEXT:9092,CONTROLLER://:9093'],
  ['listeners=PLAINTEXT://ba d:9092,CONTROLLER://:9093'],
  ['listeners=://:9092,CONTROLLER://:9093'],
  ['listeners=SSL://:9092,CONTROLLER://:9093'],
  ['log.retention.ms=0'],
  ['log.retention.hours=0'],
  ['log.roll.ms=0'],
  ['log.roll.jitter.ms=-1'],
  ['replica.fetch.wait.max.ms=40000'],
  ['queued.max.request.bytes=5'],
  ['offsets.topic.compression.codec=7'],
  ['max.connections.per.ip=0'],
  ['max.connections.per.ip.overrides=127.0.0.2:x'],
  ['node.id=5'],
]

test('combinations of settings are taken and refused as Kafka does', () => {
  for (const lines of takenByKafka) assert.deepEqual(problemsOfFile(...lines), [], lines.join(' '))
  for (const lines of refusedByKafka) assert.notDeepEqual(problemsOfFile(...lines), [], lines.join(' '))
})

test('what Millrace cannot do yet ends the start with one line', () => {
  const map = 'listener.security.protocol.map=PLAINTEXT:SSL,CONTROLLER:PLAINTEXT'
  assert.deepEqual(problemsOfFile(map), [
    'server.properties, line 5: listeners: given "PLAINTEXT://:9092", allowed: PLAINTEXT listeners only, so far; by listener.security.protocol.map this is SSL',
  ])
  assert.deepEqual(problemsOfFile('listeners=CONTROLLER://:9093,SASL_SSL://[::1]:9092'), [
    'server.properties, line 5: listeners: given "SASL_SSL://[::1]:9092", allowed: PLAINTEXT listeners only, so far; by listener.security.protocol.map this is SASL_SSL',
  ])
  assert.deepEqual(problemsOf({ overrides: ['listeners=SSL://localhost:9092'] }), [
    '--override listeners: given "SSL://localhost:9092", allowed: PLAINTEXT listeners only, so far; by listener.security.protocol.map this is SSL',
  ])
  assert.deepEqual(problemsOfFile('authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer'), [
    'server.properties, line 6: authorizer.class.name: given "org.apache.kafka.metadata.authorizer.StandardAuthorizer", allowed: nothing, since there is no authorizer so far',
  ])
  assert.equal(problemsOfFile('listeners=PLAINTEXT://h:99999,CONTROLLER://:9093').length, 1)
})

test('of several listeners the one that is wrong is shown', () => {
  assert.deepEqual(problemsOf({ overrides: ['listeners=PLAINTEXT://localhost:99999'] }), [
    '--override listeners: given "PLAINTEXT://localhost:99999", allowed: NAME://HOST:PORT with a port from 0 to 65535',
  ])
  const [problem] = problemsOf({ overrides: ['listeners=INTERNAL://localhost:9092'] })
  assert.match(problem, /given "INTERNAL:\/\/localhost:9092", allowed: names that stand in .*map: .*PLAINTEXT, /)
})

test('two listeners share a port only with one address of each family', () => {
  const map = 'listener.security.protocol.map=PLAINTEXT:PLAINTEXT,B:PLAINTEXT,CONTROLLER:PLAINTEXT'
  assert.deepEqual(problemsOfFile('listeners=PLAINTEXT://127.0.0.1:9092,B://[::1]:9092,CONTROLLER://:9093', map), [])
  assert.equal(
    problemsOfFile('listeners=PLAINTEXT://127.0.0.1:9092,B://127.0.0.2:9092,CONTROLLER://:9093', map).length,
    1,
  )
})

test('names such as __proto__ are names like any other', () => {
  const { warnings, config } = loadFile('__proto__=1', 'constructor=2')
  assert.equal(warnings.length, 2)
  assert.equal(config.numPartitions, 1)
})
