import { mkdirSync, writeFileSync } from 'node:fs'
import { cpus, loadavg, release, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { exitOnSignals } from '../test/compatibility/child-process.ts'
import { inDirectory } from '../test/compatibility/temporary-directory.ts'
import { copyDirectory, copyOf, fillLogs, fillOffsets } from './cleaner-data.ts'
import { compactOffsets, measurePass, measureReplay, measureServing, type Replay } from './cleaner-measures.ts'
import { LoadGenerator } from './load-generator.ts'
import { significant } from './rounds.ts'
import { median } from './summary.ts'

const usage = `Compaction beside Apache Kafka 4.4, on copies of one directory that Kafka wrote.

  node bench/cleaner.ts [options]

  --only pass|serving|replay   may be repeated
      pass      10 M records of 100 B, 1 M keys: bytes read per CPU second of one pass, and the most that was resident
      serving   produce at 1,000 records/s with and without a pass going on; how late the event loop is
      replay    the coordinator's start on 1,000,000 offset commits, before and after their compaction
  --pairs N                    rounds (default 3); who begins changes
  --quick                      a twentieth of the data: to see that it works, not to quote
  --data DIR                   where what Kafka wrote is kept for the next run (default: the system's folder for such)
  --fill                       only writes that
  --json FILE                  every figure
`

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true, default: ['pass', 'serving', 'replay'] },
    pairs: { type: 'string', default: '3' },
    quick: { type: 'boolean', default: false },
    data: { type: 'string', default: join(tmpdir(), 'millrace-bench-cleaner') },
    fill: { type: 'boolean', default: false },
    json: { type: 'string' },
    help: { type: 'boolean', short: 'h', default: false },
  },
})
if (values.help) {
  process.stdout.write(usage)
  process.exit(0)
}
/** No longer than a pass takes. */
const servingSeconds = 3

exitOnSignals()
const scale = values.quick ? 0.05 : 1
const data = join(values.data, values.quick ? 'quick' : 'whole')
mkdirSync(data, { recursive: true })
const before = loadavg()[0]!
const figures: Record<string, unknown> = {}
await inDirectory('bench-cleaner', run)
const machine = `${cpus().length} × ${cpus()[0]?.model}, Linux ${release()}, Node ${process.version}`
console.log(`\n${machine}; load average ${before.toFixed(1)} before and ${loadavg()[0]!.toFixed(1)} after`)
if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(figures, null, 2)}\n`)

async function run(dir: string): Promise<void> {
  if (values.fill) {
    await logs(join(dir, 'logs'))
    await offsets(join(dir, 'offsets'))
    return
  }
  if (values.only.includes('pass')) figures.pass = await passes(dir)
  if (values.only.includes('serving')) figures.serving = await serving(dir)
  if (values.only.includes('replay')) figures.replay = await replays(dir)
}

async function logs(to: string): Promise<string> {
  return await copyOf(data, 'logs', to, filling => fillLogs(filling, scale))
}

async function offsets(to: string): Promise<string> {
  return await copyOf(data, 'offsets', to, filling => fillOffsets(filling, scale))
}

/** Both in turns; the other one begins in every other round. */
async function inTurns<T>(
  measure: (name: 'kafka' | 'millrace') => Promise<T>,
  note: (name: string, figures: T) => void,
) {
  const found = { kafka: [] as T[], millrace: [] as T[] }
  for (let round = 0; round < Number(values.pairs); round++) {
    const names = ['kafka', 'millrace'] as const
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      const one = await measure(name)
      note(name, one)
      found[name].push(one)
    }
  }
  return found
}

async function passes(dir: string) {
  const found = await inTurns(
    async name => await measurePass(name, join(dir, `${name}-pass`), await logs(join(dir, `${name}-pass-data`))),
    (name, { perCpuSecond, peakMiB, seconds, cpuSeconds, readShare }) => {
      const read = `${significant(perCpuSecond)} MB per CPU second, ${significant(cpuSeconds)} of them in ${significant(seconds)} s`
      console.error(
        `pass, ${name}: ${read}; peak ${peakMiB.toFixed(0)} MiB; ${significant(readShare)} of the bytes expected`,
      )
    },
  )
  const ratio = (field: 'perCpuSecond' | 'peakMiB'): string => {
    const ratios = found.millrace.map((one, round) => one[field] / found.kafka[round]![field])
    return `${median(ratios).toFixed(2)} (${Math.min(...ratios).toFixed(2)}–${Math.max(...ratios).toFixed(2)})`
  }
  const row = (title: string, field: 'perCpuSecond' | 'peakMiB', bar: string): string => {
    const [kafka, millrace] = [found.kafka, found.millrace].map(all => significant(median(all.map(one => one[field]))))
    return `| ${title} | ${kafka} | ${millrace} | ${ratio(field)} | ${bar} |`
  }
  console.log('| one pass | Kafka | Millrace | ratio | bar |\n| --- | --- | --- | --- | --- |')
  console.log(row('read, MB per CPU second', 'perCpuSecond', '≥ 0.7'))
  console.log(row('most resident, MiB', 'peakMiB', '≤ 0.5'))
  return found
}

async function serving(dir: string) {
  const load = await LoadGenerator.build()
  const seconds = servingSeconds
  console.log(
    '\n| produce at 1,000 records/s | alone: p99, p99.9 | while compacting: p99, p99.9 | p99 ratio | event loop late p99.9, most |',
  )
  console.log('| --- | --- | --- | --- | --- |')
  return await inTurns(
    async name => {
      const logDir = await logs(join(dir, `${name}-serving-data`))
      const place = join(dir, `${name}-serving`)
      mkdirSync(place, { recursive: true })
      return await measureServing(name, { dir: place, logDir, load, seconds })
    },
    (name, { alone, cleaning, cleanedThroughout }) => {
      const ms = (value: number): string => `${significant(value)} ms`
      const loop =
        name === 'millrace' ? `${ms(cleaning.loopP999)}, ${ms(cleaning.loopMax)} (alone ${ms(alone.loopP999)})` : ''
      const note = cleanedThroughout ? '' : ' (the pass ended before)'
      const times = `${ms(alone.p99)}, ${ms(alone.p999)} | ${ms(cleaning.p99)}, ${ms(cleaning.p999)}${note}`
      console.log(`| ${name} | ${times} | ${(cleaning.p99 / alone.p99).toFixed(2)} | ${loop} |`)
    },
  )
}

async function replays(dir: string) {
  const whole = await offsets(join(dir, 'offsets'))
  const compacted = join(dir, 'offsets-compacted')
  copyDirectory(whole, compacted)
  await compactOffsets(join(dir, 'compacts'), compacted)
  console.log('\n| offset commits replayed | Kafka: answers, loaded | Millrace: answers, loaded |\n| --- | --- | --- |')
  const found: Record<string, unknown> = {}
  for (const [title, source] of [
    ['as written', whole],
    ['compacted', compacted],
  ] as const) {
    const cells: string[] = []
    for (const name of ['kafka', 'millrace'] as const) {
      const all: Replay[] = []
      for (let round = 0; round < Number(values.pairs); round++) {
        const logDir = join(dir, 'replayed')
        copyDirectory(source, logDir)
        all.push(await measureReplay(name, join(dir, `${name}-replay`), logDir))
      }
      const of = (field: 'answered' | 'loaded'): string => `${significant(median(all.map(one => one[field])))} s`
      cells.push(`${of('answered')}, ${of('loaded')}`)
      found[`${title}, ${name}`] = all
    }
    console.log(`| ${title} | ${cells.join(' | ')} |`)
  }
  return found
}
