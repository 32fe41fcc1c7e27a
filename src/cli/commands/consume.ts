import type { Command } from 'commander'
import { countOf } from '../../base/count-of.ts'
import type { Client, ConsumedBatch, Consumer, OffsetSpec, TopicPartition } from '../../client/index.ts'
import { addConnectFlags, type ConnectFlags, withClient } from '../connect.ts'
import { dateMs, maxInt32, Needed, type Parse, someText, valued, wholeNumber } from '../option-values.ts'
import { CommandFailure, ExitCode, printLine } from '../output.ts'
import { envelopeOf } from '../record-json.ts'
import { onStopSignal } from '../stop-signals.ts'

/** Where to begin. */
type Place =
  | { readonly type: 'found'; readonly spec: OffsetSpec }
  | { readonly type: 'offset'; readonly offset: number }
  | { readonly type: 'last'; readonly count: number }

interface ConsumeFlags extends ConnectFlags {
  readonly fromBeginning?: true
  readonly offset?: Place
  readonly partition?: number
  readonly group?: string
  readonly count?: number
  readonly exit?: true
  readonly printKey?: true
  readonly committed?: true
}

const help = `
--offset: beginning, end, N (an offset), -N (the last N of each partition), @MS or @DATE (the first record from that time on).
With --group the group's committed offsets count, and what was printed is committed.

Examples:
  millrace consume orders --from-beginning --exit
  millrace consume orders --offset @2026-11-29T08:00:00Z --json
  millrace consume orders --group billing -n 10`

export function addConsume(program: Command): void {
  addConnectFlags(program.command('consume <topic>'))
    .description('Print records, one a line, until Ctrl-C.')
    .option('--from-beginning', 'from the first record there is; with a group, where it has committed nothing')
    .addOption(
      valued('-o, --offset <where>', 'where to begin; from now on if not given', place).conflicts('fromBeginning'),
    )
    .addOption(valued('-p, --partition <n>', 'only this partition', wholeNumber(0, maxInt32)))
    .addOption(valued('-g, --group <id>', 'as a member of this group', someText))
    .addOption(valued('-n, --count <n>', 'end after so many records', wholeNumber(1)))
    .option('-e, --exit', 'end at the end of what is there now')
    .option('--print-key', 'KEY, a tab, VALUE')
    .option('--committed', 'only records of committed transactions')
    .addHelpText('after', help)
    .action(run)
}

async function run(topic: string, flags: ConsumeFlags): Promise<void> {
  if (flags.group !== undefined && (flags.offset !== undefined || flags.partition !== undefined)) {
    throw new CommandFailure('--group decides where to read: leave out --offset and --partition', ExitCode.usage)
  }
  const limit = flags.count ?? Number.POSITIVE_INFINITY
  await withClient(flags, async client => {
    const partitions = await partitionsOf(client, topic, flags)
    // A member waits for its coordinator without an end, and in silence.
    if (flags.group !== undefined) await client.admin().listGroupOffsets(flags.group, { partitions })
    const ends = flags.exit ? await endsOf(client, partitions, flags) : undefined
    const consumer = client.consumer({
      groupId: flags.group,
      // What was printed is committed, not what was fetched.
      autoCommit: false,
      offsetReset: flags.fromBeginning ? 'earliest' : 'latest',
      isolationLevel: flags.committed ? 'readCommitted' : 'readUncommitted',
      maxRecords: Math.min(limit, 1000),
    })
    // Whoever reads us has gone: that is an end, not an error.
    const stopping = new AbortController()
    const stop = () => {
      stopping.abort()
      consumer.stop()
    }
    process.stdout.on('error', stop)
    onStopSignal(stop)
    try {
      if (flags.group === undefined) consumer.assign(await starts(client, partitions, flags))
      else consumer.subscribe([topic])
      await read(consumer, { flags, limit, ends, stopping: stopping.signal })
    } finally {
      await consumer.close({ timeoutMs: 5000 })
    }
  })
}

