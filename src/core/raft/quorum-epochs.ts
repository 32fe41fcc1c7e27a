import { ErrorCode } from '../../base/error-code.ts'
import type { Now } from '../../base/time.ts'
import { zeroUuid } from '../../base/uuid.ts'
import type { BeginQuorumEpochRequest, BeginQuorumEpochResponse } from '../../protocol/messages/begin-quorum-epoch.ts'
import type {
  PartitionData as EndQuorumEpochPartition,
  EndQuorumEpochRequest,
} from '../../protocol/messages/end-quorum-epoch.ts'
import {
  endpointsFrom,
  errorOfVoterRequest,
  isMeant,
  isOurCluster,
  metadataPartitionOf,
  observeLeader,
  useOfAnswer,
} from './epochs.ts'
import type { RaftResponse } from './messages.ts'
import type { OpenRequest } from './open-requests.ts'
import type { Replica } from './replica.ts'
import { endQuorumEpochRequest } from './requests.ts'
import { quorumEpochResponse, refusal } from './responses.ts'
import type { Resigned } from './roles.ts'

/** A new leader makes itself known. */
export function handleBeginQuorumEpoch(replica: Replica, request: BeginQuorumEpochRequest, now: Now): RaftResponse {
  const api = 'beginQuorumEpoch'
  if (!isOurCluster(replica, request.clusterId)) {
    return refusal(api, ErrorCode.inconsistentClusterId)
  }
  const partition = metadataPartitionOf(request.topics)
  if (partition === undefined) return refusal(api, ErrorCode.invalidRequest)
  const { leaderId, leaderEpoch } = partition
  const errorCode = errorOfVoterRequest(replica, { id: leaderId, epoch: leaderEpoch })
  if (errorCode !== ErrorCode.none) return quorumEpochResponse(replica, api, errorCode)
  observeLeader(replica, { leaderId, leaderEpoch, endpoints: request.leaderEndpoints }, now)
  const isForUs = isMeant(replica, request.voterId, partition.voterDirectoryId)
  return quorumEpochResponse(replica, api, isForUs ? ErrorCode.none : ErrorCode.invalidVoterKey)
}

/** The leader steps down: its voters should not wait for their fetch timeout. */
export function handleEndQuorumEpoch(replica: Replica, request: EndQuorumEpochRequest, now: Now): RaftResponse {
  const api = 'endQuorumEpoch'
  if (!isOurCluster(replica, request.clusterId)) {
    return refusal(api, ErrorCode.inconsistentClusterId)
  }
  const partition = metadataPartitionOf(request.topics)
  if (partition === undefined) return refusal(api, ErrorCode.invalidRequest)
  const { leaderId, leaderEpoch } = partition
  const errorCode = errorOfVoterRequest(replica, { id: leaderId, epoch: leaderEpoch })
  if (errorCode !== ErrorCode.none) return quorumEpochResponse(replica, api, errorCode)
  observeLeader(replica, { leaderId, leaderEpoch, endpoints: request.leaderEndpoints }, now)
  const { role } = replica
  if (role.type === 'follower' && replica.leaderId === leaderId) {
    role.hasLeaderResigned = true
    role.fetchDeadlineMs = Math.min(role.fetchDeadlineMs, now.monotonicMs + electionDelayMs(replica, partition))
  }
  return quorumEpochResponse(replica, api, ErrorCode.none)
}

/** The voter with the longest log goes first; each place further back waits twice as long, the unlisted longest. */
export function electionDelayMs(replica: Replica, partition: EndQuorumEpochPartition): number {
  const maxMs = replica.config.electionBackoffMaxMs
  const candidates =
    partition.preferredCandidates.length > 0
      ? partition.preferredCandidates
      : partition.preferredSuccessors.map(candidateId => ({ candidateId, candidateDirectoryId: zeroUuid }))
  const position = candidates.findIndex(
    ({ candidateId, candidateDirectoryId: directoryId }) =>
      candidateId === replica.key.id && (directoryId === zeroUuid || directoryId === replica.key.directoryId),
  )
  if (position === -1) return maxMs
  if (position === 0) return 0
  const shortestMs = Math.floor(maxMs / 2 ** (candidates.length - 1))
  return Math.min(maxMs, shortestMs * 2 ** (position - 1))
}

/** The answer to BeginQuorumEpoch or EndQuorumEpoch. */
export function handleQuorumEpochResponse(
  replica: Replica,
  answered: OpenRequest,
  response: BeginQuorumEpochResponse,
  now: Now,
): boolean {
  const { role } = replica
  const partition = metadataPartitionOf(response.topics)
  if (response.errorCode !== ErrorCode.none || partition === undefined || answered.to.type !== 'node') return false
  const endpoints = endpointsFrom(replica, response.nodeEndpoints, partition.leaderId)
  const use = useOfAnswer(replica, { ...partition, endpoints }, now)
  if (use !== 'use' || replica.role !== role) return use !== 'retry'
  if (role.type === 'leader') role.acknowledged.add(answered.to.id)
  if (role.type === 'resigned') role.unacknowledged.delete(answered.to.id)
  return true
}

/** Tells the voters, until they know or somebody else leads. It never leads in this epoch again. */
export function pollResigned(replica: Replica, role: Resigned, now: Now): void {
  if (replica.shutdownDeadlineMs === undefined && now.monotonicMs >= role.electionDeadlineMs) {
    // In the next epoch, so that nobody takes it for the leader any more.
    replica.becomeUnattached({ epoch: replica.epoch + 1 }, now)
    return
  }
  for (const voter of replica.history.voters.voters) {
    const to = { type: 'node', id: voter.id, endpoints: voter.endpoints } as const
    if (!role.unacknowledged.has(voter.id) || !replica.open.isFree('endQuorumEpoch', to, now.monotonicMs)) continue
    replica.send(to, endQuorumEpochRequest(replica, role), now)
  }
}
