import type { Call } from '../history/history.ts'
import type { CheckInput } from './check-history.ts'
import { Cuts } from './cuts.ts'
import { Incarnations } from './incarnations.ts'
import { partitionKey } from './partition-truth.ts'

/** A request that nobody answered may have its effect this much later. */
const maxUnderWayMs = 15_000

/**
 * Nothing is left out from one batch to the next (I40), and who joins a group begins where it has committed, neither before
 * (I41) nor beyond (I40).
 */
export function checkReaders(input: CheckInput): void {
  const topics = new Incarnations(input.history)
  const cuts = new Cuts(input.history)
  const commits = input.history.callsOf('commit').filter(call => call.outcome !== 'fail')
  for (const call of input.history.callsOf('poll')) {
    const topicId = topics.reached(call.request, spanOf(call))
    if (call.answer === undefined || topicId === undefined) continue
    const { partition, after, beginsFor } = call.request
    if (cuts.anyBetween(topicId, partition, { from: spanOf(call).invokedAt, to: call.endedAt })) continue
    if (after !== undefined) checkSequel(input, call, { topicId, after })
    if (beginsFor === undefined) continue
    const reachedBy = ({ request, invokedAt, endedAt }: Call<'commit'>) => {
      if (request.group !== beginsFor || request.partition !== partition) return 'another'
      return topics.reached(request, { invokedAt: request.since ?? invokedAt, endedAt })
    }
    const sure = commits.filter(commit => reachedBy(commit) === topicId)
    const unclear = commits.filter(commit => reachedBy(commit) === undefined)
    checkBeginning(input, call, { sure, unclear })
    const committed = [...sure, ...unclear].filter(({ invokedAt }) => invokedAt < call.endedAt)
    const ends = endsHandedOut(input, call, topicId, topics)
    const reached = Math.max(0, ...committed.map(({ request }) => request.offset), ...ends)
    checkNotBeyond(input, call, { topicId, reachedOffset: reached, cuts })
  }
}

/** Where the records ended that members which commit without a word were handed of the partition before. */
function endsHandedOut({ history }: CheckInput, call: Call<'poll'>, topicId: string, topics: Incarnations): number[] {
  const { partition, beginsFor } = call.request
  return history.callsOf('poll').flatMap(other => {
    const { request, answer, id } = other
    const last = answer?.records.at(-1)
    if (last === undefined || request.commitsFor !== beginsFor || request.partition !== partition || id >= call.id)
      return []
    return (topics.reached(request, spanOf(other)) ?? topicId) === topicId ? [last.offset + 1] : []
  })
}

/** What lies behind all that the group can have committed is not passed over: a group that has none begins at the start. */
function checkNotBeyond(
  { truth, violations }: CheckInput,
  call: Call<'poll'>,
  { topicId, reachedOffset, cuts }: { readonly topicId: string; readonly reachedOffset: number; readonly cuts: Cuts },
): void {
  const { topic, partition, offset } = call.request
  const records = truth.get(partitionKey(topicId, partition))?.records
  for (let left = reachedOffset; left < offset; left++) {
    if (!records?.has(left) || cuts.mayHaveTaken(topicId, partition, left, spanOf(call).invokedAt)) continue
    const text = `${call.process} began at ${offset} of ${topic}-${partition} (call ${call.id}), and nobody in its group was given ${left}, or has committed beyond it`
    return violations.add('I40', text)
  }
}

function spanOf({ request, invokedAt, endedAt }: Call<'poll'>) {
  return { invokedAt: request.since ?? invokedAt, endedAt }
}

function checkSequel(
  { truth, violations }: CheckInput,
  { id, process, request }: Call<'poll'>,
  { topicId, after }: { readonly topicId: string; readonly after: number },
): void {
  const { topic, partition, offset } = request
  const place = `${process} at ${topic}-${partition} (call ${id})`
  if (offset < after) violations.add('I40', `${place} went on at ${offset}, and had been at ${after}`)
  const records = truth.get(partitionKey(topicId, partition))?.records
  for (let left = after; left < offset; left++)
    if (records?.has(left))
      return violations.add('I40', `${place} went on at ${offset}, and had not been given ${left}`)
}

/** Whether one commit may have been made after another: if nobody heard of it, also some time after it was given up. */
function mayFollow(one: Call<'commit'>, other: Call<'commit'>): boolean {
  return one.endedAt > other.invokedAt || (one.outcome !== 'ok' && one.endedMs + maxUnderWayMs > other.invokedMs)
}

function checkBeginning(
  { history, plan, violations }: CheckInput,
  call: Call<'poll'>,
  { sure, unclear }: { readonly sure: readonly Call<'commit'>[]; readonly unclear: readonly Call<'commit'>[] },
): void {
  const { topic, partition, offset } = call.request
  const lower = [...sure, ...unclear].filter(({ request }) => request.offset <= offset)
  const lost = sure.find(commit => {
    const { request, outcome, invokedAt, endedAt } = commit
    if (outcome !== 'ok' || endedAt >= spanOf(call).invokedAt || request.offset <= offset) return false
    if (lower.some(other => mayFollow(other, commit))) return false
    const isIn = (at: number) => at >= invokedAt && at <= call.endedAt
    const ofPartition = history.marksOf('cut').some(({ at, value }) => value.topic === topic && isIn(at))
    const ofCommits = history.marksOf('cut').some(({ at, value }) => value.topic === '__consumer_offsets' && isIn(at))
    return !ofPartition && !(plan.flush === 'async' && ofCommits)
  })
  if (lost === undefined) return
  const text = `${call.process} began at ${offset} of ${topic}-${partition} (call ${call.id}), after ${lost.request.offset} had been committed (call ${lost.id})`
  violations.add('I41', text)
}
