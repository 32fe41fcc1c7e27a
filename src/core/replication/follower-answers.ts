import { assert } from '../../base/assert.ts'
import { ErrorCode } from '../../base/error-code.ts'
import { beginEpochSearch, fillsGapOfEpochs, hidesEpochStart, takeEpochEnd } from './epoch-search.ts'
import type { FetchAnswer, FetchedRecords, ListedEpochEnd, ListedOffset } from './events.ts'
import { append } from './follower.ts'
import { handleListedOffset } from './out-of-range.ts'
import type { Replica } from './replica.ts'
import type { Follower, OpenRequest } from './roles.ts'
import { cutToLeader, startAnew, startWith, truncate } from './truncation.ts'

export function handleFetched(replica: Replica, correlationId: number, answer: FetchAnswer): void {
  const open = take(replica, correlationId)
  if (open?.request.type !== 'fetch') return
  if (answer.errorCode === ErrorCode.none) takeAnswer(replica, open.role, answer)
  else if (answer.errorCode === ErrorCode.offsetOutOfRange) open.role.outOfRange = 'askLatest'
  else takeError(replica, open.role, answer.errorCode)
}

export function handleOffsetListed(replica: Replica, correlationId: number, answer: ListedOffset): void {
  const open = take(replica, correlationId)
  if (open?.request.type !== 'latest' && open?.request.type !== 'earliest') return
  if (answer.errorCode === ErrorCode.none) handleListedOffset(replica, open.role, open.request.type, answer.offset)
  else takeError(replica, open.role, answer.errorCode)
}

export function handleEpochEndListed(replica: Replica, correlationId: number, answer: ListedEpochEnd): void {
  const open = take(replica, correlationId)
  if (open?.request.type !== 'epochEnd') return
  if (answer.errorCode !== ErrorCode.none) takeError(replica, open.role, answer.errorCode)
  else if (!takeEpochEnd(replica, open.role, answer)) retryLater(replica, open.role)
}

export function handleRequestFailed(replica: Replica, correlationId: number): void {
  const open = take(replica, correlationId)
  if (open !== undefined) retryLater(replica, open.role)
}

/** The role whose open request this is; the request is over. Undefined when the answer is to an older one. */
function take({ role }: Replica, correlationId: number): { role: Follower; request: OpenRequest } | undefined {
  if (role.type !== 'follower' || role.request?.correlationId !== correlationId) return undefined
  const { request } = role
  role.request = undefined
  return { role, request }
}

function takeError(replica: Replica, role: Follower, errorCode: ErrorCode): void {
  if (errorCode === ErrorCode.fencedLeaderEpoch) role.isFenced = true
  // The leader is not yet, or no more, what the metadata says; or it is in trouble itself.
  else retryLater(replica, role)
}

function takeAnswer(replica: Replica, role: Follower, answer: FetchAnswer): void {
  const { records, divergingEpoch, logStartOffset } = answer
  const { log } = replica
  if (divergingEpoch.epoch >= 0) {
    // What the answer says of the high watermark is not for a log that parts from the leader's.
    role.leaderHighWatermark = -1
    if (divergingEpoch.endOffset < 0 || logStartOffset < 0) retryLater(replica, role)
    else cutToLeader(replica, role, { ...divergingEpoch, logStartOffset })
  } else if (logStartOffset === log.logEndOffset && logStartOffset > log.logStartOffset) {
    // The records that came along are asked for again.
    startAnew(replica, logStartOffset)
  } else if (records === 'damaged') {
    retryLater(replica, role)
  } else if (records !== undefined && fillsGapOfEpochs(replica, records)) {
    // The records are asked for again.
    truncate(replica, log.logEndOffset)
  } else if (records !== undefined && !canFollow(replica, role, records)) {
    retryLater(replica, role)
  } else {
    role.leaderHighWatermark = answer.highWatermark
    role.leaderLogStartOffset = logStartOffset
    if (records !== undefined) takeRecords(replica, role, records)
  }
}

/** Whether they are what a leader of this epoch can have after the end of this log. */
function canFollow(replica: Replica, { leaderEpoch }: Follower, records: FetchedRecords): boolean {
  const { baseOffset, lastOffset, lastLeaderEpoch } = records
  const { logStartOffset, logEndOffset, latestEpoch } = replica.log
  // Offsets may be missing where the leader's log was compacted.
  const isAhead = baseOffset >= logEndOffset && lastOffset >= baseOffset
  const reachesOverStart = logStartOffset === logEndOffset && baseOffset >= 0 && lastOffset >= logEndOffset
  if (!isAhead && !reachesOverStart) return false
  return lastLeaderEpoch <= leaderEpoch && (lastLeaderEpoch >= latestEpoch || lastLeaderEpoch < 0)
}

function takeRecords(replica: Replica, role: Follower, records: FetchedRecords): void {
  const isBelowStart = records.baseOffset < replica.log.logEndOffset
  if (!isBelowStart && !hidesEpochStart(replica, records)) {
    append(replica, role, records)
    return
  }
  role.heldRecords = records
  if (isBelowStart) startWith(replica, records.baseOffset)
  else beginEpochSearch(replica, role, records)
}

export function handleAppendFailed(replica: Replica): void {
  const { role } = replica
  if (role.type !== 'follower') return
  role.appendEndOffset = undefined
  retryLater(replica, role)
}

/** A cut that left the log as it was will be asked for again; not as fast as the network allows. */
export function handleLogChanged(replica: Replica): void {
  const { logChange: change, log, role } = replica
  assert(change !== undefined, 'a change of the log is under way')
  replica.logChange = undefined
  if (replica.highWatermark > log.logEndOffset) replica.resetHighWatermark(log.logEndOffset)
  if (role.type !== 'follower') return
  role.flushEndOffset = -1
  const isUnchanged = change.endOffset === log.logEndOffset && change.latestEpoch === log.latestEpoch
  if (change.type === 'truncate' && isUnchanged) retryLater(replica, role)
}

/** Records that wait for an answer of the leader are asked for again. */
function retryLater(replica: Replica, role: Follower): void {
  if (role.epochSearch !== undefined) role.heldRecords = undefined
  role.epochSearch = undefined
  role.retryMs = replica.nowMs + replica.config.fetchBackoffMs
}
