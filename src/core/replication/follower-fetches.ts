import { ErrorCode } from '../../base/error-code.ts'
import type { FetchVerdict, FollowerFetch } from './events.ts'
import { positionOf } from './fetch-position.ts'
import type { FollowerProgress } from './follower-progress.ts'
import { proposeExpansion } from './isr-changes.ts'
import { isEligible, type Leader } from './leader.ts'
import type { Replica } from './replica.ts'

/** A follower asks for records, and says with it how far it is. */
export function handleFetch(replica: Replica, fetch: FollowerFetch): void {
  replica.effects.push({ type: 'answerFetch', fetch, verdict: verdictOn(replica, fetch) })
}

function verdictOn(replica: Replica, fetch: FollowerFetch): FetchVerdict {
  const { role } = replica
  const epochError = checkEpoch(replica, fetch.currentLeaderEpoch)
  if (epochError !== ErrorCode.none) return refused(epochError)
  if (role.type !== 'leader') return refused(ErrorCode.notLeaderOrFollower)
  const follower = role.follower(fetch.replicaId)
  // The follower may know of its assignment before its leader does: it asks again.
  if (follower === undefined) return refused(ErrorCode.unknownLeaderEpoch)
  const registeredEpoch = replica.brokers.broker(fetch.replicaId)?.epoch ?? -1
  const isOfEarlierLife = fetch.replicaEpoch < Math.max(registeredEpoch, follower.brokerEpoch)
  if (isOfEarlierLife && fetch.replicaEpoch >= 0) return refused(ErrorCode.notLeaderOrFollower)
  const verdict = positionOf(replica.log, fetch)
  if (verdict.type === 'read') count(replica, role, follower, fetch)
  return verdict
}

function checkEpoch(replica: Replica, currentLeaderEpoch: number): ErrorCode {
  const leaderEpoch = replica.metadata?.leaderEpoch ?? -1
  if (currentLeaderEpoch === leaderEpoch) return ErrorCode.none
  return currentLeaderEpoch < leaderEpoch ? ErrorCode.fencedLeaderEpoch : ErrorCode.unknownLeaderEpoch
}

/**
 * The follower's log matches and it asks in this leader epoch, so it holds all below the offset. That counts when it is the
 * life of the broker that the metadata knows: a newer one was taken out of the in-sync replicas when it was registered,
 * which this leader has yet to hear.
 */
function count(replica: Replica, leader: Leader, follower: FollowerProgress, fetch: FollowerFetch): void {
  const registered = replica.brokers.broker(fetch.replicaId)
  if (registered?.epoch !== fetch.replicaEpoch) return
  if (fetch.replicaEpoch > follower.brokerEpoch) follower.begin(fetch.replicaEpoch)
  const { nowMs, logEndOffset } = replica
  follower.fetched({ endOffset: fetch.fetchOffset, leaderEndOffset: logEndOffset, nowMs })
  if (mayJoin(replica, leader, follower, fetch.logStartOffset)) proposeExpansion(replica, leader, follower)
}

/**
 * Who joins may be elected: it must have everything that is committed. The high watermark of a leader that was just elected
 * may be behind what the one before had committed, but the beginning of its epoch is not. And it must have nothing else: what
 * it has below the start of the leader's log nobody can compare any more, so it has to have let go of it.
 */
function mayJoin(replica: Replica, leader: Leader, follower: FollowerProgress, logStartOffset: number): boolean {
  if (follower.isInMaximalIsr || !isEligible(follower, replica.brokers)) return false
  if (logStartOffset < replica.log.logStartOffset) return false
  return follower.endOffset >= replica.highWatermark && follower.endOffset >= leader.epochStartOffset
}

function refused(errorCode: ErrorCode): FetchVerdict {
  return { type: 'refused', errorCode }
}
