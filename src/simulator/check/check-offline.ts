import { ErrorCode, errorName } from '../../base/error-code.ts'
import type { Call } from '../history/history.ts'
import type { Target } from '../history/operations.ts'
import type { CheckInput } from './check-history.ts'
import { partitionKey } from './partition-truth.ts'

/** With these clients look for another leader, or for a newer epoch of the same. */
const looksElsewhere: ReadonlySet<string | undefined> = new Set(
  [ErrorCode.notLeaderOrFollower, ErrorCode.fencedLeaderEpoch, ErrorCode.unknownLeaderEpoch].map(errorName),
)

/**
 * Nobody is told that all is well, or to look for another leader, by a log whose directory has failed, until the broker has been
 * started again (I53).
 */
export function checkOffline({ history, violations }: CheckInput): void {
  const ends = [...history.marksOf('closing'), ...history.marksOf('ended')].sort((a, b) => a.at - b.at)
  const deleted = new Set(history.callsOf('deleteTopic').map(call => call.request.topic))
  const calls: readonly Call<'send' | 'poll' | 'listOffset' | 'epochEnd' | 'deleteRecords'>[] = [
    ...history.callsOf('send').filter(call => call.request.acks !== 0),
    ...history.callsOf('poll'),
    ...history.callsOf('listOffset'),
    ...history.callsOf('epochEnd'),
    ...history.callsOf('deleteRecords'),
  ]
  for (const { at, value } of history.marksOf('offline')) {
    const endedAt = ends.find(end => end.at > at)?.at ?? Number.POSITIVE_INFINITY
    const ids = new Set<string>()
    const names = new Set<string>()
    for (const { topic, topicId, partition } of value.partitions) {
      if (topicId !== undefined) ids.add(partitionKey(topicId, partition))
      // Of a topic that was made anew nobody knows where the one lies that was asked for.
      if (!deleted.has(topic)) names.add(`${topic}-${partition}`)
    }
    const isInside = ({ topic, topicId, partition }: Target) =>
      topicId === undefined ? names.has(`${topic}-${partition}`) : ids.has(partitionKey(topicId, partition))
    for (const call of calls) {
      const { request, outcome, error, f, id } = call
      const begunAt = 'since' in request ? (request.since ?? call.invokedAt) : call.invokedAt
      if (
        (outcome !== 'ok' && !looksElsewhere.has(error)) ||
        begunAt < at ||
        call.endedAt > endedAt ||
        !isInside(request)
      )
        continue
      const what = outcome === 'ok' ? 'has succeeded' : `is answered with ${error}`
      const text = `${f} of ${request.topic}-${request.partition} ${what} (call ${id}), and ${value.directory} is offline`
      violations.add('I53', text)
    }
  }
}
