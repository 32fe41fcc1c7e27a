import { existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { parseSegmentFileName } from '../src/core/log/file-names.ts'
import { type BrokerProcess, until } from '../test/compatibility/broker-process.ts'
import { KafkaOracle } from '../test/compatibility/kafka/kafka-oracle.ts'
import { MillraceProcess } from '../test/compatibility/millrace-process.ts'
import { type BrokerName, portOf, readCleanerCheckpoint } from '../test/differential/compaction/cleaning.ts'
import { api } from '../test/end-to-end/api.ts'
import { RawClient } from '../test/end-to-end/raw-client.ts'
import { mainTopic, offsetsTopic, setConfigs, warmTopic } from './cleaner-data.ts'
import type { LoadGenerator } from './load-generator.ts'
import { peakResidentBytes, usageOf } from './process-usage.ts'

const patience = { timeoutMs: 240_000, everyMs: 5 }
const settlingMs = 2000
const idleMs = 4000
/** Each record is read twice in a pass: once for its key, once to be written or left out. */
const readsPerPass = 2
const mebibyte = 1 << 20

interface StartOptions {
  readonly dir: string
  readonly logDir: string
  readonly cleans: boolean
}

async function start(name: BrokerName, { dir, logDir, cleans }: StartOptions, ready = true): Promise<BrokerProcess> {
  const settings = {
    'log.cleaner.enable': String(cleans),
    'log.cleaner.threads': '1',
    'log.cleaner.backoff.ms': '100',
    'offsets.topic.num.partitions': '1',
  }
  if (name === 'millrace')
    return await MillraceProcess.start({ dir, logDir, overrides: { ...settings, 'node.id': '1' } })
  const kafka = await KafkaOracle.format({ dir, logDir, nodeId: 1, heap: ['-Xmx1g'], properties: settings })
  await kafka.restart({ ready })
  return kafka
}

/** Where a pass over the whole log ends, and how many bytes lie below. */
function cleanable(logDir: string, topic: string): { endOffset: number; bytes: number } {
  const dir = join(logDir, `${topic}-0`)
  const segments = readdirSync(dir)
    .map(parseSegmentFileName)
    .filter(file => file?.kind === 'log' && file.suffix === undefined)
    .map(file => file!.offset)
    .sort((a, b) => a - b)
  const endOffset = segments.pop()!
  const sizes = segments.map(base => statSync(join(dir, `${String(base).padStart(20, '0')}.log`)).size)
  return { endOffset, bytes: sizes.reduce((sum, size) => sum + size, 0) }
}

async function untilCleaned(logDir: string, topic: string, endOffset: number): Promise<void> {
  const log = `${topic}-0`
  await until(`${topic} to be compacted`, () => readCleanerCheckpoint(logDir).get(log) === endOffset, patience)
}

export interface PassFigures {
  readonly seconds: number
  readonly cpuSeconds: number
  /** Bytes that the cleaner read, in MB, per second of CPU. */
  readonly perCpuSecond: number
  readonly peakMiB: number
  /** What the process read by the kernel's count, against what a pass should read. */
  readonly readShare: number
}

/** One pass over the main log, in a process that has made one before. */
export async function measurePass(name: BrokerName, dir: string, logDir: string): Promise<PassFigures> {
  const warm = cleanable(logDir, warmTopic)
  const main = cleanable(logDir, mainTopic)
  await using broker = await start(name, { dir, logDir, cleans: true })
  const pid = broker.pids[0]!
  await untilCleaned(logDir, warmTopic, warm.endOffset)
  await pause(settlingMs)
  const idle = usageOf(pid)
  await pause(idleMs)
  using client = await RawClient.connect({ port: portOf(broker) })
  const before = usageOf(pid)
  await setConfigs(client, mainTopic, { 'min.cleanable.dirty.ratio': '0' })
  await untilCleaned(logDir, mainTopic, main.endOffset)
  const after = usageOf(pid)
  const seconds = (after.atMs - before.atMs) / 1000
  const idleShare = (before.cpuSeconds - idle.cpuSeconds) / ((before.atMs - idle.atMs) / 1000)
  const cpuSeconds = after.cpuSeconds - before.cpuSeconds - idleShare * seconds
  const readBytes = main.bytes * readsPerPass
  return {
    seconds,
    cpuSeconds,
    perCpuSecond: readBytes / 1e6 / cpuSeconds,
    peakMiB: peakResidentBytes(pid) / mebibyte,
    readShare: (after.readBytes - before.readBytes) / readBytes,
  }
}

export interface ServingFigures {
  readonly p99: number
  readonly p999: number
  /** How late the event loop was; of Millrace only. */
  readonly loopP999: number
  readonly loopMax: number
}

export interface Serving {
  readonly alone: ServingFigures
  readonly cleaning: ServingFigures
  /** Whether the pass lasted longer than the measurement. */
  readonly cleanedThroughout: boolean
}

/** Produce at 1,000 records/s, without and with a pass going on. */
export async function measureServing(
  name: BrokerName,
  { dir, logDir, load, seconds }: { dir: string; logDir: string; load: LoadGenerator; seconds: number },
): Promise<Serving> {
  const main = cleanable(logDir, mainTopic)
  const warm = cleanable(logDir, warmTopic)
  const loopFile = join(dir, 'event-loop-delay.json')
  if (name === 'millrace') {
    process.env.NODE_OPTIONS = `--import ${new URL('event-loop-delay.mjs', import.meta.url).href}`
    process.env.EVENT_LOOP_DELAY_FILE = loopFile
  }
  await using broker = await start(name, { dir, logDir, cleans: true })
  delete process.env.NODE_OPTIONS
  await untilCleaned(logDir, warmTopic, warm.endOffset)
  const where = { b: broker.bootstrap, pids: broker.pids.join(','), t: 'served', partitions: 1 }
  await load.run('topic', where)
  const measure = async (): Promise<ServingFigures> => {
    if (name === 'millrace') await loopDelay(broker, loopFile)
    const flags = { ...where, size: 100, rate: 1000, d: `${seconds}s`, 'warm-up': '500ms' }
    const { p99, p999 } = (await load.run('latency', flags)).acknowledged_ms
    const loop = name === 'millrace' ? await loopDelay(broker, loopFile) : { p999: Number.NaN, max: Number.NaN }
    return { p99, p999, loopP999: loop.p999, loopMax: loop.max }
  }
  await measure() // warms up
  const alone = await measure()
  using client = await RawClient.connect({ port: portOf(broker) })
  await setConfigs(client, mainTopic, { 'min.cleanable.dirty.ratio': '0' })
  const cleaning = await measure()
  const cleanedThroughout = readCleanerCheckpoint(logDir).get(`${mainTopic}-0`) !== main.endOffset
  return { alone, cleaning, cleanedThroughout }
}

/** Since it was last asked. */
async function loopDelay(broker: BrokerProcess, file: string): Promise<{ p999: number; max: number }> {
  rmSync(file, { force: true })
  process.kill(broker.pids[0]!, 'SIGUSR2')
  await until('the event loop delay', () => existsSync(file))
  return JSON.parse(readFileSync(file, 'utf8'))
}

/** Compacts the offsets' topic, and resolves when the broker has stopped again. */
export async function compactOffsets(dir: string, logDir: string): Promise<void> {
  const { endOffset } = cleanable(logDir, offsetsTopic)
  await using broker = await start('millrace', { dir, logDir, cleans: true })
  await untilCleaned(logDir, offsetsTopic, endOffset)
  await broker.stop()
}

export interface Replay {
  readonly answered: number
  readonly loaded: number
}

/** Seconds from the start of the process until it answers, and until the coordinator has read its topic. */
export async function measureReplay(name: BrokerName, dir: string, logDir: string): Promise<Replay> {
  const began = performance.now()
  const since = (): number => (performance.now() - began) / 1000
  await using broker = await start(name, { dir, logDir, cleans: false }, false)
  const port = portOf(broker)
  let client: RawClient | undefined
  await until(
    'a connection',
    async () => {
      client = await RawClient.connect({ port }).catch(() => undefined)
      return client !== undefined
    },
    { everyMs: 2, timeoutMs: 120_000 },
  )
  const answered = since()
  await until(
    'the offsets of a group',
    async () => {
      const groups = [{ groupId: 'group-0', topics: [{ name: 'committed', partitionIndexes: [0] }] }]
      const answer = await client!.call(api.offsetFetch, 8, { groups })
      return answer.groups[0]!.errorCode === 0 && answer.groups[0]!.topics[0]!.partitions[0]!.committedOffset > 0
    },
    { everyMs: 2, timeoutMs: 120_000 },
  )
  client!.close()
  return { answered, loaded: since() }
}
