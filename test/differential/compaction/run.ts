import { cpSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { exitOnSignals } from '../../compatibility/child-process.ts'
import { dumpLogDir } from '../../compatibility/dump-log.ts'
import { inDirectory } from '../../compatibility/temporary-directory.ts'
import { type BrokerName, portOf, untilClean, withBroker } from './cleaning.ts'
import { compareLogs, type Window } from './compare-logs.ts'
import { deliberateReason } from './deliberate.ts'
import { moveApart } from './far-apart.ts'
import { LogSet } from './log-set.ts'
import { compareServed, readServed, type Served } from './served.ts'
import { readStoredLog, type StoredLog } from './stored-log.ts'

const usage = `The same logs, written by Apache Kafka 4.4, compacted by Kafka and by Millrace; what is left is compared.

  node test/differential/compaction/run.ts [options]

  --sample             one set of logs, two rounds (default)
  --sets N             that many sets of logs, each of other sizes
  --seed N             what is drawn from; sets count up from it (default 1)
  --only PATTERN       logs whose name it matches
  --against kafka      Kafka in Millrace's place: finds what is wrong with the comparison
  --keep DIR           leaves all directories there
  --show N             at most so many differences of each log (default 6)
`

const { values } = parseArgs({
  options: {
    sample: { type: 'boolean', default: false },
    sets: { type: 'string', default: '1' },
    seed: { type: 'string', default: '1' },
    only: { type: 'string', default: '' },
    against: { type: 'string', default: 'millrace' },
    show: { type: 'string', default: '6' },
    keep: { type: 'string' },
    help: { type: 'boolean', short: 'h', default: false },
  },
})
if (values.help || !['kafka', 'millrace'].includes(values.against)) {
  process.stdout.write(usage)
  process.exit(values.help ? 0 : 2)
}
exitOnSignals()
const other = values.against as BrokerName
const wrong: string[] = []
let deliberate = 0
for (let set = 0; set < Number(values.sets); set++) {
  const seed = Number(values.seed) + set
  const run = (dir: string): Promise<void> => runSet(dir, { seed, variant: set })
  if (values.keep === undefined) await inDirectory('compaction', run)
  else await run(makeDir(join(values.keep, String(seed))))
}
for (const line of wrong) console.log(line)
console.log(`\n${deliberate} deliberate differences, ${wrong.length} others`)
process.exit(wrong.length === 0 ? 0 : 1)

function makeDir(dir: string): string {
  mkdirSync(dir, { recursive: true })
  return dir
}

/** Two rounds: in the second, what was cleaned once is written to and cleaned again, and horizons have passed. */
async function runSet(dir: string, { seed, variant }: { seed: number; variant: number }): Promise<void> {
  const logs = new LogSet({ seed, variant, only: new RegExp(values.only) })
  let source: string | undefined
  for (let round = 1; round <= 2; round++) {
    const place = makeDir(join(dir, `round-${round}`))
    const written = await withBroker(
      'kafka',
      { dir: join(place, 'writer'), logDir: source, cleans: false },
      async broker => {
        await logs.write(broker)
        return broker.logDirs[0]!
      },
    )
    for (const log of logs.farApart) moveApart(written, log)
    const name = `set ${seed}, round ${round}`
    const [first, second] = await cleanBoth(place, written, logs, name)
    // What one cleaned, Kafka writes on: in turns.
    source = (seed + round) % 2 === 0 ? first : second
  }
}

async function cleanBoth(place: string, written: string, logs: LogSet, name: string): Promise<[string, string]> {
  const before = readLogs(written)
  const expected = new Map(
    [...before].flatMap(([log, stored]) => {
      const offset = logs.firstUncleanableOffset(log, stored)
      return offset === undefined ? [] : [[log, offset] as const]
    }),
  )
  const sides = new Map<string, Side>()
  for (const [side, broker] of [
    ['kafka', 'kafka'],
    ['other', other],
  ] as const) {
    const logDir = join(place, side)
    cpSync(written, logDir, { recursive: true, preserveTimestamps: true })
    sides.set(side, await clean(broker, place, { side, logDir, expected }))
  }
  const [kafka, millrace] = [sides.get('kafka')!, sides.get('other')!]
  for (const late of [...kafka.late.map(line => `kafka: ${line}`), ...millrace.late]) wrong.push(`${name}: ${late}`)
  for (const [log, stored] of before) {
    const found = compareLogs({
      before: stored,
      kafka: { log: kafka.logs.get(log)!, during: kafka.during },
      millrace: { log: millrace.logs.get(log)!, during: millrace.during },
      deleteRetentionMs: logs.deleteRetentionMs(log),
    })
    report(`${name}, ${log}`, found)
  }
  compareAll(`${name}, as served`, kafka.served, millrace.served)
  await crossOver(place, { kafka, millrace, logs, name })
  const files = await compareDumps(name, kafka.logDir, millrace.logDir)
  const batches = [...millrace.logs.values()].reduce((sum, log) => sum + log.batches.length, 0)
  console.log(`${name}: ${before.size} logs, ${batches} batches left; kafka-dump-log read ${files} files`)
  return [kafka.logDir, millrace.logDir]
}

interface Side {
  readonly logDir: string
  readonly logs: ReadonlyMap<string, StoredLog>
  readonly served: ReadonlyMap<string, Served>
  readonly during: Window
  readonly late: readonly string[]
}

interface CleanOptions {
  readonly side: string
  readonly logDir: string
  readonly expected: ReadonlyMap<string, number>
}

/** Has a broker clean a directory, and looks at it afterwards: what lies there, and what the broker serves of it. */
async function clean(broker: BrokerName, place: string, { side, logDir, expected }: CleanOptions): Promise<Side> {
  const fromMs = Date.now()
  return await withBroker(broker, { dir: join(place, `${side}-cleans`), logDir, cleans: true }, async running => {
    const { toMs, late } = await untilClean(logDir, expected)
    const logs = readLogs(logDir)
    const served = await readServed(portOf(running), topicsOf(logs))
    return { logDir, logs, served, during: { fromMs, toMs }, late }
  })
}

/** Each opens what the other cleaned, and must serve the same. */
async function crossOver(
  place: string,
  { kafka, millrace, name }: { kafka: Side; millrace: Side; logs: LogSet; name: string },
): Promise<void> {
  for (const [broker, { logDir, served, logs }, title] of [
    ['kafka', millrace, `kafka on what ${other} cleaned`],
    [other, kafka, `${other} on what kafka cleaned`],
  ] as const) {
    const dir = join(place, title.replaceAll(' ', '-'))
    const copy = `${logDir}-copy`
    cpSync(logDir, copy, { recursive: true, preserveTimestamps: true })
    const found = await withBroker(broker, { dir, logDir: copy, cleans: false }, running =>
      readServed(portOf(running), topicsOf(logs)),
    )
    compareAll(`${name}, ${title}`, served, found)
  }
}

/** Kafka's own tool finds no fault with what Millrace left, or none that it does not find with what Kafka left. */
async function compareDumps(name: string, kafkaDir: string, millraceDir: string): Promise<number> {
  const millrace = await dumpLogDir(millraceDir)
  // A gap is no fault of a compacted log.
  const complaints = millrace.complaints.filter(line => !/^\s*\d+ is followed by \d+$/.test(line))
  if (complaints.length === 0) return millrace.files
  const kafka = await dumpLogDir(kafkaDir)
  const found = new Set(kafka.complaints.map(line => line.replace(kafkaDir, '')))
  const others = complaints.map(line => line.replace(millraceDir, '')).filter(line => !found.has(line))
  report(
    name,
    others.map(line => `kafka-dump-log: ${line}`),
  )
  return millrace.files
}

function compareAll(name: string, one: ReadonlyMap<string, Served>, two: ReadonlyMap<string, Served>): void {
  for (const [topic, served] of one) report(`${name}, ${topic}`, compareServed(served, two.get(topic)!))
}

function report(name: string, differences: readonly string[]): void {
  const unexpected = differences.filter(line => deliberateReason(name, line) === undefined)
  deliberate += differences.length - unexpected.length
  for (const line of unexpected.slice(0, Number(values.show))) wrong.push(`${name}: ${line.slice(0, 600)}`)
  const more = unexpected.length - Number(values.show)
  if (more > 0) wrong.push(`${name}: and ${more} more`)
}

function readLogs(logDir: string): Map<string, StoredLog> {
  const names = readdirSync(logDir, { withFileTypes: true }).filter(entry => entry.isDirectory())
  const logs = names.map(({ name }) => name).filter(name => !/^__cluster_metadata-|-delete$/.test(name))
  return new Map(logs.sort().map(log => [log, readStoredLog(join(logDir, log))]))
}

function topicsOf(logs: ReadonlyMap<string, StoredLog>): string[] {
  return [...logs.keys()].map(log => log.replace(/-\d+$/, ''))
}
