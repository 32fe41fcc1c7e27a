import type { Call } from '../history/history.ts'
import type { CheckInput } from './check-history.ts'
import { Cuts } from './cuts.ts'
import { Incarnations } from './incarnations.ts'
import { partitionKey } from './partition-truth.ts'

/** Nothing is left out from one batch to the next (I40), and who joins a group begins where it has committed (I41). */
export function checkReaders(input: CheckInput): void {
  const topics = new Incarnations(input.history)
  const cuts = new Cuts(input.history)
  const commits = input.history.callsOf('commit').filter(call => call.outcome === 'ok')
  for (const call of input.history.callsOf('poll')) {
    const topicId = topics.reached(call.request, spanOf(call))
    if (call.answer === undefined || topicId === undefined) continue
    const { partition, after, beginsFor } = call.request
    if (cuts.anyBetween(topicId, partition, { from: spanOf(call).invokedAt, to: call.endedAt })) continue
    if (after !== undefined) checkSequel(input, call, { topicId, after })
    if (beginsFor === undefined) continue
    const before = commits.filter(({ request, invokedAt, endedAt }) => {
      const isOfGroup = request.group === beginsFor && endedAt < spanOf(call).invokedAt
      return isOfGroup && request.partition === partition && topics.reached(request, { invokedAt, endedAt }) === topicId
    })
    checkBeginning(input, call, before)
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

function checkBeginning(
  { history, plan, violations }: CheckInput,
  call: Call<'poll'>,
  commits: readonly Call<'commit'>[],
): void {
  const { topic, partition, offset } = call.request
  const lost = commits.find(({ request, invokedAt }) => {
    if (request.offset <= offset) return false
    const isIn = (at: number) => at >= invokedAt && at <= call.endedAt
    const ofPartition = history.marksOf('cut').some(({ at, value }) => value.topic === topic && isIn(at))
    const ofCommits = history.marksOf('cut').some(({ at, value }) => value.topic === '__consumer_offsets' && isIn(at))
    return !ofPartition && !(plan.flush === 'async' && ofCommits)
  })
  if (lost === undefined) return
  const text = `${call.process} began at ${offset} of ${topic}-${partition} (call ${call.id}), after ${lost.request.offset} had been committed (call ${lost.id})`
  violations.add('I41', text)
}
