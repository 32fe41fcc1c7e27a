import type { Uuid } from '../../base/uuid.ts'
import type { RecordOf } from './records.ts'

/** No broker: a partition without a leader. */
export const noLeader = -1

export const LeaderRecoveryState = { recovered: 0, recovering: 1 } as const

/** One partition as the metadata says. Never changed: a change makes a new one. */
export interface PartitionImage {
  readonly topicId: Uuid
  readonly partition: number
  readonly replicas: readonly number[]
  /** Of each replica, in the order of `replicas`; reserved ids where it is not known. */
  readonly directories: readonly Uuid[]
  /** In the order in which they came in. */
  readonly isr: readonly number[]
  readonly removingReplicas: readonly number[]
  readonly addingReplicas: readonly number[]
  /** Eligible leader replicas: not in sync, and may lead without loss. */
  readonly elr: readonly number[]
  readonly lastKnownElr: readonly number[]
  /** -1: none. */
  readonly leader: number
  /** 1 after an unclean election, until the leader says that it has recovered. */
  readonly leaderRecoveryState: number
  readonly leaderEpoch: number
  readonly partitionEpoch: number
}

/** The directory of a replica before its broker has said which. */
export const unassignedDirectory: Uuid = 'AAAAAAAAAAAAAAAAAAAAAQ'
/** The directory of a replica that lies in one that has failed. */
export const lostDirectory: Uuid = 'AAAAAAAAAAAAAAAAAAAAAg'
/** The directory of a replica that is older than directory ids. */
export const migratingDirectory: Uuid = 'AAAAAAAAAAAAAAAAAAAAAA'

export function partitionOf(record: RecordOf<'partition'>): PartitionImage {
  const hasDirectories = record.directories.length === record.replicas.length
  return {
    topicId: record.topicId,
    partition: record.partitionId,
    replicas: record.replicas,
    directories: hasDirectories ? record.directories : record.replicas.map(() => migratingDirectory),
    isr: record.isr,
    removingReplicas: record.removingReplicas,
    addingReplicas: record.addingReplicas,
    elr: record.eligibleLeaderReplicas ?? [],
    lastKnownElr: record.lastKnownElr ?? [],
    leader: record.leader,
    leaderRecoveryState: record.leaderRecoveryState,
    leaderEpoch: record.leaderEpoch,
    partitionEpoch: record.partitionEpoch,
  }
}

/** The new leader is one that may lack what was committed. */
export function isUncleanElection(before: PartitionImage, { leader }: PartitionImage): boolean {
  return leader !== noLeader && leader !== before.leader && !before.isr.includes(leader) && !before.elr.includes(leader)
}

/** Any leader in a change, be it the same, begins a leader epoch; any change begins a partition epoch. */
export function changedPartition(before: PartitionImage, change: RecordOf<'partitionChange'>): PartitionImage {
  const changesLeader = change.leader !== -2
  return {
    topicId: before.topicId,
    partition: before.partition,
    replicas: change.replicas ?? before.replicas,
    directories: change.directories ?? before.directories,
    isr: change.isr ?? before.isr,
    removingReplicas: change.removingReplicas ?? before.removingReplicas,
    addingReplicas: change.addingReplicas ?? before.addingReplicas,
    elr: change.eligibleLeaderReplicas ?? before.elr,
    lastKnownElr: change.lastKnownElr ?? before.lastKnownElr,
    leader: changesLeader ? change.leader : before.leader,
    leaderRecoveryState: change.leaderRecoveryState === -1 ? before.leaderRecoveryState : change.leaderRecoveryState,
    leaderEpoch: changesLeader ? before.leaderEpoch + 1 : before.leaderEpoch,
    partitionEpoch: before.partitionEpoch + 1,
  }
}
