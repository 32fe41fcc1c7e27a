import type { FetchPartition } from '../../protocol/messages/fetch.ts'
import type { Endpoint } from '../../protocol/records/control.ts'
import type { SnapshotId } from './log-view.ts'
import type { ReplicaProgress } from './replica-progress.ts'
import type { Tally } from './tally.ts'
import type { ReplicaKey, Voter } from './voters.ts'

/*
 * The six roles. Which one a replica has changes only in the `becomeX` methods of `Replica`; what is inside a role is
 * changed by the files named for it. All deadlines are monotonic milliseconds.
 */

/** No leader is known in this epoch. Everybody starts here, but for who led before (resigned) or followed (follower). */
export interface Unattached {
  readonly type: 'unattached'
  /** Voters only: then it looks for votes itself. */
  readonly electionDeadlineMs: number
}

export interface Follower {
  readonly type: 'follower'
  /** Without an answer from the leader by then a voter looks for votes, and an observer asks others for the leader. */
  fetchDeadlineMs: number
  /** Whether this leader answered a fetch of ours. From then on others' doubts in it (pre-votes) are not shared. */
  hasFetched: boolean
  /** It said that it steps down (EndQuorumEpoch): the deadline is then ours to campaign, and others may too. */
  hasLeaderResigned: boolean
  /** An observer whose leader is silent asks others and the leader by turns; whom next. */
  asksOthersNext: boolean
  /** The snapshot that the leader told us to fetch instead of its log. */
  snapshot: SnapshotFetch | undefined
  /** When to look again whether our entry in the voter set is right. */
  updateVoterDeadlineMs: number
  /** kraft.version 0: whether this leader was told our endpoints and versions. */
  hasUpdatedLeader: boolean
}

export interface SnapshotFetch {
  readonly id: SnapshotId
  /** Bytes written so far: where to ask on. */
  position: number
  /** Known from the first answer; -1 before. */
  sizeBytes: number
  /** A write is open: the next chunk is asked for when it is done. */
  isWriting: boolean
}

/** Asks whether it would be elected, without a new epoch: a node that cannot win disturbs nobody. */
export interface Prospective {
  readonly type: 'prospective'
  readonly electionDeadlineMs: number
  readonly tally: Tally
  /** Elections lost in a row before this one. */
  readonly lostElections: number
}

export interface Candidate {
  readonly type: 'candidate'
  /** Counted from when it can ask, its own vote being on disk; moved forward when a majority has said no. */
  electionDeadlineMs: number
  hasAsked: boolean
  hasLost: boolean
  readonly tally: Tally
  readonly lostElections: number
}

export interface Leader {
  readonly type: 'leader'
  readonly leaderEpoch: number
  readonly sinceMs: number
  /** Where the log ended when it was elected: its LeaderChange goes here. */
  readonly epochStartOffset: number
  readonly grantingVoters: readonly Voter[]
  /** Whether the LeaderChange was appended: once the quorum state is on disk. */
  hasStarted: boolean
  /** Unknown until a record of this epoch has committed. */
  highWatermark: number | undefined
  readonly progress: ReplicaProgress
  /** Voters (ids) that answered BeginQuorumEpoch, and when each was last sent one. */
  readonly acknowledged: Set<number>
  readonly lastBeginMs: Map<number, number>
  /** Fetches that wait for records, by request id. */
  readonly waitingFetches: Map<number, WaitingFetch>
  /** Reads of log or snapshot that the shell is carrying out, by request id. */
  readonly openReads: Map<number, OpenRead>
  /** The one voter change that is under way. */
  voterChange: VoterChange | undefined
  /** kraft.version 0: what voters said of themselves. Kept in memory only. */
  readonly updatedVoters: Map<number, Voter>
}

export interface WaitingFetch {
  readonly requestId: number
  readonly key: ReplicaKey
  readonly partition: FetchPartition
  readonly maxBytes: number
  readonly deadlineMs: number
}

export type OpenRead =
  | { readonly type: 'log' }
  | { readonly type: 'snapshot'; readonly id: SnapshotId; readonly position: number; readonly sizeBytes: number }

export interface VoterChange {
  readonly type: 'add' | 'remove' | 'upgrade'
  /** Of an upgrade of kraft.version: its `upgradeId`. */
  readonly requestId: number
  readonly key: ReplicaKey
  readonly endpoints: readonly Endpoint[]
  readonly deadlineMs: number
  /** Answer once appended, without waiting for the commit. */
  readonly answersEarly: boolean
  /** Of an addition: the ApiVersions request that asks the new voter what it supports. */
  readonly correlationId: number
  /** Where the new voter set was appended; undefined before. */
  votersOffset: number | undefined
}

/** Led this epoch and will not again. Tells the voters who should follow it. */
export interface Resigned {
  readonly type: 'resigned'
  readonly electionDeadlineMs: number
  /** Ids of voters that have not acknowledged EndQuorumEpoch. */
  readonly unacknowledged: Set<number>
  readonly preferredCandidates: readonly ReplicaKey[]
}

export type Role = Unattached | Follower | Prospective | Candidate | Leader | Resigned
