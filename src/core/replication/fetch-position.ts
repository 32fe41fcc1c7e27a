import { ErrorCode } from '../../base/error-code.ts'
import type { FetchVerdict, FollowerFetch } from './events.ts'
import type { ReplicaLogView } from './views.ts'

const read: FetchVerdict = { type: 'read' }

/**
 * Whether a follower that holds everything below `fetchOffset`, its last record being of `lastFetchedEpoch`, holds what this
 * log does. Its offset says nothing before that is known: the records there may be others.
 */
export function positionOf(
  log: ReplicaLogView,
  { fetchOffset, lastFetchedEpoch }: Pick<FollowerFetch, 'fetchOffset' | 'lastFetchedEpoch'>,
): FetchVerdict {
  if (lastFetchedEpoch >= 0) {
    const { leaderEpoch: epoch, endOffset } = log.endOffsetForEpoch(lastFetchedEpoch)
    const isKnown = epoch >= 0 && endOffset >= 0
    if (!isKnown || fetchOffset < log.logStartOffset) return outOfRange
    if (epoch < lastFetchedEpoch || endOffset < fetchOffset) return { type: 'diverging', epoch, endOffset }
  }
  return fetchOffset < log.logStartOffset || fetchOffset > log.logEndOffset ? outOfRange : read
}

const outOfRange: FetchVerdict = { type: 'refused', errorCode: ErrorCode.offsetOutOfRange }
