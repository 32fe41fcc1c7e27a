import type { EpochStart } from '../log/leader-epochs.ts'
import type { FetchedRecords } from './events.ts'
import type { Leader } from './leader.ts'

/*
 * Which role a replica has changes only in the `becomeX` methods of `Replica`. All times are monotonic milliseconds.
 */

/** Neither leads nor follows: no leader is known, or this broker holds no replica, or it is about to lead. */
export interface Idle {
  readonly type: 'idle'
}

export interface Follower {
  readonly type: 'follower'
  readonly leader: number
  readonly leaderEpoch: number
  /** The request that is open. */
  request: OpenRequest | undefined
  /** No request is sent before. */
  retryMs: number
  /** The leader is in a newer epoch: nothing is asked for until the metadata tells of it. */
  isFenced: boolean
  /** The leader does not have the offset that was asked for: it is asked what it has. */
  outOfRange: 'askLatest' | 'askEarliest' | undefined
  /** They wait for the log: to begin with them, or to know where epochs began that they say nothing of. */
  heldRecords: FetchedRecords | undefined
  /** The leader is being asked where those began. */
  epochSearch: EpochSearch | undefined
  /** Where the log will end when the append that is in flight is complete. */
  appendEndOffset: number | undefined
  /** Up to where a sync was asked for; -1 before. */
  flushEndOffset: number
  /** As the leader said with the last records, which may still be on their way to the disk; -1 before. */
  leaderHighWatermark: number
  leaderLogStartOffset: number
}

export interface OpenRequest {
  readonly type: 'fetch' | 'latest' | 'earliest' | 'epochEnd'
  readonly correlationId: number
}

export interface EpochSearch {
  /** The next to find the start of. */
  readonly leaderEpoch: number
  /** Those of the epochs above it, in order. */
  readonly found: readonly EpochStart[]
}

export type Role = Idle | Follower | Leader
