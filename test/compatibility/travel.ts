import { mkdtempSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type BrokerProcess, until } from './broker-process.ts'
import { type DriverCommand, DriverProcess, drive, type SeenRecord } from './driver-process.ts'
import { dumpLogDir } from './dump-log.ts'
import { fromJava, inPlace } from './install.ts'
import type { Codec, Job } from './job.ts'
import { KafkaOracle, type Quorum } from './kafka/kafka-oracle.ts'
import { MillraceProcess } from './millrace-process.ts'

export type Name = 'kafka' | 'millrace'

/** Of a directory: by whom it is made, and by whom it is opened then. */
export interface Journey {
  readonly from: Name
  readonly to: Name
  /** As Kafka formats a directory of its own. */
  readonly quorum?: Quorum
  /** Less of everything, and by a client that starts faster than Java's. */
  readonly isSample?: boolean
  /** The first does not get the directory back. */
  readonly isOneWay?: boolean
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

const PARTITIONS = 3
const GROUP = 'traveller'
const GROUP_TOPIC = 'travelled'
const CODECS: readonly Codec[] = ['none', 'gzip', 'snappy', 'lz4', 'zstd']
const SAMPLE_CODECS: readonly Codec[] = ['snappy', 'zstd']

/** Answers what went wrong, if anything. */
export async function travel(journey: Journey, dir: string): Promise<readonly string[]> {
  const java = await fromJava('java')
  const traveller = new Traveller(journey, dir, java, journey.isSample ? await inPlace('kcat') : java)
  await traveller.travel()
  return traveller.wrong
}

class Traveller {
  readonly wrong: string[] = []
  readonly #journey: Journey
  readonly #dir: string
  readonly #java: DriverCommand
  readonly #client: DriverCommand
  readonly #codecs: readonly Codec[]

  constructor(journey: Journey, dir: string, java: DriverCommand, client: DriverCommand) {
    this.#journey = journey
    this.#dir = dir
    this.#java = java
    this.#client = client
    this.#codecs = journey.isSample ? SAMPLE_CODECS : CODECS
  }

  async travel(): Promise<void> {
    const { from, to, isSample, isOneWay } = this.#journey
    const first = await this.#open(from)
    const logDir = first.logDirs[0]!
    const [sent, filled] = await during(first, async broker => {
      const sent = await this.#fill(broker)
      return [sent, await this.#readAll(broker, sent)] as const
    })
    if (from === 'kafka') this.#checkQuorum(logDir)
    // Of a sample only what is ours; Kafka's own are its own affair.
    if (!isSample || from === 'millrace') await this.#dump(`what ${from} wrote`, logDir)

    const [sentMore, added] = await during(await this.#open(to, logDir), async broker => {
      this.#compare(`${to} on what ${from} wrote`, filled, await this.#readAll(broker, sent))
      const more = await this.#sendMore(broker, await this.#resume(broker, sent))
      return [more, isOneWay ? undefined : await this.#readAll(broker, more)] as const
    })
    if (!isSample) await this.#dump(`what ${to} left`, logDir)
    if (added === undefined) return

    await during(await this.#open(from, logDir), async broker => {
      this.#compare(`${from} on what ${to} left`, added, await this.#readAll(broker, sentMore))
      await this.#resume(broker, sentMore)
    })
  }

  /** A broker on a new directory, or on one that is there, under the node id that is written in it. */
  async #open(name: Name, logDir?: string): Promise<BrokerProcess> {
    const place = mkdtempSync(join(this.#dir, `${name}-`))
    const settings = { 'num.partitions': String(PARTITIONS), 'log.segment.bytes': String(1 << 20) }
    const nodeId =
      logDir === undefined
        ? 1
        : Number(/^node\.id=(\d+)$/m.exec(readFileSync(join(logDir, 'meta.properties'), 'utf8'))![1])
    const { quorum } = this.#journey
    if (name === 'kafka') return await KafkaOracle.start({ dir: place, logDir, nodeId, quorum, properties: settings })
    // As in Kafka, it is the configuration then that names the voters; one that votes alone is not connected to.
    const voters: Record<string, string> =
      quorum === 'static' ? { 'controller.quorum.voters': `${nodeId}@127.0.0.1:9093` } : {}
    const overrides = { ...settings, 'node.id': String(nodeId), ...voters }
    return await MillraceProcess.start({ dir: place, logDir, overrides })
  }

  /** That the journey is the one that was asked for: the file's version goes with kraft.version. */
  #checkQuorum(logDir: string): void {
    const state = readFileSync(join(logDir, '__cluster_metadata-0', 'quorum-state'), 'utf8')
    const version = JSON.parse(state).data_version
    const wanted = this.#journey.quorum === 'static' ? 0 : 1
    if (version !== wanted) this.wrong.push(`Kafka's quorum-state has version ${version} instead of ${wanted}`)
  }

