import type { Uuid } from '../../base/uuid.ts'
import type { Call, Mark } from '../history/history.ts'
import type { SeenRecord } from '../history/operations.ts'
import type { PlannedTopic } from '../plan.ts'
import type { CheckInput } from './check-history.ts'
import { Cuts } from './cuts.ts'
import { Incarnations } from './incarnations.ts'
import { partitionKey } from './partition-truth.ts'

/** A record that somebody was told of. */
interface Told {
  readonly record: SeenRecord
  readonly offset: number
  /** Whoever asked for what told of it. */
  readonly call: Call
}

/** A timer of the broker's clock runs that much faster than the world at most; and how much later it may be looked at. */
const fastestClock = 1.01
const slackMs = 100

/**
 * Retention by time removes only what is older than `retention.ms` (I56): no record that clients know of goes with the beginning
 * of its log before that, unless somebody has deleted it, or as much as `retention.bytes` asks for is left without it.
 */
export function checkAges(input: CheckInput): void {
  const moves = input.history.marksOf('logStartMoved')
  if (moves.length === 0) return
  const topics = new Incarnations(input.history)
  const cuts = new Cuts(input.history)
  const told = recordsTold(input, topics)
  const sends = firstSendsOf(input)
  for (const move of moves) {
    const { topic, topicId = '', partition, from, to } = move.value
    const planned = input.plan.topics.find(one => one.name === topic)
    if (planned === undefined || isBySize(planned, move) || cuts.hasDamage(topicId, partition)) continue
    const retentionMs = Number(planned.config['retention.ms'])
    const deletedBelow = endOfDeletions(input, topics, move)
    const young = told.get(partitionKey(topicId, partition))?.find(({ offset, record, call }) => {
      if (offset < Math.max(from, deletedBelow) || offset >= to) return false
      if (cuts.mayHaveTaken(topicId, partition, offset, call.invokedAt)) return false
      return oldestAgeMs(input, planned, { move, record, sent: sends.get(record.value) }) <= retentionMs
    })
    if (young === undefined) continue
    const text = `${topic}-${partition} began at ${to} after ${from}, and ${young.record.value} at ${young.offset} was not older than ${retentionMs} ms at ${move.value.wallMs}`
    input.violations.add('I56', text)
  }
}

function recordsTold({ history }: CheckInput, topics: Incarnations): Map<string, Told[]> {
  const told = new Map<string, Told[]>()
  const add = (topicId: Uuid, partition: number, one: Told) => {
    const key = partitionKey(topicId, partition)
    const known = told.get(key)
    if (known === undefined) told.set(key, [one])
    else known.push(one)
  }
  for (const call of history.callsOf('send')) {
    const topicId = call.answer && topics.reached(call.request, call)
    if (topicId === undefined) continue
    for (const [index, record] of call.request.records.entries())
      add(topicId, call.request.partition, { record, offset: call.answer!.baseOffset + index, call })
  }
  for (const call of history.callsOf('poll')) {
    const span = { invokedAt: call.request.since ?? call.invokedAt, endedAt: call.endedAt }
    const topicId = call.answer && topics.reached(call.request, span)
    if (topicId === undefined) continue
    for (const record of call.answer!.records)
      add(topicId, call.request.partition, { record, offset: record.offset, call: { ...call, ...span } })
  }
  return told
}

interface FirstSend {
  readonly ms: number
  readonly timestamp: string | undefined
}

function firstSendsOf({ history }: CheckInput): Map<string, FirstSend> {
  const first = new Map<string, FirstSend>()
  for (const { request, invokedMs: ms } of history.callsOf('send'))
    for (const { value, timestamp } of request.records) if (!first.has(value)) first.set(value, { ms, timestamp })
  return first
}

interface Gone {
  readonly move: Mark<'logStartMoved'>
  readonly record: SeenRecord
  readonly sent: FirstSend | undefined
}

/** How old the record can have been at most. Where the broker's time may stand in it, it was not there before it was sent. */
function oldestAgeMs({ plan }: CheckInput, { config }: PlannedTopic, { move, record, sent }: Gone): number {
  const name = 'message.timestamp.type'
  const isOwnTime = !(name in config) && plan.clients?.admin?.settings.some(([setting]) => setting === name) !== true
  const timestamp = record.timestamp ?? sent?.timestamp
  if (timestamp === undefined || sent === undefined) return Number.POSITIVE_INFINITY
  const ofRecord = move.value.wallMs - Number(timestamp)
  return isOwnTime ? ofRecord : Math.max(ofRecord, (move.ms - sent.ms) * fastestClock + slackMs)
}

function isBySize({ config }: PlannedTopic, { value }: Mark<'logStartMoved'>): boolean {
  const retentionBytes = config['retention.bytes']
  return retentionBytes !== undefined && value.sizeBytes >= Number(retentionBytes)
}

function endOfDeletions({ history }: CheckInput, topics: Incarnations, { value, at }: Mark<'logStartMoved'>): number {
  const ends = history.callsOf('deleteRecords').map(call => {
    const { request, answer, outcome, invokedAt } = call
    const reached = topics.reached(request, call) ?? value.topicId
    const isOfThis = reached === value.topicId && request.partition === value.partition
    if (outcome === 'fail' || invokedAt > at || !isOfThis) return 0
    return request.offset >= 0 ? request.offset : (answer?.lowWatermark ?? Number.POSITIVE_INFINITY)
  })
  return Math.max(0, ...ends)
}