async function partitionsOf(client: Client, topic: string, flags: ConsumeFlags): Promise<TopicPartition[]> {
  const [described] = await client.admin().describeTopics([topic])
  if (described.error !== undefined) throw described.error
  const all = described.partitions.map(({ partition }) => ({ topic, partition }))
  const wanted = flags.partition
  if (wanted === undefined) return all
  const chosen = all.filter(({ partition }) => partition === wanted)
  if (chosen.length === 0)
    throw new CommandFailure(`topic ${topic} has ${countOf(all.length, 'partition')}; there is no partition ${wanted}`)
  return chosen
}

/** Where each partition ends now; those that are at their end are left out. */
async function endsOf(
  client: Client,
  partitions: readonly TopicPartition[],
  flags: ConsumeFlags,
): Promise<Map<number, number>> {
  const ends = new Map<number, number>()
  const isolationLevel = flags.committed ? 'readCommitted' : 'readUncommitted'
  const found = await client.admin().listOffsets(
    partitions.map(one => ({ ...one, spec: 'latest' as const })),
    { isolationLevel },
  )
  for (const result of found) {
    if (result.error !== undefined) throw result.error
    ends.set(result.partition, result.offset)
  }
  return ends
}

async function starts(client: Client, partitions: readonly TopicPartition[], flags: ConsumeFlags) {
  const from = flags.offset ?? { type: 'found', spec: flags.fromBeginning ? 'earliest' : 'latest' }
  if (from.type === 'found') return partitions.map(one => ({ ...one, offset: from.spec }))
  const [firsts, lasts] = await Promise.all([
    boundsOf(client, partitions, 'earliest'),
    boundsOf(client, partitions, 'latest'),
  ])
  if (from.type === 'offset' && lasts.every(last => from.offset > last)) {
    const ends = partitions.map(({ partition }, index) => `${lasts[index]} in partition ${partition}`)
    throw new CommandFailure(`offset ${from.offset} is not there yet: the end is ${ends.slice(0, 10).join(', ')}`)
  }
  return partitions.map((one, index) => {
    const wanted = from.type === 'offset' ? from.offset : lasts[index] - from.count
    // What retention has taken away is passed over; a partition that is shorter is read from its end.
    return { ...one, offset: Math.min(Math.max(firsts[index], wanted), lasts[index]) }
  })
}

async function boundsOf(client: Client, partitions: readonly TopicPartition[], spec: 'earliest' | 'latest') {
  const found = await client.admin().listOffsets(partitions.map(one => ({ ...one, spec })))
  return found.map(result => {
    if (result.error !== undefined) throw result.error
    return result.offset
  })
}

const place: Parse<Place> = text => {
  if (text === 'beginning') return { type: 'found', spec: 'earliest' }
  if (text === 'end') return { type: 'found', spec: 'latest' }
  const kind = /^[-@]?/.exec(text)?.[0]
  const rest = text.slice(kind?.length)
  const number = wholeNumber(0)(rest)
  if (typeof number === 'number') {
    if (kind === '@') return { type: 'found', spec: { timestamp: BigInt(number) } }
    return kind === '-' ? { type: 'last', count: number } : { type: 'offset', offset: number }
  }
  const date = kind === '@' ? dateMs(rest) : number
  if (typeof date === 'number') return { type: 'found', spec: { timestamp: BigInt(Math.max(0, date)) } }
  return new Needed('beginning, end, an offset, -N, @MILLISECONDS or @DATE (such as @2026-11-29T08:00:00Z)')
}

interface Reading {
  readonly flags: ConsumeFlags
  readonly limit: number
  /** Where each partition ended at the start; undefined: go on for ever. */
  readonly ends: ReadonlyMap<number, number> | undefined
  readonly stopping: AbortSignal
}

