import assert from 'node:assert/strict'
import { type BatchHeader, batchSpans, decodeBatchHeader } from '../../../src/records/batch-header.ts'
import { openBatch } from '../../../src/records/open-batch.ts'
import { type Record, RecordReader } from '../../../src/records/record.ts'
import { api } from '../../end-to-end/api.ts'
import { RawClient } from '../../end-to-end/raw-client.ts'
import { fetch, type Place } from '../../end-to-end/requests.ts'
import { untilLed } from './until-led.ts'

/** What a broker answers about one partition, as lines of text that can be compared. */
export type Served = readonly string[]

const isolationLevels = { read_uncommitted: 0, read_committed: 1 }
/** From how many offsets between the ends it is read as well: most of them lie in gaps. */
const entryPoints = 7

/** Reads every topic to its end by both isolation levels, from the start and from within, and asks for offsets by time. */
export async function readServed(port: number, topics: readonly string[]): Promise<Map<string, Served>> {
  using client = await RawClient.connect({ port })
  const served = new Map<string, Served>()
  for (const topic of topics) served.set(topic, await readTopic(client, { topic }))
  return served
}

async function readTopic(client: RawClient, place: Place): Promise<string[]> {
  await untilLed(client, place.topic)
  const [start, end] = [await offsetAt(client, place, -2n), await offsetAt(client, place, -1n)]
  const lines = [`start ${start}`, `end ${end}`, `of the latest time ${await offsetAt(client, place, -3n)}`]
  const times = new Set<bigint>()
  let stored: readonly Record[] = []
  for (const [name, isolationLevel] of Object.entries(isolationLevels)) {
    lines.push(`${name}: end ${await offsetAt(client, place, -1n, isolationLevel)}`)
    const all = await readFrom(client, place, Number(start.split('@')[0]), isolationLevel)
    lines.push(...all.lines.map(line => `${name}: ${line}`))
    for (const time of all.times) times.add(time)
    if (isolationLevel === 0) stored = all.found
  }
  const [first, last] = [start, end].map(text => Number(text.split('@')[0])) as [number, number]
  for (let index = 1; index <= entryPoints; index++) {
    const offset = first + Math.floor(((last - first) * index) / (entryPoints + 1))
    const { records } = await fetch(client, place, { offset, partitionMaxBytes: 1, isolationLevel: 1 })
    lines.push(`one fetch from ${offset}: ${firstBatch(records)}`)
  }
  const some = [...times]
    .sort((a, b) => Number(a - b))
    .filter((_, index, { length }) => index % Math.ceil(length / 12) === 0)
  for (const time of some) lines.push(await lookUp(client, place, time, stored))
  return lines
}

/** `offset@timestamp`, or the error. */
async function offsetAt(client: RawClient, place: Place, timestamp: bigint, isolationLevel = 0): Promise<string> {
  const { topic, partition = 0 } = place
  const topics = [{ name: topic, partitions: [{ partitionIndex: partition, timestamp }] }]
  const answer = await client.call(api.listOffsets, 7, { replicaId: -1, isolationLevel, topics })
  const { errorCode, offset, timestamp: found } = answer.topics[0]!.partitions[0]!
  return errorCode === 0 ? `${offset}@${found}` : `error ${errorCode}`
}

/** The first offset from a time on, and whether that is so. */
async function lookUp(client: RawClient, place: Place, time: bigint, stored: readonly Record[]): Promise<string> {
  const answer = await offsetAt(client, place, time)
  const first = stored.find(({ timestamp }) => timestamp >= time)
  const right = first === undefined ? '-1@-1' : `${first.offset}@${first.timestamp}`
  return `at ${time}: ${answer}${answer === right ? '' : ', which is wrong'}`
}

async function readFrom(client: RawClient, place: Place, from: number, isolationLevel: number) {
  const lines: string[] = []
  const times: bigint[] = []
  const found: Record[] = []
  const aborted = new Set<string>()
  for (let offset = from; ; ) {
    const answer = await fetch(client, place, { offset, isolationLevel, partitionMaxBytes: 1 << 24 })
    assert.equal(answer.errorCode, 0)
    const bytes = answer.records ?? Buffer.alloc(0)
    let next = offset
    for (const { at } of batchSpans(bytes)) {
      const header = decodeBatchHeader(bytes, at)
      next = header.lastOffset + 1
      const records = recordsOf(bytes, at)
      // An empty batch of no producer says nothing to a reader.
      if (records.length === 0 && header.producerId < 0) continue
      times.push(header.maxTimestamp)
      lines.push(...linesOf(header, records))
      if (!header.isControl) found.push(...records)
    }
    // Kafka names transactions too that begin behind what it sends.
    for (const { producerId, firstOffset } of answer.abortedTransactions ?? [])
      if (firstOffset < next) aborted.add(`${producerId} ${firstOffset}`)
    if (next === offset) break
    offset = next
  }
  return { lines: [...lines, ...[...aborted].sort().map(text => `aborted ${text}`)], times, found }
}

function recordsOf(bytes: Buffer, at: number): Record[] {
  const reader = openBatch(bytes, at, 1 << 28)
  assert.ok(reader instanceof RecordReader)
  const records = [...reader]
  assert.equal(reader.isCorrupt, false)
  return records
}

function linesOf(header: BatchHeader, records: readonly Record[]): string[] {
  const { baseOffset, lastOffset, producerId, producerEpoch, baseSequence, isControl, isTransactional, codec } = header
  const about = { producerId, producerEpoch, baseSequence, isControl, isTransactional, codec }
  const lines = records.map(({ offset, timestamp, key, value, headers }) =>
    JSON.stringify([offset, String(timestamp), text(key), text(value), headers.map(one => [one.key, text(one.value)])]),
  )
  return [`batch ${baseOffset}..${lastOffset} ${JSON.stringify(about)}`, ...lines]
}

function firstBatch(bytes: Buffer | null): string {
  const [first] = batchSpans(bytes ?? Buffer.alloc(0))
  if (first === undefined) return 'nothing'
  const { baseOffset, lastOffset } = decodeBatchHeader(bytes!, first.at)
  return `${baseOffset}..${lastOffset}`
}

function text(bytes: Buffer | null): string | null {
  if (bytes === null || bytes.length < 200) return bytes === null ? null : bytes.toString('latin1')
  return `${bytes.length} bytes: ${bytes.subarray(0, 40).toString('latin1')}`
}

/** Where what two brokers serve is not the same. */
export function compareServed(one: Served, other: Served): string[] {
  const differences = one.flatMap((line, index) =>
    line === other[index] ? [] : [`${line} instead of ${other[index]}`],
  )
  if (one.length !== other.length) differences.push(`${one.length} lines instead of ${other.length}`)
  return differences.slice(0, 6)
}
