import { rmSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import type { BrokerProcess } from '../test/compatibility/broker-process.ts'
import { inDirectory } from '../test/compatibility/temporary-directory.ts'
import { at } from './load-workloads.ts'
import type { System } from './system.ts'
import type { LifeWorkload, Tools } from './workload.ts'

/** From the start of the process, on a formatted empty directory, to the first record that a client has read back. */
export const start: LifeWorkload = {
  kind: 'life',
  name: 'start',
  title: 'start, on a formatted empty directory, to the first record consumed',
  metrics: [{ name: 'time', unit: 's', better: 'less', bar: 0.15 }],
  run: (system, tools) =>
    inDirectory('bench', async dir => {
      await using broker = await system.prepare(dir, { heap: ['-Xms1g', '-Xmx1g'] })
      return { time: await secondsUntil('first', broker, tools, {}) }
    }),
}

const TOPICS = 5
const PARTITIONS = 2000
const SETTLING_MS = 3000

/** Ten thousand partitions with a record each: what they hold in memory, and what a restart takes. */
export const manyPartitions: LifeWorkload = {
  kind: 'life',
  name: 'partitions-10k',
  title: '10,000 partitions',
  metrics: [
    { name: 'resident', unit: 'MiB', better: 'less', bar: 0.5 },
    { name: 'restart after a clean stop', unit: 's', better: 'less', bar: 0.2 },
    { name: 'restart after a kill', unit: 's', better: 'less', bar: 0.3 },
    { name: 'clean stop', unit: 's', better: 'less' },
  ],
  run: (system, tools) => inDirectory('bench', dir => measurePartitions(system, dir, tools)),
}

async function measurePartitions(system: System, dir: string, tools: Tools) {
  const topics = { t: 'load', topics: TOPICS, partitions: Math.ceil(PARTITIONS * tools.scale) }
  await using broker = await system.start(dir, { heap: ['-Xms1g', '-Xmx2g'] })
  await tools.load.run('topic', { ...at(broker), ...topics })
  await tools.load.run('spread', { ...at(broker), ...topics, size: 100 })
  await pause(SETTLING_MS)
  const { broker_rss_mib: resident } = await tools.load.run('spread', { ...at(broker), ...topics, size: 100 })
  const stopping = performance.now()
  await broker.stop('SIGTERM')
  const stopped = (performance.now() - stopping) / 1000
  const clean = await secondsUntil('write', broker, tools, topics)
  await tools.load.run('spread', { ...at(broker), ...topics, size: 100 })
  await broker.stop('SIGKILL')
  const killed = await secondsUntil('write', broker, tools, topics)
  await broker.stop('SIGKILL')
  for (const logDir of broker.logDirs) rmSync(logDir, { recursive: true, force: true })
  return { resident, 'restart after a clean stop': clean, 'restart after a kill': killed, 'clean stop': stopped }
}

/** Seconds from starting the process until a client that was already trying has got there. */
async function secondsUntil(
  mode: 'first' | 'write',
  broker: BrokerProcess,
  { load }: Tools,
  flags: Record<string, string | number>,
): Promise<number> {
  const reached = load.run(mode, { b: broker.bootstrap, ...flags })
  reached.catch(() => {}) // awaited below
  const began = performance.timeOrigin + performance.now()
  await broker.restart({ ready: false })
  return ((await reached).at_unix_ms - began) / 1000
}
