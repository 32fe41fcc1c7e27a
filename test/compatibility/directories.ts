import { mkdtempSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type BrokerProcess, until } from './broker-process.ts'
import { exitOnSignals } from './child-process.ts'
import { DriverProcess, drive, type SeenRecord } from './driver-process.ts'
import { dumpLogDir } from './dump-log.ts'
import { fromJava } from './install.ts'
import type { Codec, Job } from './job.ts'
import { KafkaOracle } from './kafka/kafka-oracle.ts'
import { MillraceProcess } from './millrace-process.ts'
import { inDirectory } from './temporary-directory.ts'

const USAGE = `One broker's data directory, opened by the other and taken back.

  node test/compatibility/directories.ts --from kafka|millrace --to kafka|millrace

Fills a broker, stops it, has kafka-dump-log read every file, starts the other broker on the same directory, and compares
what it serves: records by both isolation levels, and where a group is. Then the first broker gets the directory back.
`

type Name = 'kafka' | 'millrace'
const PARTITIONS = 3
const GROUP = 'traveller'
const GROUP_TOPIC = 'travelled'
const CODECS: readonly Codec[] = ['none', 'gzip', 'snappy', 'lz4', 'zstd']

const { from, to } = readOptions()
exitOnSignals()
const wrong: string[] = []
const java = await fromJava('java')
await inDirectory('directories', travel)
for (const line of wrong.slice(0, 40)) console.log(`  ${line}`)
console.log(`${wrong.length === 0 ? 1 : 0} passed, ${wrong.length === 0 ? 0 : 1} failed`)
process.exit(wrong.length === 0 ? 0 : 1)

function readOptions(): { from: Name; to: Name } {
  const { values } = parseArgs({ options: { from: { type: 'string' }, to: { type: 'string' } } })
  const known = (name: string | undefined): name is Name => name === 'kafka' || name === 'millrace'
  if (!known(values.from) || !known(values.to)) {
    process.stdout.write(USAGE)
    process.exit(2)
  }
  return { from: values.from, to: values.to }
}

async function travel(dir: string): Promise<void> {
  const open = (name: Name, logDir?: string): Promise<BrokerProcess> => openBroker(dir, name, logDir)
  const first = await open(from)
  const logDir = first.logDirs[0]!
  const [sent, filled] = await during(first, async broker => {
    const sent = await fill(broker)
    return [sent, await readAll(broker, sent)] as const
  })
  await dump(`what ${from} wrote`, logDir)

  const [sentMore, added] = await during(await open(to, logDir), async broker => {
    compare(`${to} on what ${from} wrote`, filled, await readAll(broker, sent))
    const more = await sendMore(broker, await resume(broker, sent))
    return [more, await readAll(broker, more)] as const
  })
  await dump(`what ${to} left`, logDir)

  await during(await open(from, logDir), async broker => {
    compare(`${from} on what ${to} left`, added, await readAll(broker, sentMore))
    await resume(broker, sentMore)
  })
}

/** A broker on a new directory, or on one that is there, under the node id that is written in it. */
async function openBroker(dir: string, name: Name, logDir?: string): Promise<BrokerProcess> {
  const place = mkdtempSync(join(dir, `${name}-`))
  const settings = { 'num.partitions': String(PARTITIONS), 'log.segment.bytes': String(1 << 20) }
  const nodeId =
    logDir === undefined
      ? 1
      : Number(/^node\.id=(\d+)$/m.exec(readFileSync(join(logDir, 'meta.properties'), 'utf8'))![1])
  if (name === 'kafka') return await KafkaOracle.start({ dir: place, logDir, nodeId, properties: settings })
  return await MillraceProcess.start({ dir: place, logDir, overrides: { ...settings, 'node.id': String(nodeId) } })
}

/** Uses a broker and stops it cleanly; kills it if the use fails. */
async function during<T>(broker: BrokerProcess, use: (broker: BrokerProcess) => Promise<T>): Promise<T> {
  await using running = broker
  const result = await use(running)
  await running.stop('SIGTERM')
  return result
}

interface Contents {
  readonly uncommitted: readonly SeenRecord[]
  readonly committed: readonly SeenRecord[]
}

/** What has been sent so far: how many records of which topics, how many of them were aborted, how many are the group's. */
interface Sent {
  readonly topics: readonly string[]
  readonly records: number
  readonly aborted: number
  readonly toGroup: number
}

