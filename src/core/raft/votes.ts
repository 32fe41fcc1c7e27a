import { ErrorCode } from '../../base/error-code.ts'
import type { Now } from '../../base/time.ts'
import type { VoteRequest, PartitionData as VoteRequestPartition, VoteResponse } from '../../protocol/messages/vote.ts'
import {
  endpointsFrom,
  errorOfVoterRequest,
  isMeant,
  isOurCluster,
  metadataPartitionOf,
  useOfAnswer,
} from './epochs.ts'
import { compareOffsetAndEpoch } from './log-view.ts'
import type { RaftResponse } from './messages.ts'
import type { OpenRequest } from './open-requests.ts'
import type { Replica } from './replica.ts'
import { voteRequest } from './requests.ts'
import { refusal, voteResponse } from './responses.ts'
import type { Candidate, Prospective } from './roles.ts'
import { isReplica, type ReplicaKey } from './voters.ts'

/** A vote (binding, persisted before it is answered) or a pre-vote (an opinion; changes nothing). */
export function handleVoteRequest(replica: Replica, request: VoteRequest, now: Now): RaftResponse {
  if (!isOurCluster(replica, request.clusterId)) return refusal('vote', ErrorCode.inconsistentClusterId)
  const partition = metadataPartitionOf(request.topics)
  if (partition === undefined) return refusal('vote', ErrorCode.invalidRequest)
  const errorCode = errorOfVote(replica, request, partition, now)
  if (errorCode !== ErrorCode.none) return voteResponse(replica, { errorCode, voteGranted: false })

  const candidate = { id: partition.replicaId, directoryId: partition.replicaDirectoryId }
  const voteGranted = grantsVote(replica, candidate, partition, now)
  if (voteGranted && !partition.preVote) {
    replica.becomeUnattached({ epoch: partition.replicaEpoch, votedKey: candidate }, now)
  }
  return voteResponse(replica, { errorCode, voteGranted })
}

function errorOfVote(replica: Replica, request: VoteRequest, partition: VoteRequestPartition, now: Now): ErrorCode {
  const { replicaEpoch, lastOffset, lastOffsetEpoch, preVote } = partition
  const isPossible = preVote ? lastOffsetEpoch <= replicaEpoch : lastOffsetEpoch < replicaEpoch
  if (lastOffset < 0 || lastOffsetEpoch < 0 || !isPossible) return ErrorCode.invalidRequest
  const errorCode = errorOfVoterRequest(replica, { id: partition.replicaId, epoch: replicaEpoch })
  if (errorCode !== ErrorCode.none) return errorCode
  if (replicaEpoch > replica.epoch) replica.becomeUnattached({ epoch: replicaEpoch }, now)
  return isMeant(replica, request.voterId, partition.voterDirectoryId) ? ErrorCode.none : ErrorCode.invalidVoterKey
}

/** The epochs are equal here. A candidate need not be in our voter set: ours may be the older one. */
function grantsVote(replica: Replica, candidate: ReplicaKey, partition: VoteRequestPartition, now: Now): boolean {
  const isUpToDate =
    compareOffsetAndEpoch({ offset: partition.lastOffset, epoch: partition.lastOffsetEpoch }, replica.log.end) >= 0
  if (!isUpToDate || candidate.id === replica.key.id) return false
  return partition.preVote ? grantsPreVote(replica, now) : grantsBindingVote(replica, candidate)
}

/**
 * Who is served by a leader does not support a change. A voter that no longer is doubts the leader itself. An observer cannot:
 * it may be a voter without knowing it yet, and nobody would be elected without it.
 */
function grantsPreVote({ role, mayCampaign }: Replica, now: Now): boolean {
  if (role.type === 'leader') return false
  if (role.type !== 'follower' || role.hasLeaderResigned || !role.hasFetched) return true
  return !mayCampaign && now.monotonicMs >= role.fetchDeadlineMs
}

