import { ErrorCode } from '../../base/error-code.ts'
import type { AlterPartitionAnswer, IsrUpdateOutcome, ReplicaAndEpoch } from './events.ts'
import type { FollowerProgress } from './follower-progress.ts'
import type { Proposal } from './isr.ts'
import type { Leader } from './leader.ts'
import type { Replica } from './replica.ts'

export function proposeExpansion(replica: Replica, leader: Leader, joining: FollowerProgress): void {
  if (!mayPropose(replica, leader)) return
  joining.joins(replica.nowMs)
  propose(replica, leader, [...leader.isr.committed, joining.replicaId])
}

/** Takes out whoever has not been caught up for too long. */
export function pollLeader(replica: Replica, leader: Leader): void {
  const { proposal } = leader.isr
  if (proposal?.state === 'retry' && replica.nowMs >= proposal.retryMs) attempt(replica, leader, proposal)
  if (!mayPropose(replica, leader)) return
  const late = leader.followers.filter(follower => isLate(replica, leader, follower))
  if (late.length === 0) return
  propose(
    replica,
    leader,
    leader.isr.committed.filter(id => !late.some(({ replicaId }) => replicaId === id)),
  )
}

function isLate(replica: Replica, leader: Leader, follower: FollowerProgress): boolean {
  if (!leader.isr.committed.includes(follower.replicaId)) return false
  return !follower.isCaughtUp(replica.logEndOffset, replica.nowMs, replica.lagTimeMaxMs)
}

/** When a follower may be late next, or the controller is to be asked again; undefined when nothing of that can come. */
export function leaderDeadlineMs(replica: Replica, leader: Leader): number | undefined {
  const { proposal } = leader.isr
  if (proposal !== undefined) return proposal.state === 'retry' ? proposal.retryMs : undefined
  let deadlineMs: number | undefined
  for (const follower of leader.followers) {
    // It is late after the lag time, not at its end. While both logs are equal it is looked at now and then: the leader's may
    // grow any time, and nobody asks for deadlines then. Who is not in sync is waited for until it is late.
    const lateMs = follower.caughtUpMs + replica.lagTimeMaxMs + 1
    const isInSync = leader.isr.committed.includes(follower.replicaId)
    if (!isInSync && lateMs <= replica.nowMs) continue
    const nextMs = lateMs > replica.nowMs ? lateMs : replica.nowMs + replica.lagTimeMaxMs / 2
    if (deadlineMs === undefined || nextMs < deadlineMs) deadlineMs = nextMs
  }
  return deadlineMs === undefined ? undefined : Math.max(deadlineMs, leader.nextProposalMs)
}

function mayPropose(replica: Replica, leader: Leader): boolean {
  return leader.isr.proposal === undefined && replica.nowMs >= leader.nextProposalMs
}

function propose(replica: Replica, leader: Leader, replicas: readonly number[]): void {
  const isr = replicas.map((brokerId): ReplicaAndEpoch => {
    return { brokerId, brokerEpoch: leader.follower(brokerId)?.brokerEpoch ?? -1 }
  })
  leader.isr.propose(isr, replica.nextRequestId())
  leader.isrChanged()
  send(replica, leader, leader.isr.proposal!)
}

/** The same with the same partition epoch: if the attempt before was carried out, this one changes nothing. */
function attempt(replica: Replica, leader: Leader, proposal: Proposal): void {
  proposal.attemptId = replica.nextRequestId()
  proposal.state = 'open'
  send(replica, leader, proposal)
}

function send(replica: Replica, leader: Leader, { attemptId, isr }: Proposal): void {
  const { leaderEpoch } = leader
  const { partitionEpoch } = leader.isr
  replica.effects.push({ type: 'alterPartition', attemptId, leaderEpoch, partitionEpoch, isr })
}

export function handleAlterPartitionFailed(replica: Replica, attemptId: number): void {
  const open = openProposal(replica, attemptId)
  if (open === undefined) return
  tell(replica, 'failed')
  retryLater(replica, open.proposal)
}

/** Answers to older attempts, and to what the metadata has overtaken, say nothing any more. */
export function handleAlterPartitionAnswer(replica: Replica, attemptId: number, answer: AlterPartitionAnswer): void {
  const open = openProposal(replica, attemptId)
  if (open === undefined) return
  const { leader, proposal } = open
  if (answer.errorCode === ErrorCode.none) {
    adoptAnswer(replica, leader, proposal, answer)
    return
  }
  tell(replica, 'failed')
  switch (answer.errorCode) {
    // Not carried out. The leader's own view of the brokers may be behind the controller's: not at once again.
    case ErrorCode.operationNotAttempted:
    case ErrorCode.ineligibleReplica:
      leader.isr.withdraw()
      leader.nextProposalMs = replica.nowMs + replica.config.alterBackoffMs
      leader.isrChanged()
      break
    // The controller knows another state of the partition, which may be what was asked for: the metadata will tell.
    case ErrorCode.fencedLeaderEpoch:
    case ErrorCode.invalidUpdateVersion:
    case ErrorCode.invalidRequest:
    case ErrorCode.newLeaderElected:
    case ErrorCode.unknownTopicOrPartition:
    case ErrorCode.unknownTopicId:
      proposal.state = 'awaitingMetadata'
      break
    default:
      retryLater(replica, proposal)
  }
}

/** Either the change was made, or what was asked for was so already. */
function adoptAnswer(replica: Replica, leader: Leader, proposal: Proposal, answer: AlterPartitionAnswer): void {
  const { leaderEpoch, isr, partitionEpoch } = answer
  if (leaderEpoch !== leader.leaderEpoch || partitionEpoch < leader.isr.partitionEpoch) {
    proposal.state = 'awaitingMetadata'
    tell(replica, 'failed')
    return
  }
  tell(replica, proposal.isr.length > leader.isr.committed.length ? 'expanded' : 'shrunk')
  leader.isr.adopt({ isr, partitionEpoch })
  leader.isrChanged()
}

function tell(replica: Replica, outcome: IsrUpdateOutcome): void {
  replica.effects.push({ type: 'isrUpdate', outcome })
}

function openProposal(replica: Replica, attemptId: number): { leader: Leader; proposal: Proposal } | undefined {
  const { role } = replica
  if (role.type !== 'leader') return undefined
  const { proposal } = role.isr
  if (proposal === undefined || proposal.state !== 'open' || proposal.attemptId !== attemptId) return undefined
  return { leader: role, proposal }
}

function retryLater(replica: Replica, proposal: Proposal): void {
  proposal.state = 'retry'
  proposal.retryMs = replica.nowMs + replica.config.alterBackoffMs
}
