import { assert } from '../../base/assert.ts'
import type { FetchedRecords } from './events.ts'
import type { Replica } from './replica.ts'
import type { Follower } from './roles.ts'
import { moveLogStart, truncate } from './truncation.ts'

/** Asks the leader for what comes after the end of the log, once the end is certain. */
export function pollFollower(replica: Replica, role: Follower): void {
  if (!isAppendDone(replica, role)) return
  if (role.heldRecords !== undefined && role.epochSearch === undefined) {
    append(replica, role, role.heldRecords)
    return
  }
  adoptHighWatermark(replica, role)
  if (replica.logChange !== undefined || role.request !== undefined) return
  if (role.isFenced || replica.nowMs < role.retryMs) return
  const { log } = replica
  if (replica.config.flushBeforeAck && log.flushedOffset < log.logEndOffset) {
    flush(replica, role)
  } else if (log.latestEpoch < 0 && log.logEndOffset > replica.highWatermark) {
    // Records older than epochs: where they part from the leader's cannot be found, but what is committed is the same.
    truncate(replica, replica.highWatermark)
  } else {
    ask(replica, role)
  }
}

/** False while records are on their way to the disk. */
function isAppendDone(replica: Replica, role: Follower): boolean {
  const { log } = replica
  if (role.appendEndOffset !== undefined && log.logEndOffset >= role.appendEndOffset) role.appendEndOffset = undefined
  return role.appendEndOffset === undefined && replica.isLogSettled
}

/** As far as this log reaches: it matches the leader's up to its end, or the leader would have said where they part. */
function adoptHighWatermark(replica: Replica, role: Follower): void {
  const { log } = replica
  const highWatermark = Math.min(role.leaderHighWatermark, log.logEndOffset)
  if (highWatermark > replica.highWatermark) replica.raiseHighWatermark(highWatermark)
  const logStartOffset = Math.min(role.leaderLogStartOffset, replica.highWatermark)
  if (logStartOffset > log.logStartOffset) moveLogStart(replica, logStartOffset)
}

export function append(replica: Replica, role: Follower, records: FetchedRecords): void {
  assert(records.baseOffset >= replica.log.logEndOffset, 'records are appended at the end of the log')
  role.heldRecords = undefined
  role.appendEndOffset = records.lastOffset + 1
  replica.effects.push({ type: 'append', records })
}

function flush(replica: Replica, role: Follower): void {
  const { logEndOffset } = replica.log
  if (role.flushEndOffset >= logEndOffset) return
  role.flushEndOffset = logEndOffset
  replica.effects.push({ type: 'flush' })
}

function ask(replica: Replica, role: Follower): void {
  assert(role.request === undefined, 'one request is open at a time')
  const { log } = replica
  const correlationId = replica.nextRequestId()
  const { leader, leaderEpoch: currentLeaderEpoch } = role
  if (role.outOfRange !== undefined) {
    const isLatest = role.outOfRange === 'askLatest'
    role.request = { type: isLatest ? 'latest' : 'earliest', correlationId }
    const timestamp = isLatest ? -1 : -2
    replica.effects.push({ type: 'listOffset', correlationId, leader, currentLeaderEpoch, timestamp })
    return
  }
  if (role.epochSearch !== undefined) {
    role.request = { type: 'epochEnd', correlationId }
    const leaderEpoch = role.epochSearch.leaderEpoch - 1
    replica.effects.push({ type: 'offsetForLeaderEpoch', correlationId, leader, currentLeaderEpoch, leaderEpoch })
    return
  }
  role.request = { type: 'fetch', correlationId }
  replica.effects.push({
    type: 'fetch',
    correlationId,
    leader,
    currentLeaderEpoch,
    fetchOffset: log.logEndOffset,
    lastFetchedEpoch: log.latestEpoch,
    logStartOffset: log.logStartOffset,
  })
}

/** When to ask again after an error. */
export function followerDeadlineMs(replica: Replica, role: Follower): number | undefined {
  const waitsForTime = role.request === undefined && !role.isFenced && replica.nowMs < role.retryMs
  return waitsForTime ? role.retryMs : undefined
}
