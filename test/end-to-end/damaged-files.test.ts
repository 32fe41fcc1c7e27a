import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { cp, mkdir, mkdtemp, open, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { after, before, test } from 'node:test'
import { StartError } from '../../src/broker/start-error.ts'
import { readBaseOffset } from '../../src/records/batch.ts'
import { batchSpans } from '../../src/records/batch-header.ts'
import { startBroker } from '../../src/testing/index.ts'
import { Patience } from '../compatibility/patience.ts'
import { api } from './api.ts'
import { LogLines } from './log-lines.ts'
import { RawClient } from './raw-client.ts'
import { batchOf, fetch, produce } from './requests.ts'
import { untilCoordinated } from './typical-requests.ts'

const topic = 'kept'
const groupId = 'readers'
const overrides = {
  'node.id': '1',
  'offsets.topic.num.partitions': '1',
  'log.segment.bytes': '1048576',
  // Nothing happens by itself meanwhile.
  'log.retention.check.interval.ms': '600000',
}

let scratch: string
/** By how the broker ended: what it left, and the batches that were in it. */
const originals = new Map<Ending, { readonly directory: string; readonly batches: readonly Buffer[] }>()

const endings = ['stopped', 'killed'] as const
type Ending = (typeof endings)[number]

before(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'millrace-damage-'))
  const directory = join(scratch, 'original')
  await mkdir(directory)
  const broker = await startBroker({ topics: { [topic]: 1 }, overrides: { ...overrides, 'log.dirs': directory } })
  using client = await RawClient.connect({ port: broker.port })
  const { producerId } = await client.call(api.initProducerId, 4, { transactionalId: null, transactionTimeoutMs: 1 })
  for (let index = 0; index < 40; index++) {
    const fields = index % 2 === 0 ? { producerId, producerEpoch: 0, baseSequence: index / 2 } : {}
    const { errorCode } = await produce(client, { topic }, batchOf([`${index} `.repeat(20_000)], fields))
    assert.equal(errorCode, 0)
  }
  await untilCoordinated(client, groupId)
  const partitions = [{ partitionIndex: 0, committedOffset: 7, committedMetadata: 'seven' }]
  await client.call(api.offsetCommit, 8, { groupId, memberId: '', topics: [{ name: topic, partitions }] })
  const batches = await batchesOf(client)
  assert.equal(batches.length, 40)
  // What a kill leaves is what lies there now: the broker writes to its files at once. A file that is about to take the place of
  // another may be gone before it is copied.
  const killed = join(scratch, 'killed')
  await cp(directory, killed, { recursive: true, filter: path => !path.endsWith('.tmp') })
  originals.set('killed', { directory: killed, batches })
  client.close()
  await broker.close()
  originals.set('stopped', { directory, batches })
})

after(() => rm(scratch, { recursive: true }))

/** All batches that can be read, one by one; after one that cannot, from the next. */
async function batchesOf(client: RawClient): Promise<Buffer[]> {
  const batches: Buffer[] = []
  for (let offset = 0; offset < 40; offset++) {
    const { errorCode, records } = await fetch(client, { topic }, { offset, partitionMaxBytes: 1 })
    if (errorCode !== 0) continue
    for (const { at, sizeBytes } of batchSpans(records!)) batches.push(records!.subarray(at, at + sizeBytes))
  }
  return batches
}

/** One file of each kind that is in the directory. */
async function filesOf(directory: string): Promise<Map<string, string>> {
  const files = new Map<string, string>()
  const entries = await readdir(directory, { recursive: true, withFileTypes: true })
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    if (!entry.isFile() || entry.name === '.lock') continue
    const path = relative(directory, join(entry.parentPath, entry.name))
    const kind = path.replace(/\d{20}(-\d{10})?/, 'segment')
    const isLastSegment = files.has(kind)
    files.set(isLastSegment ? `${kind}, last` : kind, path)
  }
  return files
}

type Damage = readonly [name: string, apply: (path: string, bytes: Buffer) => Promise<void>]

/** At each field of a batch's header, in its records, and at what lies in the middle and at the end of the file. */
const logPositions = [0, 7, 8, 11, 12, 15, 16, 17, 20, 21, 22, 23, 26, 27, 34, 35, 43, 50, 51, 53, 57, 60, 61, 62, 90]
const otherPositions = [0, 1, 4, 7, 8, 12, 16, 20]

function damagesOf(path: string, size: number): Damage[] {
  const positions = path.endsWith('.log') || path.endsWith('.checkpoint') ? logPositions : otherPositions
  const places = [...positions, size >> 1, size - 1].filter(at => at >= 0 && at < size)
  return [
    ...[...new Set(places)].map((at): Damage => [`a bit at ${at}`, name => flip(name, at)]),
    ['removed', name => rm(name)],
    ['emptied', name => truncate(name)],
    ['cut in the middle', name => truncate(name, size >> 1)],
    ['cut at the end', name => truncate(name, Math.max(0, size - 1))],
    ['zeros behind it', name => truncate(name, size + 100)],
    ['all zeros', (name, bytes) => writeFile(name, Buffer.alloc(bytes.length))],
    ['noise', (name, bytes) => writeFile(name, Buffer.from(bytes.map((byte, index) => byte ^ (index * 37 + 11))))],
  ]
}

async function flip(path: string, at: number): Promise<void> {
  const file = await open(path, 'r+')
  const byte = Buffer.alloc(1)
  await file.read(byte, 0, 1, at)
  byte[0] ^= 0x10
  await file.write(byte, 0, 1, at)
  await file.close()
}

