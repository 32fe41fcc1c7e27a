import type { Uuid } from '../../base/uuid.ts'
import type { Call } from '../history/history.ts'
import type { CheckInput } from './check-history.ts'
import { Cuts } from './cuts.ts'
import { Incarnations } from './incarnations.ts'
import { KnownRecords } from './known-records.ts'
import { partitionKey } from './partition-truth.ts'

/** A pass may have begun this long before readers saw what it did. */
const slackMs = 2000

/**
 * What compaction must not do: bring back what a reader had found gone (I54), and take a tombstone from a reader that had
 * the record which it deletes, and was not away for longer than `delete.retention.ms` (I55). Whether the last record of each
 * key is there is seen where logs are checked.
 */
export function checkCompaction(input: CheckInput): void {
  const topics = new Incarnations(input.history)
  const known = new KnownRecords(input, topics)
  const cuts = new Cuts(input.history)
  const polls = input.history.callsOf('poll').flatMap(call => {
    const topicId = call.answer && topics.reached(call.request, call)
    const isCompacted = topicId !== undefined && known.isCompacted(topicId)
    return isCompacted && !cuts.hasDamage(topicId, call.request.partition) ? [{ call, topicId }] : []
  })
  checkReturns(input, polls, cuts)
  // When the clock of the broker is set, tombstones may be old sooner.
  if (input.plan.faults?.clockStepMs === undefined) checkTombstones(input, polls, { known, cuts })
}

interface Poll {
  readonly call: Call<'poll'>
  readonly topicId: Uuid
}

function checkReturns({ violations }: CheckInput, polls: readonly Poll[], cuts: Cuts): void {
  /** By partition, offset and era: who found it gone first. */
  const gone = new Map<string, Call<'poll'>>()
  const keyOf = ({ topicId, call }: Poll, offset: number) => {
    const { partition } = call.request
    return `${partitionKey(topicId, partition)} ${offset} ${cuts.era(topicId, partition, offset, call.endedAt)}`
  }
  const ended = polls.toSorted((a, b) => a.call.endedAt - b.call.endedAt)
  for (const poll of ended) {
    const { call } = poll
    if (call.request.since !== undefined) continue
    let expected = call.request.offset
    for (const { offset } of call.answer!.records) {
      for (; expected < offset; expected++) {
        const key = keyOf(poll, expected)
        if (!gone.has(key)) gone.set(key, call)
      }
      expected = offset + 1
    }
  }
  for (const poll of ended) {
    const { call } = poll
    for (const { offset, value } of call.answer!.records) {
      const before = gone.get(keyOf(poll, offset))
      if (before === undefined || before.endedAt >= (call.request.since ?? call.invokedAt)) continue
      const place = `${call.request.topic}-${call.request.partition} offset ${offset}`
      violations.add('I54', `${value} at ${place} is back for call ${call.id}; it was gone for call ${before.id}`)
    }
  }
}

/** What one reader believes to be the last record of a key, and since when. */
interface Belief {
  readonly offset: number
  readonly sinceMs: number
  readonly isTombstone: boolean
}

/** A reader goes on as long as it asks for what follows. */
interface Reader {
  readonly beliefs: Map<string, Belief>
  position: number
}

function checkTombstones(
  { violations }: CheckInput,
  polls: readonly Poll[],
  { known, cuts }: { readonly known: KnownRecords; readonly cuts: Cuts },
): void {
  const readers = new Map<string, Reader>()
  for (const { call, topicId } of polls) {
    const { request, answer, endedMs } = call
    const { partition, offset: from } = request
    if (request.since !== undefined) continue
    const name = `${call.process} ${partitionKey(topicId, partition)}`
    const before = readers.get(name)
    const reader: Reader = before?.position === from ? before : { beliefs: new Map(), position: from }
    readers.set(name, reader)
    const { records, nextOffset: to = from } = answer!
    for (const { key, offset, isTombstone = false } of records)
      if (key !== undefined && key !== null) reader.beliefs.set(key, { offset, sinceMs: endedMs, isTombstone })
    const limitMs = known.deleteRetentionMs(topicId) - slackMs
    for (const tombstone of known.tombstones(topicId, partition, reader.position, to)) {
      const belief = reader.beliefs.get(tombstone.key)
      if (belief === undefined || belief.isTombstone || belief.offset >= tombstone.offset) continue
      const isLast = known.later(topicId, partition, tombstone).length === 0
      const mayBeReplaced = known.isUnsure(topicId, partition, tombstone, endedMs)
      const wasCut = cuts.anyBetween(topicId, partition, { from: 0, to: call.endedAt })
      if (!isLast || mayBeReplaced || wasCut || endedMs - belief.sinceMs > limitMs) continue
      const place = `${request.topic}-${partition}`
      violations.add(
        'I55',
        `${call.process} passed the tombstone of ${tombstone.key} at offset ${tombstone.offset} of ${place} without being told (call ${call.id})`,
      )
    }
    reader.position = Math.max(reader.position, to)
  }
}