  /** Every codec, enough of one topic to roll a few segments, a group in the middle of a topic and, from Kafka, transactions. */
  async #fill(broker: BrokerProcess): Promise<Sent> {
    const { from, isSample } = this.#journey
    const plain = this.#codecs.map(codec => job(`codec-${codec}`, codec, 0, 200, 300))
    const jobs = [...plain, job('rolled', 'none', 0, 800, 5000), job(GROUP_TOPIC, 'none', 0, 50, 100)]
    const topics = jobs.map(({ topic }) => topic)
    const outcomes = from === 'kafka' ? (isSample ? [false, true] : [true, false, true, false, true]) : []
    if (outcomes.length > 0) topics.push('transactions')
    // kcat leaves it to the broker.
    if (!isSample) await this.#run(broker, 'create', { topics, partitions: PARTITIONS })
    await this.#run(broker, 'produce', { jobs })
    for (const [index, commit] of outcomes.entries()) {
      await drive(this.#java, 'transact', broker.bootstrap, {
        id: `writer-${index % 2}`,
        commit,
        jobs: [job('transactions', 'none', index * 20, 20, 100)],
      })
    }
    await this.#member(broker, 50)
    const records = jobs.reduce((sum, { count }) => sum + count, 0) + outcomes.length * 20
    return { topics, records, aborted: outcomes.filter(commit => !commit).length * 20, toGroup: 50 }
  }

  async #sendMore(broker: BrokerProcess, sent: Sent): Promise<Sent> {
    const jobs = [
      ...this.#codecs.map(codec => job(`codec-${codec}`, codec, 200, 50, 300)),
      job('rolled', 'none', 800, 200, 5000),
    ]
    await this.#run(broker, 'produce', { jobs })
    return { ...sent, records: sent.records + jobs.reduce((sum, { count }) => sum + count, 0) }
  }

  async #run(broker: BrokerProcess, verb: string, argument: unknown): Promise<DriverProcess> {
    return await drive(this.#client, verb, broker.bootstrap, argument)
  }

  async #readAll(broker: BrokerProcess, { topics, records, aborted }: Sent): Promise<Contents> {
    const read = async (isolation: string, count: number): Promise<SeenRecord[]> => {
      // Each client takes it from where it knows it.
      const settings = { 'isolation.level': isolation }
      const driver = await this.#run(broker, 'consume', { topics, from: 'start', count, isolation, settings })
      return driver.records.toSorted(byPlace)
    }
    const committed = await read('read_committed', records - aborted)
    return { uncommitted: await read('read_uncommitted', records), committed }
  }

  #compare(what: string, expected: Contents, found: Contents): void {
    for (const isolation of ['uncommitted', 'committed'] as const) {
      const [left, right] = [expected[isolation].map(text), found[isolation].map(text)]
      const differences = left.filter((line, index) => line !== right[index])
      console.log(`${what}: ${right.length} ${isolation} records of ${left.length}, ${differences.length} differ`)
      if (left.length !== right.length)
        this.wrong.push(`${what}: ${right.length} ${isolation} records instead of ${left.length}`)
      for (const line of differences.slice(0, 5))
        this.wrong.push(`${what}: ${line.slice(0, 200)} is not there as it was`)
    }
    if (expected.committed.length === 0) this.wrong.push(`${what}: nothing was there to compare`)
  }

  /** The group goes on where it was: it is sent ten records and sees those. */
  async #resume(broker: BrokerProcess, sent: Sent): Promise<Sent> {
    await this.#run(broker, 'produce', { jobs: [job(GROUP_TOPIC, 'none', sent.toGroup, 10, 100)] })
    const seen = await this.#member(broker, 10)
    const numbers = seen
      .map(({ value }) => Number.parseInt(value.slice(GROUP_TOPIC.length + 1), 10))
      .sort((a, b) => a - b)
    const wanted = Array.from({ length: 10 }, (_, index) => sent.toGroup + index)
    if (String(numbers) !== String(wanted)) this.wrong.push(`the group saw ${numbers} instead of ${wanted}`)
    return { ...sent, records: sent.records + 10, toGroup: sent.toGroup + 10 }
  }

  /** Joins the group until that many records are seen and committed. */
  async #member(broker: BrokerProcess, count: number): Promise<SeenRecord[]> {
    const argument = { topic: GROUP_TOPIC, group: GROUP, assignor: 'eager' }
    const driver = new DriverProcess(this.#client, 'member', broker.bootstrap, argument)
    try {
      await until(`${count} records in the group`, () => driver.ended || driver.records.length >= count)
      driver.askToStop()
      await driver.finish()
      return driver.records
    } finally {
      driver.kill()
    }
  }

  async #dump(what: string, logDir: string): Promise<void> {
    const { files, complaints } = await dumpLogDir(logDir)
    console.log(`${what}: kafka-dump-log read ${files} files with ${complaints.length} complaints`)
    for (const complaint of complaints.slice(0, 10)) this.wrong.push(`${what}: ${complaint.slice(0, 300)}`)
  }
}

/** Uses a broker and stops it cleanly; kills it if the use fails. */
async function during<T>(broker: BrokerProcess, use: (broker: BrokerProcess) => Promise<T>): Promise<T> {
  await using running = broker
  const result = await use(running)
  await running.stop('SIGTERM')
  return result
}

function job(topic: string, codec: Codec, first: number, count: number, valueBytes: number): Job {
  return { topic, codec, idempotent: true, prefix: topic, first, count, valueBytes }
}

function byPlace(a: SeenRecord, b: SeenRecord): number {
  if (a.topic !== b.topic) return a.topic < b.topic ? -1 : 1
  return a.partition - b.partition || a.offset - b.offset
}

function text({ topic, partition, offset, timestamp, key, value, headers }: SeenRecord): string {
  return JSON.stringify([topic, partition, offset, timestamp, key, value, headers])
}
