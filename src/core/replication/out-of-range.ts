import type { Replica } from './replica.ts'
import type { Follower } from './roles.ts'
import { cut, startAnew } from './truncation.ts'

/**
 * The leader does not have the offset where this log ends. Either its log ends lower: then this one has what an unclean
 * election threw away, and is cut. Or it begins higher: retention went on while this replica was away, and it begins anew.
 * Or it has grown, or been elected anew, since it refused: then the fetch is repeated.
 */
export function handleListedOffset(
  replica: Replica,
  role: Follower,
  asked: 'latest' | 'earliest',
  offset: number,
): void {
  const { logEndOffset } = replica.log
  role.outOfRange = undefined
  if (asked === 'latest') {
    if (offset < logEndOffset) cut(replica, role, Math.max(offset, 0))
    else role.outOfRange = 'askEarliest'
  } else if (offset > logEndOffset) {
    startAnew(replica, offset)
  } else {
    role.retryMs = replica.nowMs + replica.config.fetchBackoffMs
  }
}
