import { assert } from '../../base/assert.ts'
import type { EpochStart } from '../log/leader-epochs.ts'
import type { LogChange, Replica } from './replica.ts'
import type { Follower } from './roles.ts'

/** What a leader says of its log to a follower whose log parts from it. */
export interface LeaderEnd {
  readonly epoch: number
  /** Where that epoch ends in the leader's log. */
  readonly endOffset: number
  readonly logStartOffset: number
}

/**
 * The leader has the epoch named up to the offset named, and this log has something else after that. Both sides know only
 * their own epochs, so it may take several turns until both speak of the same one.
 */
export function cutToLeader(replica: Replica, role: Follower, leader: LeaderEnd): void {
  const { log } = replica
  const own = log.endOffsetForEpoch(leader.epoch)
  const ownEnd = own.endOffset < 0 ? log.logEndOffset : own.endOffset
  // Where this log does not know the epoch, it has something else from the end of the one before on.
  const isSameEpoch = own.leaderEpoch === leader.epoch || own.leaderEpoch < 0
  const endOffset = isSameEpoch ? Math.min(ownEnd, leader.endOffset) : ownEnd
  const cutOffset = Math.min(endOffset, log.logEndOffset)
  const isBelowStart = cutOffset <= leader.logStartOffset && log.logStartOffset < leader.logStartOffset
  if (!isBelowStart) cut(replica, role, cutOffset)
  else if (mayCut(replica, role, leader.logStartOffset)) startAnew(replica, leader.logStartOffset)
}

export function cut(replica: Replica, role: Follower, endOffset: number): void {
  if (mayCut(replica, role, endOffset)) truncate(replica, endOffset)
}

/** False when nobody can have decided to lose what is cut: the node halts. */
function mayCut(replica: Replica, { leader, leaderEpoch }: Follower, fromOffset: number): boolean {
  const { highWatermark: toOffset } = replica
  if (fromOffset >= toOffset) return true
  if (replica.config.onCommittedLoss === 'halt') {
    replica.halt(
      `leader ${leader} of epoch ${leaderEpoch} wants the log cut to ${fromOffset}, which is committed up to ${toOffset}`,
    )
    return false
  }
  replica.resetHighWatermark(fromOffset)
  replica.effects.push({ type: 'committedLost', fromOffset, toOffset })
  return true
}

export function truncate(replica: Replica, endOffset: number): void {
  assert(endOffset >= replica.highWatermark, 'what is committed is not cut unsaid')
  begin(replica, 'truncate')
  replica.effects.push({ type: 'truncate', endOffset })
}

/**
 * All that this log has lies below the start of the leader's log, where nobody can compare: it begins where that begins. Below
 * the start of a log nothing is uncommitted.
 */
export function startAnew(replica: Replica, startOffset: number): void {
  assert(startOffset > replica.log.logStartOffset, 'a log that begins anew loses something')
  assert(startOffset >= replica.highWatermark, 'what is committed is not cut unsaid')
  begin(replica, 'truncateFully')
  replica.resetHighWatermark(startOffset)
  replica.effects.push({ type: 'truncateFully', startOffset })
}

/** The leader's log begins in the middle of a batch: an empty log has to begin with the whole of it, and starts higher then. */
export function startWith(replica: Replica, baseOffset: number): void {
  const { logStartOffset, logEndOffset } = replica.log
  assert(logStartOffset === logEndOffset, 'only an empty log begins lower than it did')
  begin(replica, 'truncateFully')
  replica.resetHighWatermark(baseOffset)
  replica.effects.push({ type: 'truncateFully', startOffset: baseOffset })
}

export function moveLogStart(replica: Replica, offset: number): void {
  assert(offset <= replica.highWatermark, 'a log does not begin above its high watermark')
  begin(replica, 'moveLogStart')
  replica.effects.push({ type: 'moveLogStart', offset })
}

/** Of epochs in offsets that are missing: the log ends with them until the records behind them are appended. */
export function assignEpochs(replica: Replica, epochs: readonly EpochStart[]): void {
  assert(epochs.length > 0, 'some epochs are assigned')
  begin(replica, 'assignEpochs')
  replica.effects.push({ type: 'assignEpochs', epochs })
}

function begin(replica: Replica, type: LogChange['type']): void {
  assert(replica.isLogSettled, 'one change of the log at a time')
  replica.logChange = { type, endOffset: replica.log.logEndOffset, latestEpoch: replica.log.latestEpoch }
}