/** Every codec, enough of one topic to roll a few segments, a group in the middle of a topic and, from Kafka, transactions. */
async function fill(broker: BrokerProcess): Promise<Sent> {
  const plain = CODECS.map(codec => job(`codec-${codec}`, codec, 0, 200, 300))
  const jobs = [...plain, job('rolled', 'none', 0, 800, 5000), job(GROUP_TOPIC, 'none', 0, 50, 100)]
  const topics = jobs.map(({ topic }) => topic)
  const outcomes = from === 'kafka' ? [true, false, true, false, true] : []
  if (outcomes.length > 0) topics.push('transactions')
  await run(broker, 'create', { topics, partitions: PARTITIONS })
  await run(broker, 'produce', { jobs })
  for (const [index, commit] of outcomes.entries()) {
    await run(broker, 'transact', {
      id: `writer-${index % 2}`,
      commit,
      jobs: [job('transactions', 'none', index * 20, 20, 100)],
    })
  }
  await member(broker, 50)
  const records = jobs.reduce((sum, { count }) => sum + count, 0) + outcomes.length * 20
  return { topics, records, aborted: outcomes.filter(commit => !commit).length * 20, toGroup: 50 }
}

async function sendMore(broker: BrokerProcess, sent: Sent): Promise<Sent> {
  const jobs = [
    ...CODECS.map(codec => job(`codec-${codec}`, codec, 200, 50, 300)),
    job('rolled', 'none', 800, 200, 5000),
  ]
  await run(broker, 'produce', { jobs })
  return { ...sent, records: sent.records + jobs.reduce((sum, { count }) => sum + count, 0) }
}

function job(topic: string, codec: Codec, first: number, count: number, valueBytes: number): Job {
  return { topic, codec, idempotent: true, prefix: topic, first, count, valueBytes }
}

async function run(broker: BrokerProcess, verb: string, argument: unknown): Promise<DriverProcess> {
  return await drive(java, verb, broker.bootstrap, argument)
}

async function readAll(broker: BrokerProcess, { topics, records, aborted }: Sent): Promise<Contents> {
  const read = async (isolation: string, count: number): Promise<SeenRecord[]> => {
    const driver = await run(broker, 'consume', { topics, from: 'start', count, isolation })
    return driver.records.toSorted(byPlace)
  }
  return {
    uncommitted: await read('read_uncommitted', records),
    committed: await read('read_committed', records - aborted),
  }
}

function byPlace(a: SeenRecord, b: SeenRecord): number {
  if (a.topic !== b.topic) return a.topic < b.topic ? -1 : 1
  return a.partition - b.partition || a.offset - b.offset
}

function compare(what: string, expected: Contents, found: Contents): void {
  for (const isolation of ['uncommitted', 'committed'] as const) {
    const [left, right] = [expected[isolation].map(text), found[isolation].map(text)]
    const differences = left.filter((line, index) => line !== right[index])
    console.log(`${what}: ${right.length} ${isolation} records of ${left.length}, ${differences.length} differ`)
    if (left.length !== right.length)
      wrong.push(`${what}: ${right.length} ${isolation} records instead of ${left.length}`)
    for (const line of differences.slice(0, 5)) wrong.push(`${what}: ${line.slice(0, 200)} is not there as it was`)
  }
}

function text({ topic, partition, offset, timestamp, key, value, headers }: SeenRecord): string {
  return JSON.stringify([topic, partition, offset, timestamp, key, value, headers])
}

/** The group goes on where it was: it is sent ten records and sees those. */
async function resume(broker: BrokerProcess, sent: Sent): Promise<Sent> {
  await run(broker, 'produce', { jobs: [job(GROUP_TOPIC, 'none', sent.toGroup, 10, 100)] })
  const seen = await member(broker, 10)
  const numbers = seen
    .map(({ value }) => Number.parseInt(value.slice(GROUP_TOPIC.length + 1), 10))
    .sort((a, b) => a - b)
  const wanted = Array.from({ length: 10 }, (_, index) => sent.toGroup + index)
  if (String(numbers) !== String(wanted)) wrong.push(`the group saw ${numbers} instead of ${wanted}`)
  return { ...sent, records: sent.records + 10, toGroup: sent.toGroup + 10 }
}

/** Joins the group until that many records are seen and committed. */
async function member(broker: BrokerProcess, count: number): Promise<SeenRecord[]> {
  const argument = { topic: GROUP_TOPIC, group: GROUP, assignor: 'eager' }
  const driver = new DriverProcess(java, 'member', broker.bootstrap, argument)
  try {
    await until(`${count} records in the group`, () => driver.ended || driver.records.length >= count)
    driver.askToStop()
    await driver.finish()
    return driver.records
  } finally {
    driver.kill()
  }
}

async function dump(what: string, logDir: string): Promise<void> {
  const { files, complaints } = await dumpLogDir(logDir)
  console.log(`${what}: kafka-dump-log read ${files} files with ${complaints.length} complaints`)
  for (const complaint of complaints.slice(0, 10)) wrong.push(`${what}: ${complaint.slice(0, 300)}`)
}