async function read(consumer: Consumer, { flags, limit, ends, stopping }: Reading): Promise<void> {
  let left = limit
  let commitAtMs = Date.now() + commitIntervalMs
  const next = new Map<number, PartitionOffset>()
  const isAtEnd = () => {
    if (ends === undefined) return false
    const own = [...ends].filter(([partition]) => flags.group === undefined || isAssigned(consumer, partition))
    return own.length > 0 && own.every(([partition, end]) => end === 0 || positionOf(consumer, partition) >= end)
  }
  const patience = new Patience(flags.timeout * 1000)
  while (left > 0 && !isAtEnd() && !stopping.aborted && process.stdout.errored === null) {
    const timeoutMs = ends === undefined ? 1000 : 200
    const batches = await consumer.poll({ timeoutMs, maxRecords: Math.min(left, 1000) })
    if (flags.group !== undefined && Date.now() >= commitAtMs) {
      await commit(consumer, next)
      commitAtMs = Date.now() + commitIntervalMs
    }
    if (ends !== undefined) patience.check(batches.length, flags.group, consumer, ends)
    for (const batch of batches) {
      const shown = show(batch, flags, left, ends)
      left -= shown.count
      if (shown.next !== undefined)
        next.set(batch.partition, { topic: batch.topic, partition: batch.partition, offset: shown.next })
    }
  }
  if (flags.group !== undefined) await commit(consumer, next)
}

/** What is there already and does not come is not waited for without an end. */
class Patience {
  readonly #timeoutMs: number
  #sinceMs = Date.now()
  #positions = ''

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs
  }

  /** A member without partitions waits for the others, which may take their time. */
  check(batches: number, group: string | undefined, consumer: Consumer, ends: ReadonlyMap<number, number>): void {
    const positions = consumer.assignment.map(one => `${one.partition} ${consumer.position(one)}`).join()
    const isWaiting = group !== undefined && consumer.assignment.length === 0
    if (batches > 0 || isWaiting || positions !== this.#positions) this.#sinceMs = Date.now()
    this.#positions = positions
    if (Date.now() - this.#sinceMs <= this.#timeoutMs) return
    const behind = [...ends].filter(([partition, end]) => positionOf(consumer, partition) < end)
    const texts = behind.slice(0, 10).map(([partition, end]) => {
      const position = positionOf(consumer, partition)
      return `partition ${partition} (at offset ${position < 0 ? 'none yet' : position}, the end is ${end})`
    })
    throw new CommandFailure(
      `nothing came for ${this.#timeoutMs / 1000} seconds from ${texts.join(', ')}: the log of its broker may say why; --timeout gives it longer`,
    )
  }
}

interface PartitionOffset extends TopicPartition {
  readonly offset: number
}

const commitIntervalMs = 5000

/** Partitions that have gone to another member are left out: it has begun where we committed last. */
async function commit(consumer: Consumer, next: Map<number, PartitionOffset>): Promise<void> {
  const own = [...next.values()].filter(({ partition }) => isAssigned(consumer, partition))
  next.clear()
  if (own.length > 0) await consumer.commit(own)
}

function isAssigned(consumer: Consumer, partition: number): boolean {
  return consumer.assignment.some(one => one.partition === partition)
}

/** -1 where it is not known, or another member of the group has the partition. */
function positionOf(consumer: Consumer, partition: number): number {
  const assigned = consumer.assignment.find(one => one.partition === partition)
  return (assigned === undefined ? undefined : consumer.position(assigned)) ?? -1
}

function show(
  batch: ConsumedBatch,
  flags: ConsumeFlags,
  limit: number,
  ends: ReadonlyMap<number, number> | undefined,
): { readonly count: number; readonly next: number | undefined } {
  const end = ends?.get(batch.partition) ?? Number.POSITIVE_INFINITY
  let count = 0
  let next: number | undefined
  for (const record of batch) {
    if (count >= limit || record.offset >= end) break
    // As they are: bytes need not be text.
    const value = [record.value ?? nullText, newline]
    if (flags.json) printLine(envelopeOf(batch.topic, batch.partition, record))
    else process.stdout.write(Buffer.concat(flags.printKey ? [record.key ?? nullText, tab, ...value] : value))
    // Whoever reads has gone: this was not printed, and is not to be committed.
    if (process.stdout.errored !== null) break
    count++
    next = record.offset + 1
  }
  return { count, next }
}

const nullText = Buffer.from('null')
const tab = Buffer.from('\t')
const newline = Buffer.from('\n')
