import type { Now } from '../../base/time.ts'
import type { Uuid } from '../../base/uuid.ts'
import type { Replica } from './replica.ts'
import { isReplica, type Voter } from './voters.ts'

/** One replica in the answer to DescribeQuorum. -1 where nothing is known; for the leader itself, now. */
export interface ReplicaState {
  readonly replicaId: number
  readonly replicaDirectoryId: Uuid
  readonly logEndOffset: number
  readonly lastFetchTimestamp: number
  readonly lastCaughtUpTimestamp: number
}

export interface QuorumDescription {
  readonly leaderId: number
  readonly leaderEpoch: number
  readonly highWatermark: number
  readonly currentVoters: ReplicaState[]
  readonly observers: ReplicaState[]
  readonly voters: readonly Voter[]
}

/** What DescribeQuorum answers; undefined where this node does not lead. */
export function describeQuorum(replica: Replica, now: Now): QuorumDescription | undefined {
  const { role, history, key } = replica
  if (role.type !== 'leader') return undefined
  const own: ReplicaState = {
    replicaId: key.id,
    replicaDirectoryId: key.directoryId,
    logEndOffset: replica.log.logEndOffset,
    lastFetchTimestamp: now.wallMs,
    lastCaughtUpTimestamp: now.wallMs,
  }
  const stateOf = ({ id, directoryId }: { id: number; directoryId: Uuid }): ReplicaState => {
    const progress = role.progress.of({ id, directoryId })
    return {
      replicaId: id,
      replicaDirectoryId: directoryId,
      logEndOffset: progress?.logEndOffset ?? -1,
      lastFetchTimestamp: progress?.lastFetchWallMs ?? -1,
      lastCaughtUpTimestamp: progress?.lastCaughtUpWallMs ?? -1,
    }
  }
  const observers = role.progress.observers(history.voters, now).map(({ key: observer }) => stateOf(observer))
  return {
    leaderId: key.id,
    leaderEpoch: role.leaderEpoch,
    highWatermark: role.highWatermark ?? -1,
    currentVoters: history.voters.voters.map(voter => (isReplica(voter, key) ? own : stateOf(voter))),
    observers: replica.isVoter ? observers : [...observers, own],
    voters: history.voters.voters,
  }
}
