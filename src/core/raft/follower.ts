import { assert } from '../../base/assert.ts'
import { ErrorCode } from '../../base/error-code.ts'
import type { Now } from '../../base/time.ts'
import { metadataTopicId } from '../../base/uuid.ts'
import type { FetchResponse, PartitionData as FetchResponsePartition } from '../../protocol/messages/fetch.ts'
import { endpointsFrom, useOfAnswer } from './epochs.ts'
import type { Destination } from './events.ts'
import type { RaftBatch } from './log-view.ts'
import { pollMembership } from './membership.ts'
import type { OpenRequest } from './open-requests.ts'
import type { Replica } from './replica.ts'
import { fetchRequest, fetchSnapshotRequest, metadataPartition, metadataTopic } from './requests.ts'
import type { Follower, SnapshotFetch, Unattached } from './roles.ts'
import { giveUpSnapshot, restartFetchTimeout, startSnapshotFetch } from './snapshot-fetch.ts'

/** Nobody leads that we know of: ask around, and after the election timeout look for votes. */
export function pollUnattached(replica: Replica, role: Unattached, now: Now): void {
  const mayCampaign = replica.mayCampaign && replica.logChange === undefined
  if (mayCampaign && now.monotonicMs >= role.electionDeadlineMs) {
    replica.becomeProspective(0, now)
    return
  }
  const someone = anyServer(replica)
  if (someone !== undefined) fetchFrom(replica, someone, now)
}

export function pollFollower(replica: Replica, role: Follower, now: Now): void {
  const isOverdue = now.monotonicMs >= role.fetchDeadlineMs
  if (isOverdue && replica.mayCampaign) {
    // While our own disk is busy it is not the leader who is late.
    if (canFetch(replica) && !role.snapshot?.isWriting) replica.becomeProspective(0, now)
    return
  }
  const { leaderId, leaderEndpoints: endpoints } = replica
  assert(leaderId !== undefined, 'a follower knows its leader')
  const leader: Destination = { type: 'node', id: leaderId, endpoints }
  pollMembership(replica, role, leader, now)
  // An observer whose leader is silent looks for another.
  if (isOverdue && !role.snapshot?.isWriting) giveUpSnapshot(replica, role)
  if (role.snapshot !== undefined) {
    fetchSnapshotFrom(replica, role.snapshot, leader, now)
    return
  }
  // An observer cannot call an election; it asks others whether there is another leader, and this one again, since it
  // need not be among those it can ask.
  const asksOthers = isOverdue && role.asksOthersNext
  const isSent = fetchFrom(replica, (asksOthers ? anyServer(replica) : undefined) ?? leader, now)
  if (isOverdue && isSent) role.asksOthersNext = !role.asksOthersNext
}

/** What a fetch claims to hold is synced, and the end of the log is certain. */
function canFetch(replica: Replica): boolean {
  return replica.log.isFlushed && replica.logChange === undefined
}

/** Whether it was sent. */
function fetchFrom(replica: Replica, to: Destination, now: Now): boolean {
  if (!canFetch(replica) || replica.open.isWaitingFor('fetch', 'fetchSnapshot')) return false
  if (!replica.open.isFree('fetch', to, now.monotonicMs)) return false
  replica.send(to, fetchRequest(replica), now, replica.log.logEndOffset)
  return true
}

function fetchSnapshotFrom(replica: Replica, snapshot: SnapshotFetch, to: Destination, now: Now): void {
  if (snapshot.isWriting || replica.open.isWaitingFor('fetch', 'fetchSnapshot')) return
  if (!replica.open.isFree('fetchSnapshot', to, now.monotonicMs)) return
  replica.send(to, fetchSnapshotRequest(replica, snapshot), now)
}

/**
 * A bootstrap server or a voter, by chance: one that does not answer is not asked for ever, and of the bootstrap servers
 * none need be a voter any more.
 */
function anyServer(replica: Replica): Destination | undefined {
  const { bootstrapServers } = replica.config
  const voters = replica.history.voters.voters.filter(({ id }) => id !== replica.key.id)
  const count = bootstrapServers.length + voters.length
  if (count === 0) return undefined
  const index = replica.random.below(count)
  if (index < bootstrapServers.length) return { type: 'bootstrap', index }
  const { id, endpoints } = voters[index - bootstrapServers.length]
  return { type: 'node', id, endpoints }
}

