import type { BrokerProcess } from '../test/compatibility/broker-process.ts'
import type { Flags, LoadResult } from './load-generator.ts'
import type { Figures, LoadWorkload, Metric, Tools } from './workload.ts'

export interface Throughput {
  readonly name: string
  readonly title: string
  readonly size: number
  readonly records: number
  readonly codec?: 'lz4'
  readonly partitions?: number
  readonly clients?: number
  readonly bars?: {
    readonly produceCpu: number
    readonly produce: number
    readonly consumeCpu: number
    readonly consume: number
  }
}

/** Writes a topic as fast as it is acknowledged, then reads it back. */
export function throughput(spec: Throughput): LoadWorkload {
  const { name, title, size, bars } = spec
  const metrics: Metric[] = [
    { name: 'produce CPU', unit: 's/GB', better: 'less', bar: bars?.produceCpu },
    { name: 'produce throughput', unit: 'MB/s', better: 'more', bar: bars?.produce },
    { name: 'consume CPU', unit: 's/GB', better: 'less', bar: bars?.consumeCpu },
    { name: 'consume throughput', unit: 'MB/s', better: 'more', bar: bars?.consume },
  ]
  const run = async (broker: BrokerProcess, { load, scale }: Tools): Promise<Figures> => {
    const topic = `load-${name}`
    const where = { ...at(broker), t: topic, partitions: spec.partitions ?? 6 }
    const what = { size, n: Math.ceil(spec.records * scale), clients: spec.clients ?? 1 }
    await load.run('topic', where)
    const produced = await load.run('produce', { ...where, ...what, codec: spec.codec ?? 'none' })
    const consumed = await load.run('consume', { ...where, ...what })
    await load.run('delete', where)
    return {
      'produce CPU': produced.broker_cpu_s_per_gb,
      'produce throughput': produced.mb_per_s,
      'consume CPU': consumed.broker_cpu_s_per_gb,
      'consume throughput': consumed.mb_per_s,
    }
  }
  return { kind: 'load', name, title, metrics, run }
}

/** If the generator itself was later than this at the median, the round says nothing about the broker. */
const LATE_MS = 0.1
const TRIES = 3

/** Records at a steady rate, each timed from the moment at which it was due until a consumer has it. */
export function latency(rate: number): LoadWorkload {
  const run = async (broker: BrokerProcess, { load, scale }: Tools): Promise<Figures> => {
    const topic = `load-latency-${rate}`
    const where = { ...at(broker), t: topic }
    const seconds = Math.max(5, 30 * scale)
    const what = { size: 1024, rate, d: `${seconds}s`, 'warm-up': `${Math.max(2, 5 * scale)}s` }
    await load.run('topic', where)
    const measured = await punctual(() => load.run('latency', { ...where, ...what }), broker.name)
    await load.run('delete', where)
    const { p50, p99, p999 } = measured.end_to_end_ms
    return { p50, p99, 'p99.9': p999, CPU: measured.broker_cpu_s / measured.seconds }
  }
  const metrics: Metric[] = [
    { name: 'p50', unit: 'ms', better: 'less', bar: 0.9 },
    { name: 'p99', unit: 'ms', better: 'less', bar: 0.7 },
    { name: 'p99.9', unit: 'ms', better: 'less', bar: 0.7 },
    { name: 'CPU', unit: 'cores', better: 'less', bar: 0.4 },
  ]
  const title = `end to end at ${rate.toLocaleString('en')} records/s of 1 KiB`
  return { kind: 'load', name: `latency-${rate}`, title, metrics, run }
}

async function punctual(measure: () => Promise<LoadResult>, name: string): Promise<LoadResult> {
  for (let tries = 1; ; tries++) {
    const measured = await measure()
    if (measured.late_ms.p50 <= LATE_MS) return measured
    console.error(`${name}: the load generator was ${measured.late_ms.p50} ms late at the median: the machine is busy`)
    if (tries === TRIES) return measured
  }
}

/** What the process holds after all that came before it in the round. */
export const memory: LoadWorkload = {
  kind: 'load',
  name: 'memory',
  title: 'memory after the load above',
  metrics: [{ name: 'resident', unit: 'MiB', better: 'less', bar: 0.3 }],
  run: async (broker, { load }) => {
    const where = { ...at(broker), t: 'load-memory' }
    await load.run('topic', where)
    const { broker_rss_mib } = await load.run('produce', { ...where, n: 1000 })
    await load.run('delete', where)
    return { resident: broker_rss_mib }
  },
}

export function at(broker: BrokerProcess): Flags {
  return { b: broker.bootstrap, pids: broker.pids.join(',') }
}
