import { assert } from '../../base/assert.ts'
import type { EpochStart } from '../log/leader-epochs.ts'
import type { EpochEndOffset } from '../log/partition-log.ts'
import type { FetchedRecords } from './events.ts'
import type { Replica } from './replica.ts'
import type { Follower } from './roles.ts'
import { assignEpochs } from './truncation.ts'

/*
 * Compaction of the leader's log may have left nothing of the beginning of an epoch, or of whole epochs. A follower that took an
 * epoch to begin with the first record that is left would, once it leads, take the offsets before that for the epoch before. A
 * replica that has been away since then, with records of that older epoch in these offsets, which were never committed, would
 * then be told that its log matches, and keep them. So the leader is asked, by OffsetForLeaderEpoch, where each epoch began.
 */

/** Whether records at the end of this log say too late where their epoch began. */
export function hidesEpochStart({ log }: Replica, { baseOffset, firstLeaderEpoch }: FetchedRecords): boolean {
  return baseOffset > log.logEndOffset && firstLeaderEpoch > log.latestEpoch
}

/**
 * Whether records lie where a leader before had nothing left, and said which epochs began there; this one's log is compacted
 * less. The records are of older epochs than the last of those, and the log has to forget them first.
 */
export function fillsGapOfEpochs({ log }: Replica, { baseOffset }: FetchedRecords): boolean {
  return log.endOffsetForEpoch(log.latestEpoch - 1).endOffset > Math.max(baseOffset, log.logEndOffset)
}

export function beginEpochSearch(
  replica: Replica,
  role: Follower,
  { firstLeaderEpoch: leaderEpoch }: FetchedRecords,
): void {
  // There is none before epoch 0. A log that knew of no epoch below its first record would pass for one of a format without.
  if (leaderEpoch === 0) assignEpochs(replica, [{ leaderEpoch, startOffset: replica.log.logEndOffset }])
  else role.epochSearch = { leaderEpoch, found: [] }
}

/**
 * Where the largest epoch below the one that is looked for ends in the leader's log: there that one begins. The larger of the
 * two may be one that this log does not know either: it is looked for next. Answers whether that fits the records that
 * wait; where it does not, the leader's log begins higher by now.
 */
export function takeEpochEnd(replica: Replica, role: Follower, answer: EpochEndOffset): boolean {
  const { heldRecords, epochSearch } = role
  assert(heldRecords !== undefined && epochSearch !== undefined, 'who looks for an epoch holds records')
  const { log } = replica
  const { found } = epochSearch
  // A leader that knows of no epochs: the records are taken as they are.
  if (answer.endOffset < 0) return ends(replica, role, found)
  if (answer.endOffset > heldRecords.baseOffset) return false
  const below = answer.leaderEpoch
  // A log that is empty may begin above the leader's, in the midst of an epoch.
  const endOffset = Math.max(answer.endOffset, log.logEndOffset)
  // The first that the leader knows of has no end below it: the answer is where it begins, again.
  const isFound = found.length === 0 || endOffset < found[0].startOffset
  const epochs = isFound ? [{ leaderEpoch: epochSearch.leaderEpoch, startOffset: endOffset }, ...found] : found
  if (isFound && below > Math.max(log.latestEpoch, 0) && endOffset > log.logEndOffset) {
    role.epochSearch = { leaderEpoch: below, found: epochs }
    return true
  }
  return ends(replica, role, epochs)
}

function ends(replica: Replica, role: Follower, found: readonly EpochStart[]): true {
  role.epochSearch = undefined
  if (found.length > 0) assignEpochs(replica, found)
  return true
}