export function handleFetchResponse(
  replica: Replica,
  answered: OpenRequest,
  response: FetchResponse,
  batches: readonly RaftBatch[],
  now: Now,
): boolean {
  const partition = partitionOf(response)
  if (response.errorCode !== ErrorCode.none || partition === undefined) return false
  const { currentLeader, errorCode } = partition
  const endpoints = endpointsFrom(replica, response.nodeEndpoints, currentLeader.leaderId)
  const use = useOfAnswer(replica, { ...currentLeader, errorCode, endpoints }, now)
  const { role } = replica
  if (use !== 'use') return use === 'done'
  // A log that changed since it was asked for makes the answer meaningless.
  const isCurrent = answered.fetchOffset === replica.log.logEndOffset && canFetch(replica)
  if (role.type !== 'follower' || currentLeader.leaderId !== replica.leaderId || !isCurrent) return false
  if (!takeAnswer(replica, role, partition, batches)) return false
  role.hasFetched = true
  if (!role.hasLeaderResigned) role.fetchDeadlineMs = now.monotonicMs + replica.config.fetchTimeoutMs
  return true
}

function takeAnswer(
  replica: Replica,
  role: Follower,
  partition: FetchResponsePartition,
  batches: readonly RaftBatch[],
): boolean {
  const { divergingEpoch, snapshotId } = partition
  if (divergingEpoch.epoch >= 0) return truncate(replica, divergingEpoch)
  if (snapshotId.endOffset >= 0 || snapshotId.epoch >= 0) return startSnapshotFetch(replica, role, snapshotId)
  if (batches.length > 0 && !append(replica, batches)) return false
  const committed = Math.min(partition.highWatermark, replica.log.logEndOffset)
  if (committed > replica.highWatermark) replica.raiseHighWatermark(committed)
  return true
}

/** Cuts what the leader does not have. What has committed is on every leader: to be asked to cut it means a loss. */
function truncate(replica: Replica, diverging: { epoch: number; endOffset: number }): boolean {
  const own = replica.log.view.endOffsetForEpoch(diverging.epoch)
  const endOffset = own.epoch === diverging.epoch ? Math.min(own.offset, diverging.endOffset) : own.offset
  if (endOffset < replica.highWatermark) {
    replica.halt(
      `leader ${replica.leaderId} of epoch ${replica.epoch} wants the log cut to ${endOffset}, which is committed up to ${replica.highWatermark}`,
    )
    return true
  }
  if (endOffset >= replica.log.logEndOffset) return false
  replica.logChange = { type: 'truncate', endOffset }
  replica.outbox.push({ type: 'truncate', endOffset })
  return true
}

export function handleTruncated(replica: Replica, now: Now): void {
  const change = replica.logChange
  assert(change?.type === 'truncate', 'a truncation is under way')
  // Whole batches go, so it may end before; batches of equal offset and epoch are equal, so that is rare.
  assert(replica.log.logEndOffset <= change.endOffset, 'the log ends where it was cut')
  replica.history.truncateTo(replica.log.logEndOffset)
  replica.logChange = undefined
  restartFetchTimeout(replica, now)
}

/** False, and nothing is done, when the batches do not continue our log as a leader of this epoch would. */
function append(replica: Replica, batches: readonly RaftBatch[]): boolean {
  let { offset, epoch } = replica.log.end
  for (const batch of batches) {
    const continues = batch.baseOffset === offset && batch.lastOffset >= batch.baseOffset
    if (!continues || batch.leaderEpoch < epoch || batch.leaderEpoch > replica.epoch) return false
    offset = batch.lastOffset + 1
    epoch = batch.leaderEpoch
  }
  replica.outbox.push({ type: 'appendFetched', baseOffset: replica.log.logEndOffset, batches })
  replica.log.willEndAt({ offset, epoch })
  for (const { controlRecords } of batches) {
    for (const { offset: at, record } of controlRecords) replica.history.append(at, record)
  }
  return true
}

function partitionOf(response: FetchResponse): FetchResponsePartition | undefined {
  if (response.responses.length !== 1) return undefined
  const [{ topic, topicId, partitions }] = response.responses
  if (topic !== metadataTopic && topicId !== metadataTopicId) return undefined
  return partitions.length === 1 && partitions[0].partitionIndex === metadataPartition ? partitions[0] : undefined
}