/** Every so many of the cases; LONG_TESTS takes all. */
const everyNth = process.env.LONG_TESTS ? 1 : 15

for (const ending of endings) {
  test(`a file that is damaged while the broker is ${ending} is told with its name or made good, and nothing else is served`, async () => {
    const { directory } = originals.get(ending)!
    const wrong: string[] = []
    let cases = 0
    for (const path of (await filesOf(directory)).values()) {
      const bytes = await readFile(join(directory, path))
      for (const [name, apply] of damagesOf(path, bytes.length)) {
        if (cases++ % everyNth === 0) wrong.push(...(await tryDamage(ending, path, name, apply)))
      }
    }
    assert.deepEqual(wrong, [])
    assert.ok(cases > 300, `${cases} cases`)
  })
}

async function tryDamage(ending: Ending, path: string, name: string, apply: Damage[1]): Promise<string[]> {
  const { directory, batches } = originals.get(ending)!
  const copy = join(scratch, 'copy')
  await cp(directory, copy, { recursive: true })
  try {
    const damaged = join(copy, path)
    await apply(damaged, await readFile(damaged))
    const about = `${path}, ${name}`
    return (await problemsOf(copy, damaged, batches, leavesNoTrace(ending, path, name))).map(
      problem => `${about}: ${problem}`,
    )
  } finally {
    await rm(copy, { recursive: true })
  }
}

/**
 * After a kill nothing but the file itself says how much was in the last segment of a log, and where the first one is gone
 * retention may have taken it.
 */
function leavesNoTrace(ending: Ending, path: string, name: string): boolean {
  if (ending === 'stopped' || !/^(kept|__consumer_offsets)-0\/\d+\.log$/.test(path)) return false
  return name === 'removed' || (name === 'emptied' && !/kept-0\/0+\.log$/.test(path))
}

async function problemsOf(
  directory: string,
  damaged: string,
  batches: readonly Buffer[],
  mayBeSilent: boolean,
): Promise<string[]> {
  const log = new LogLines()
  let broker: Awaited<ReturnType<typeof startBroker>>
  try {
    broker = await startBroker({ overrides: { ...overrides, 'log.dirs': directory }, log })
  } catch (error) {
    return problemsOfRefusal(error, damaged)
  }
  const problems: string[] = []
  using client = await RawClient.connect({ port: broker.port })
  const byOffset = new Map(batches.map(batch => [readBaseOffset(batch, 0), batch]))
  const served = await batchesOf(client)
  const whole = new Set<number>()
  for (const batch of served) {
    const offset = readBaseOffset(batch, 0)
    const original = byOffset.get(offset)
    if (original === undefined || !isSame(batch, original)) problems.push(`other bytes are served at ${offset}`)
    else whole.add(offset)
  }
  if (whole.size < batches.length && !isTold(log, damaged) && !mayBeSilent) {
    const said = log.matching(/./).filter(line => line.includes(directory))
    problems.push(`${whole.size} of ${batches.length} batches are served, and this is said: ${said.join('; ')}`)
  }
  problems.push(...(await problemsOfGroup(client, isTold(log, damaged) || mayBeSilent)))
  client.close()
  await broker.close()
  return problems
}

/** Only the batch itself says which epoch wrote it; all else is behind its CRC. */
function isSame(batch: Buffer, original: Buffer): boolean {
  return Buffer.concat([batch.subarray(0, 12), batch.subarray(16)]).equals(
    Buffer.concat([original.subarray(0, 12), original.subarray(16)]),
  )
}

/** The file, or the partition that it belongs to, is named; a file of records with the place in it, or a neighbour if it is gone. */
function isTold(log: LogLines, damaged: string): boolean {
  const isThere = existsSync(damaged)
  const about = log.matching(/./).filter(line => line.includes(isThere ? damaged : dirname(damaged)))
  if (damaged.endsWith('.log')) return about.some(line => /byte \d+/.test(line))
  return about.length > 0 || log.matching(/is not served/).some(line => line.includes(dirname(damaged)))
}

/** The broker does not start: it says which file is the reason, and what to do about it. */
function problemsOfRefusal(error: unknown, damaged: string): string[] {
  if (!(error instanceof StartError)) return [`the start fails with ${error instanceof Error ? error.stack : error}`]
  const says = error.message
  const problems: string[] = []
  if (!says.includes(damaged) && !says.includes(dirname(damaged))) problems.push(`"${says}" names no file`)
  if (!/restore|millrace (format|log)|set /i.test(says)) problems.push(`"${says}" does not say what to do`)
  return problems
}

/** What a group committed comes back, or there is an error, or it was said that something is amiss. */
async function problemsOfGroup(client: RawClient, isExcused: boolean): Promise<string[]> {
  using patience = new Patience(10_000)
  for (;;) {
    const topics = [{ name: topic, partitionIndexes: [0] }]
    const { errorCode, topics: found } = await client.call(api.offsetFetch, 7, { groupId, topics })
    if (errorCode === 0) {
      const [{ committedOffset, metadata }] = found[0].partitions
      const isRight = committedOffset === 7 && metadata === 'seven'
      return isRight || isExcused ? [] : [`the group is at ${committedOffset} and nothing is said`]
    }
    if (isExcused) return []
    if (patience.isOver) return [`the group's offsets are not there (error ${errorCode}), and nothing is said`]
    await client.call(api.findCoordinator, 0, { key: groupId })
    await new Promise(resolve => setTimeout(resolve, 50))
  }
}
