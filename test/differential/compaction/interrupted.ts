import { cpSync, mkdirSync, readdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { parseSegmentFileName, segmentFileName } from '../../../src/core/log/file-names.ts'
import { SeededRandom } from '../../../src/records/seeded-random.ts'
import { until } from '../../compatibility/broker-process.ts'
import { exitOnSignals } from '../../compatibility/child-process.ts'
import { inDirectory } from '../../compatibility/temporary-directory.ts'
import { type BrokerName, openBroker, portOf, untilClean, withBroker } from './cleaning.ts'
import { LogWriter } from './log-writer.ts'
import { compareServed, readServed, type Served } from './served.ts'
import { readStoredLog } from './stored-log.ts'

/*
 * What a broker that was killed in the middle of a pass leaves behind, opened by the other: `.cleaned` files that are thrown
 * away, `.swap` files that take their place. Nothing that is served may change by it, but for records that are replaced.
 *
 *   node test/differential/compaction/interrupted.ts
 */

const topic = 'interrupted'
const segments = 6
const configs = {
  'cleanup.policy': 'compact',
  'segment.ms': '600000',
  'segment.bytes': String(1 << 22),
  'min.cleanable.dirty.ratio': '0',
  'file.delete.delay.ms': '100',
  'message.timestamp.after.max.ms': String(Number.MAX_SAFE_INTEGER),
}
/** So slow that a pass takes seconds. */
const slow = { 'log.cleaner.io.max.bytes.per.second': '1500000' }

exitOnSignals()
const wrong: string[] = []
await inDirectory('interrupted', run)
for (const line of wrong) console.log(line)
console.log(`${wrong.length} differences`)
process.exit(wrong.length === 0 ? 0 : 1)

async function run(dir: string): Promise<void> {
  const written = await write(join(dir, 'written'))
  const clean = join(dir, 'clean')
  copy(written, clean)
  const cleaned = await withBroker(
    'kafka',
    { dir: join(dir, 'cleaner'), logDir: clean, cleans: true },
    async broker => {
      const { late } = await untilClean(
        clean,
        new Map([[`${topic}-0`, readStoredLog(partition(clean)).segments.at(-1)!]]),
      )
      wrong.push(...late)
      return await readServed(portOf(broker), [topic])
    },
  )
  for (const killed of ['kafka', 'millrace'] as const) {
    const left = await kill(killed, dir, written)
    for (const opener of ['kafka', 'millrace'] as const) {
      const title = `${opener} on what ${killed} left when it was killed`
      await opensAndCleans(opener, { dir, title, left, cleaned })
    }
  }
  const swapped = swap(dir, written, clean)
  for (const opener of ['kafka', 'millrace'] as const)
    await opensAndCleans(opener, { dir, title: `${opener} on a swap half done`, left: swapped, cleaned })
}

/** Six segments, in which most keys are written again. */
async function write(dir: string): Promise<string> {
  return await withBroker('kafka', { dir, cleans: false }, async broker => {
    using writer = await LogWriter.create({ port: portOf(broker), topic, configs })
    const random = new SeededRandom(7)
    for (let segment = 0; segment < segments; segment++) {
      const timestamp = Date.now() + 3_600_000 * (segment + 1)
      for (let batch = 0; batch < 20; batch++) {
        const records = Array.from({ length: 50 }, (_, index) => {
          const key = Buffer.from(`key-${random.below(3000)}`)
          return { timestamp: timestamp + batch * 50 + index, key, value: Buffer.alloc(800, String(random.below(10))) }
        })
        await writer.append(records)
      }
    }
    await writer.append([{ timestamp: Date.now() + 1e9, key: Buffer.from('last'), value: null }])
    return broker.logDirs[0]!
  })
}

/** Killed as soon as a file of a segment in the making is there. */
async function kill(name: BrokerName, dir: string, written: string): Promise<string> {
  const left = join(dir, `${name}-left`)
  copy(written, left)
  await using broker = await openBroker(name, {
    dir: join(dir, `${name}-killed`),
    logDir: left,
    cleans: true,
    settings: slow,
  })
  const isUnfinished = (file: string): boolean => /\.(cleaned|swap)$/.test(file)
  await until('a pass to begin', () => readdirSync(partition(left)).some(isUnfinished), { everyMs: 2 })
  await broker.stop('SIGKILL')
  console.log(`killed, ${name} left ${readdirSync(partition(left)).filter(isUnfinished).join(' ')}`)
  return left
}

/** The first new segment still under its name of the swap, of the old ones some gone. */
function swap(dir: string, written: string, clean: string): string {
  const swapped = join(dir, 'swapped')
  copy(written, swapped)
  const [first, second] = readStoredLog(partition(clean)).segments as [number, number]
  for (const kind of ['log', 'index', 'timeindex'] as const) {
    const name = segmentFileName(first, kind)
    cpSync(join(partition(clean), name), join(partition(swapped), `${name}.swap`), { preserveTimestamps: true })
  }
  const replaced = readStoredLog(partition(written)).segments.filter(base => base > first && base < second)
  for (const file of readdirSync(partition(swapped))) {
    if (parseSegmentFileName(file)?.offset === replaced[0])
      renameSync(join(partition(swapped), file), join(partition(swapped), `${file}.deleted`))
  }
  return swapped
}

interface Opening {
  readonly dir: string
  readonly title: string
  readonly left: string
  readonly cleaned: ReadonlyMap<string, Served>
}

/** Whatever was left, after a pass the log is what an undisturbed pass made of it. */
async function opensAndCleans(name: BrokerName, { dir, title, left, cleaned }: Opening): Promise<void> {
  const place = join(dir, title.replaceAll(' ', '-'))
  mkdirSync(place)
  const logDir = join(place, 'data')
  copy(left, logDir)
  const expected = new Map([[`${topic}-0`, readStoredLog(partition(join(dir, 'written', 'data-1'))).segments.at(-1)!]])
  const served = await withBroker(name, { dir: place, logDir, cleans: true }, async broker => {
    const { late } = await untilClean(logDir, expected)
    wrong.push(...late.map(line => `${title}: ${line}`))
    return await readServed(portOf(broker), [topic])
  })
  const unfinished = readdirSync(partition(logDir)).filter(file => /\.(cleaned|swap)$/.test(file))
  if (unfinished.length > 0) wrong.push(`${title}: ${unfinished} is left`)
  const differences = compareServed(withoutEntries(cleaned.get(topic)!), withoutEntries(served.get(topic)!))
  wrong.push(...differences.map(line => `${title}: ${line.slice(0, 300)}`))
  console.log(`${title}: ${served.get(topic)!.length} answers, ${differences.length} differences`)
}

/** Which batch an offset in a gap leads to depends on how often was cleaned. */
function withoutEntries(served: Served): string[] {
  return served.filter(line => !/^(one fetch|at )/.test(line))
}

function partition(logDir: string): string {
  return join(logDir, `${topic}-0`)
}

function copy(from: string, to: string): void {
  cpSync(from, to, { recursive: true, preserveTimestamps: true })
}
