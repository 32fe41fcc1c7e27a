import type { Random } from '../../base/random.ts'
import type { Now } from '../../base/time.ts'
import type { ControlRecord } from '../../protocol/control-record.ts'
import type { QuorumConfig } from './config.ts'
import { Election } from './election.ts'
import type { QuorumState } from './events.ts'
import { problemOfLog, type RaftLogView } from './log-view.ts'
import { Replica } from './replica.ts'
import { VoterHistory } from './voter-history.ts'
import type { VoterSet } from './voters.ts'

/** What a replica finds when its process starts. */
export interface QuorumOptions {
  readonly config: QuorumConfig
  readonly random: Random
  readonly log: RaftLogView
  /** The file `quorum-state`; undefined when there is none. One that cannot be read must not be passed as none. */
  readonly quorumState: QuorumState | undefined
  /** `controller.quorum.voters` with zero directory ids (kraft.version 0); empty with dynamic voters. */
  readonly staticVoters: VoterSet
  /**
   * The `voters` and `kraftVersion` records of the latest snapshot (offset: its end offset - 1, so -1 for the one that
   * formatting wrote) and of the log above it, in order.
   */
  readonly controlRecords: readonly { readonly offset: number; readonly record: ControlRecord }[]
}

export function replicaOf({ config, random, log, quorumState, staticVoters, controlRecords }: QuorumOptions): Replica {
  const history = new VoterHistory(staticVoters)
  for (const { offset, record } of controlRecords) history.append(offset, record)
  return new Replica({
    config,
    random,
    log,
    history,
    election: electionOf(log, quorumState),
    highWatermark: Math.max(log.logStartOffset, log.latestSnapshotId?.endOffset ?? 0),
  })
}

/** A log that is ahead of the quorum state means that the state is from before; then only the epoch is certain. */
function electionOf(log: RaftLogView, state: QuorumState | undefined): Election {
  if (state === undefined || state.leaderEpoch < log.lastEpoch) return new Election(log.lastEpoch, undefined, undefined)
  const votedKey = state.votedId < 0 ? undefined : { id: state.votedId, directoryId: state.votedDirectoryId }
  return new Election(state.leaderEpoch, votedKey, state)
}

/**
 * The first role. Who led when it stopped never leads in that epoch again: it may have lost records that it had handed
 * out, and would give their offsets to others. Who voted for itself does not ask again in that epoch for the same
 * reason: the votes were given to a longer log.
 */
export function start(replica: Replica, { log, quorumState, config }: QuorumOptions, now: Now): void {
  const problem = problemOfLog(log)
  if (problem !== undefined) {
    replica.halt(problem)
    return
  }
  const { epoch } = replica
  const leaderId = quorumState !== undefined && quorumState.leaderEpoch === epoch ? quorumState.leaderId : -1
  const endpoints = replica.history.voters.withId(leaderId)?.endpoints ?? []
  if (leaderId === config.nodeId) replica.becomeResigned([], now)
  else if (leaderId >= 0 && endpoints.length > 0) replica.becomeFollower({ epoch, leaderId, endpoints }, now)
  else replica.becomeUnattached({ epoch }, now)
}