function grantsBindingVote(replica: Replica, candidate: ReplicaKey): boolean {
  const { role, votedKey } = replica
  if (role.type !== 'unattached' && role.type !== 'prospective') return false
  if (replica.leaderId !== undefined) return false
  // At kraft.version 0 the file that a vote is read from again has no directory.
  return votedKey === undefined || isReplica(votedKey, candidate)
}

export function handleVoteResponse(replica: Replica, answered: OpenRequest, response: VoteResponse, now: Now): boolean {
  const { role } = replica
  const partition = metadataPartitionOf(response.topics)
  if (response.errorCode === ErrorCode.unsupportedVersion) handleVoteUnsupported(replica, now)
  if (response.errorCode !== ErrorCode.none || partition === undefined || answered.to.type !== 'node') return false
  const endpoints = endpointsFrom(replica, response.nodeEndpoints, partition.leaderId)
  // Where that voter was there is another replica now: it will never grant anything.
  const isGone = partition.errorCode === ErrorCode.invalidVoterKey
  const errorCode = isGone ? ErrorCode.none : partition.errorCode
  const use = useOfAnswer(replica, { ...partition, errorCode, endpoints }, now)
  if (use !== 'use') return use === 'done'
  // The answer may just have told of a leader: then nobody counts votes any more.
  if (replica.role !== role || (role.type !== 'prospective' && role.type !== 'candidate')) return true
  role.tally.record(answered.to.id, partition.voteGranted)
  return true
}

/** A peer that does not know pre-votes cannot be asked for one: the election is held without. */
export function handleVoteUnsupported(replica: Replica, now: Now): void {
  if (replica.role.type === 'prospective') replica.becomeCandidate(now)
}

export function pollProspective(replica: Replica, role: Prospective, now: Now): void {
  if (role.tally.isGranted) replica.becomeCandidate(now)
  else if (role.tally.isRejected || now.monotonicMs >= role.electionDeadlineMs) giveUp(replica, now)
  else askForVotes(replica, role, now)
}

/** Back to the leader that it doubted, if it knew one. */
function giveUp(replica: Replica, now: Now): void {
  const { leaderId, leaderEndpoints: endpoints, epoch } = replica
  if (leaderId === undefined) replica.becomeUnattached({ epoch }, now)
  else replica.becomeFollower({ epoch, leaderId, endpoints }, now)
}

export function pollCandidate(replica: Replica, role: Candidate, now: Now): void {
  if (!replica.outbox.isPersisted) return
  if (!role.hasAsked) {
    role.hasAsked = true
    role.electionDeadlineMs = replica.electionDeadlineMs(now)
  }
  if (role.tally.isGranted) replica.becomeLeader(now)
  else if (now.monotonicMs >= role.electionDeadlineMs) replica.becomeProspective(role.lostElections + 1, now)
  else if (role.tally.isRejected) backOff(replica, role, now)
  else askForVotes(replica, role, now)
}

/** A lost election is not held again at once: of two that split the votes one should come first. */
function backOff(replica: Replica, role: Candidate, now: Now): void {
  if (role.hasLost) return
  role.hasLost = true
  const { electionBackoffMaxMs, retryBackoffMs } = replica.config
  const spreadMs = Math.min(electionBackoffMaxMs, retryBackoffMs * 2 ** Math.min(20, role.lostElections + 1))
  const backoffMs = 1 + replica.random.below(Math.max(1, spreadMs))
  role.electionDeadlineMs = Math.min(role.electionDeadlineMs, now.monotonicMs + backoffMs)
}

function askForVotes(replica: Replica, role: Prospective | Candidate, now: Now): void {
  for (const voter of role.tally.unanswered(replica.key)) {
    const to = { type: 'node', id: voter.id, endpoints: voter.endpoints } as const
    if (!replica.open.isFree('vote', to, now.monotonicMs)) continue
    replica.send(to, voteRequest(replica, voter, role.type === 'prospective'), now)
  }
}
