import type { Uuid } from '../../base/uuid.ts'
import type { Call } from '../history/history.ts'
import type { CheckInput } from './check-history.ts'
import { Cuts } from './cuts.ts'
import { Incarnations } from './incarnations.ts'
import { partitionKey } from './partition-truth.ts'

/** What an answer said of a partition, and when it was asked for and given. */
interface Statement {
  readonly call: Call
  readonly topicId: Uuid
  readonly partition: number
  readonly value: number
}

/**
 * Order in real time: what was acknowledged before another send began lies before it (I7), and no answer takes back what an
 * earlier one said of log start, high watermark, last stable offset and end (I9). A cut of the power may set all but the start back.
 */
export function checkOrder(input: CheckInput): void {
  const topics = new Incarnations(input.history)
  const cuts = new Cuts(input.history)
  const sends: Statement[] = []
  const ends: Statement[] = []
  const starts: Statement[] = []
  const stables: Statement[] = []
  for (const call of input.history.calls) {
    if (call.outcome !== 'ok') continue
    const found = statementOf(call, topics)
    if (found.send !== undefined) sends.push(found.send)
    if (found.end !== undefined) ends.push(found.end)
    if (found.start !== undefined) starts.push(found.start)
    if (found.stable !== undefined) stables.push(found.stable)
  }
  const firstSends = withoutRepeats(sends)
  checkGrowing(firstSends, (before, after) => {
    if (after.value > before.value || mayBeSetBack(cuts, before, after)) return
    input.violations.add(
      'I7',
      `${told(after)} lies at ${after.value}, and ${told(before)}, which ended before, at ${before.value}`,
    )
  })
  // The end that an answer gives is above every offset that was acknowledged before it was asked for.
  const acknowledged = sends.map(send => ({ ...send, value: send.value + recordCount(send) }))
  checkGrowing([...acknowledged, ...ends], (before, after) => {
    if (after.value >= before.value || after.call.f === 'send' || mayBeSetBack(cuts, before, after)) return
    input.violations.add(
      'I9',
      `${told(after)} says that the log ends at ${after.value}; ${told(before)} knew ${before.value}`,
    )
  })
  checkGrowing(stables, (before, after) => {
    if (after.value >= before.value || mayBeSetBack(cuts, before, after)) return
    input.violations.add(
      'I9',
      `${told(after)} says that the last stable offset is ${after.value}; ${told(before)} said ${before.value}`,
    )
  })
  // The start is saved before anybody is told of it, so not even the power sets it back.
  checkGrowing(starts, (before, after) => {
    if (after.value >= before.value || cuts.hasDamage(before.topicId, before.partition)) return
    input.violations.add(
      'I9',
      `${told(after)} says that the log starts at ${after.value}; ${told(before)} said ${before.value}`,
    )
  })
}

interface Statements {
  readonly send?: Statement
  readonly end?: Statement
  readonly start?: Statement
  readonly stable?: Statement
}

function statementOf(call: Call, topics: Incarnations): Statements {
  if (call.f === 'send') {
    const { request, answer } = call as Call<'send'>
    const place = placeOf(request, call, topics)
    return place && answer ? { send: { ...place, value: answer.baseOffset } } : {}
  }
  if (call.f === 'poll') {
    const { request, answer } = call as Call<'poll'>
    // What was fetched ahead says nothing of the time when it was handed out.
    const place = request.since === undefined ? placeOf(request, call, topics) : undefined
    if (place === undefined || answer === undefined) return {}
    const { highWatermark, lastStableOffset, logStartOffset } = answer
    return {
      end: { ...place, value: highWatermark },
      ...(lastStableOffset >= 0 && { stable: { ...place, value: lastStableOffset } }),
      ...(logStartOffset >= 0 && { start: { ...place, value: logStartOffset } }),
    }
  }
  if (call.f === 'listOffset') {
    const { request, answer } = call as Call<'listOffset'>
    const place = placeOf(request, call, topics)
    if (place === undefined || answer === undefined) return {}
    if (request.timestamp === -1) return { end: { ...place, value: answer.offset } }
    return request.timestamp === -2 ? { start: { ...place, value: answer.offset } } : {}
  }
  if (call.f === 'deleteRecords') {
    const { request, answer } = call as Call<'deleteRecords'>
    const place = placeOf(request, call, topics)
    return place && answer ? { start: { ...place, value: answer.lowWatermark } } : {}
  }
  return {}
}

function placeOf(
  request: Call<'poll' | 'send' | 'listOffset' | 'deleteRecords'>['request'],
  call: Call,
  topics: Incarnations,
) {
  const topicId = topics.reached(request, call)
  return topicId === undefined ? undefined : { call, topicId, partition: request.partition }
}

function recordCount({ call }: Statement): number {
  return (call as Call<'send'>).request.records.length
}

/** Of several sends of one record the first counts: a repetition is answered with the offset of the first. */
function withoutRepeats(sends: readonly Statement[]): Statement[] {
  const seen = new Set<string>()
  return sends.filter(({ call }) => {
    const { records, attempt } = (call as Call<'send'>).request
    const value = records[0]?.value ?? ''
    const isFirst = !seen.has(value) && attempt === 1
    seen.add(value)
    return isFirst
  })
}

/** Compares each statement with the greatest of those that had been made before it was asked for. */
function checkGrowing(statements: readonly Statement[], compare: (before: Statement, after: Statement) => void): void {
  const byPartition = Map.groupBy(statements, one => partitionKey(one.topicId, one.partition))
  for (const group of byPartition.values()) {
    const ended = group.toSorted((a, b) => a.call.endedAt - b.call.endedAt)
    const begun = group.toSorted((a, b) => a.call.invokedAt - b.call.invokedAt)
    let next = 0
    let greatest: Statement | undefined
    for (const after of begun) {
      for (let one = ended[next]; one !== undefined && one.call.endedAt < after.call.invokedAt; one = ended[++next])
        if (greatest === undefined || one.value > greatest.value) greatest = one
      if (greatest !== undefined) compare(greatest, after)
    }
  }
}

function mayBeSetBack(cuts: Cuts, before: Statement, after: Statement): boolean {
  return cuts.anyBetween(before.topicId, before.partition, { from: before.call.invokedAt, to: after.call.endedAt })
}

function told({ call }: Statement): string {
  return `${call.f} ${call.id} of ${call.process}`
}
