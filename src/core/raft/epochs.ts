import { ErrorCode } from '../../base/error-code.ts'
import type { Now } from '../../base/time.ts'
import { type Uuid, zeroUuid } from '../../base/uuid.ts'
import type { NodeEndpoint } from '../../protocol/messages/vote.ts'
import type { Endpoint } from '../../protocol/records/control.ts'
import type { Replica } from './replica.ts'
import { metadataPartition, metadataTopic } from './requests.ts'

/*
 * What requests and answers of all kinds say about epochs and leaders, and what follows from it. A higher epoch in a
 * request or an answer moves the replica there.
 */

/** The one partition of the one topic, or undefined when the message is about something else. */
export function metadataPartitionOf<P extends { partitionIndex: number }>(
  topics: readonly { readonly topicName: string; readonly partitions: readonly P[] }[],
): P | undefined {
  if (topics.length !== 1 || topics[0].topicName !== metadataTopic) return undefined
  const { partitions } = topics[0]
  return partitions.length === 1 && partitions[0].partitionIndex === metadataPartition ? partitions[0] : undefined
}

/** Peers of before the cluster id was sent leave it out. */
export function isOurCluster(replica: Replica, clusterId: string | null): boolean {
  return clusterId === null || clusterId === replica.config.clusterId
}

/** Of a request by a voter about the epoch it leads or wants to lead. */
export function errorOfVoterRequest(replica: Replica, from: { id: number; epoch: number }): ErrorCode {
  if (from.epoch < replica.epoch) return ErrorCode.fencedLeaderEpoch
  if (from.id < 0) return ErrorCode.invalidRequest
  return ErrorCode.none
}

/** Of a request that only the leader of that epoch answers. A higher epoch is not believed from an observer. */
export function errorOfLeaderRequest(replica: Replica, epoch: number): ErrorCode {
  if (epoch < replica.epoch) return ErrorCode.fencedLeaderEpoch
  if (epoch > replica.epoch) return ErrorCode.unknownLeaderEpoch
  if (replica.role.type !== 'leader') return ErrorCode.notLeaderOrFollower
  if (replica.shutdownDeadlineMs !== undefined) return ErrorCode.brokerNotAvailable
  return ErrorCode.none
}

/** Whether a request that names its receiver means this very replica. */
export function isMeant(replica: Replica, voterId: number, voterDirectoryId: Uuid): boolean {
  if (voterId < 0) return true
  if (voterId !== replica.key.id) return false
  return voterDirectoryId === zeroUuid || voterDirectoryId === replica.key.directoryId
}

export interface ObservedLeader {
  readonly leaderId: number
  readonly leaderEpoch: number
  readonly endpoints: readonly Endpoint[]
}

/** Takes over what a message says about the leader. Endpoints it leaves out are looked up in the voter set. */
export function observeLeader(replica: Replica, said: ObservedLeader, now: Now): void {
  const { leaderId, leaderEpoch } = said
  if (leaderEpoch < replica.epoch) return
  if (leaderId === replica.key.id) observeOwnLeadership(replica, leaderEpoch, now)
  else if (leaderEpoch === replica.epoch && leaderId >= 0 && (replica.leaderId ?? leaderId) !== leaderId) {
    replica.halt(`two leaders in epoch ${leaderEpoch}: ${replica.leaderId} and ${leaderId}`)
  } else observeOtherLeader(replica, said, now)
}

function observeOtherLeader(replica: Replica, said: ObservedLeader, now: Now): void {
  const { leaderId, leaderEpoch } = said
  const known = said.endpoints.length > 0 ? said.endpoints : replica.history.voters.withId(leaderId)?.endpoints
  if (leaderId >= 0 && known !== undefined && known.length > 0) {
    const isNew = leaderEpoch > replica.epoch || replica.leaderId === undefined
    if (isNew) replica.becomeFollower({ epoch: leaderEpoch, leaderId, endpoints: known }, now)
    else replica.learnLeaderEndpoints(leaderId, known)
  } else if (leaderEpoch > replica.epoch) {
    replica.becomeUnattached({ epoch: leaderEpoch }, now)
  }
}

/**
 * Somebody remembers this node id as a leader. In an epoch this replica has not seen it was another life: an older
 * disk, or another directory. It must not vote in that epoch again, so its vote counts as given to itself.
 */
function observeOwnLeadership(replica: Replica, leaderEpoch: number, now: Now): void {
  if (leaderEpoch > replica.epoch) replica.becomeUnattached({ epoch: leaderEpoch, votedKey: replica.key }, now)
}

/** Endpoints as answers give them: the controllers' listener only. */
export function endpointsFrom(replica: Replica, nodeEndpoints: readonly NodeEndpoint[], leaderId: number): Endpoint[] {
  return nodeEndpoints
    .filter(({ nodeId }) => nodeId === leaderId)
    .map(({ host, port }) => ({ name: replica.config.listenerName, host, port }))
}

/** What is left to do with an answer: nothing, try again after a pause, or go on and use it. */
export type AnswerUse = 'done' | 'retry' | 'use'

/** Handles what answers of all APIs have in common. */
export function useOfAnswer(replica: Replica, said: ObservedLeader & { errorCode: ErrorCode }, now: Now): AnswerUse {
  const { errorCode } = said
  if (said.leaderEpoch < replica.epoch || errorCode === ErrorCode.unknownLeaderEpoch) return 'retry'
  const moves = replica.moves
  const isNews = said.leaderEpoch > replica.epoch || replica.leaderId === undefined
  const isWrongAddress = errorCode === ErrorCode.fencedLeaderEpoch || errorCode === ErrorCode.notLeaderOrFollower
  if (isNews || isWrongAddress || said.leaderId !== replica.leaderId) observeLeader(replica, said, now)
  if (replica.isHalted) return 'done'
  if (errorCode === ErrorCode.none) return 'use'
  return replica.moves === moves ? 'retry' : 'done'
}
