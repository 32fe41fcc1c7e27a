// Kafka's own command line: each verb is one or more of its tools.
import { rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { kafkaTool, startKafkaTool } from '../../kafka/kafka-tool.ts'
import { emit, main, recordsOf, stopRequested } from '../shared/driver.mjs'

/** As long as the console consumer waits for a record before it takes the topic as read. */
const IDLE_MS = 4000
/** Most of a consumer's time is that wait. In one group they would wait for each other as well. */
const SIDE_BY_SIDE = 3
const TAB = '\t'

async function tool(name, args, options) {
  const { code, stdout, stderr } = await kafkaTool(name, args, options)
  // Some tools end with 0 although what they were asked failed: then they say so.
  if (code !== 0 || /\bERROR\b|Exception/.test(stdout + stderr))
    throw new Error(`${name} ended with ${code}:\n${stdout}${stderr}`)
  return stdout
}

async function create(bootstrap, { topics, partitions }) {
  for (const topic of topics) {
    const what = ['--create', '--topic', topic, '--partitions', String(partitions)]
    await tool('TopicCommand', ['--bootstrap-server', bootstrap, ...what])
  }
}

async function produce(bootstrap, { jobs }) {
  for (const { topic, codec, idempotent, ...job } of jobs) {
    const lines = recordsOf(job).map(({ key, value }) => `job:${job.prefix}${TAB}${key}${TAB}${value}\n`)
    const where = ['--bootstrap-server', bootstrap, '--topic', topic, '--compression-codec', codec]
    const parsed = ['parse.key=true', 'parse.headers=true'].flatMap(each => ['--reader-property', each])
    // The tool's own default of one and a half seconds for a request is short on a busy machine.
    const patient = ['--timeout', '20', '--request-timeout-ms', '20000']
    const acked = ['--command-property', `enable.idempotence=${idempotent}`]
    await tool('ConsoleProducer', [...where, ...parsed, ...patient, ...acked], { stdin: lines.join('') })
  }
}

const SHOWN = ['timestamp', 'partition', 'offset', 'headers', 'key', 'value']
const FORMAT = SHOWN.flatMap(each => ['--formatter-property', `print.${each}=true`])

/** `CreateTime:1 <tab> Partition:0 <tab> Offset:3 <tab> job:p <tab> k1 <tab> value` */
function emitLine(topic, line) {
  const [time, partition, offset, headers, key, value] = line.split(TAB)
  const number = text => Number(text.slice(text.indexOf(':') + 1))
  const pairs = headers.split(',').map(header => header.split(':'))
  const at = { topic, partition: number(partition), offset: number(offset), timestamp: number(time) }
  emit('record', { ...at, key, value, headers: Object.fromEntries(pairs) })
}

async function consume(bootstrap, { topics, from, group }) {
  const byTime = from !== 'start'
  if (byTime) {
    const when = new Date(from).toISOString()
    const which = ['--group', group, ...topics.flatMap(topic => ['--topic', topic])]
    const what = ['--reset-offsets', '--to-datetime', when, '--execute']
    await tool('ConsumerGroupCommand', ['--bootstrap-server', bootstrap, ...which, ...what])
  }
  const waiting = [...topics]
  const lane = async () => {
    for (let topic = waiting.shift(); topic !== undefined; topic = waiting.shift()) {
      await consumeTopic(bootstrap, topic, byTime ? ['--group', group] : ['--from-beginning'])
    }
  }
  await Promise.all(Array.from({ length: byTime ? 1 : SIDE_BY_SIDE }, lane))
}

async function consumeTopic(bootstrap, topic, start) {
  const what = ['--bootstrap-server', bootstrap, '--topic', topic, '--timeout-ms', String(IDLE_MS)]
  const { code, stdout, stderr } = await kafkaTool('ConsoleConsumer', [...what, ...start, ...FORMAT])
  if (code !== 0) throw new Error(`ConsoleConsumer ended with ${code}:\n${stderr}`)
  for (const line of stdout.split('\n')) if (line.includes(TAB)) emitLine(topic, line)
}

/** The consumer tells of its assignment only in its log, so it is made to log that much to standard error. */
const LOGGING = `Configuration:
  Appenders:
    Console: { name: err, target: SYSTEM_ERR, PatternLayout: { pattern: "%m%n" } }
  Loggers:
    Root: { level: INFO, AppenderRef: [{ ref: err }] }
`

async function member(bootstrap, { topic, group, assignor }) {
  const logging = join(tmpdir(), `compatibility-${process.pid}.yaml`)
  writeFileSync(logging, LOGGING)
  process.once('exit', () => rmSync(logging, { force: true }))
  const strategy = assignor === 'eager' ? 'RangeAssignor' : 'CooperativeStickyAssignor'
  const settings = {
    'auto.offset.reset': 'earliest',
    'auto.commit.interval.ms': 100,
    'session.timeout.ms': 6000,
    'heartbeat.interval.ms': 500,
    'partition.assignment.strategy': `org.apache.kafka.clients.consumer.${strategy}`,
  }
  const properties = Object.entries(settings).flatMap(([key, value]) => ['--command-property', `${key}=${value}`])
  const what = ['--bootstrap-server', bootstrap, '--topic', topic, '--group', group]
  const child = await startKafkaTool(
    'ConsoleConsumer',
    [...what, ...properties, ...FORMAT],
    [`-Dlog4j2.configurationFile=${logging}`],
  )
  const ended = new Promise(resolve => child.once('close', (code, signal) => resolve(signal ?? code)))
  createInterface({ input: child.stdout }).on('line', line => emitLine(topic, line))
  const held = new Set()
  createInterface({ input: child.stderr }).on('line', line => {
    const change =
      /(Adding newly assigned|Revoke previously assigned|Lost previously assigned) partitions:? ?(.*)/i.exec(line)
    if (change === null) return process.stderr.write(`${line}\n`)
    const partitions = [...change[2].matchAll(/-(\d+)(?=,|\s|\]|\)|$)/g)].map(match => Number(match[1]))
    for (const partition of partitions) /^Adding/i.test(change[1]) ? held.add(partition) : held.delete(partition)
    emit('assigned', { partitions: [...held] })
  })
  const left = await Promise.race([stopRequested().then(() => 'asked'), ended])
  if (left !== 'asked') throw new Error(`ConsoleConsumer left by itself with ${left}`)
  child.kill('SIGTERM')
  await ended
}

await main({ create, produce, consume, member })
