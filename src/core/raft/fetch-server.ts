import { ErrorCode } from '../../base/error-code.ts'
import type { Now } from '../../base/time.ts'
import { metadataTopicId } from '../../base/uuid.ts'
import type { FetchPartition, FetchRequest } from '../../protocol/messages/fetch.ts'
import { advanceHighWatermark } from './commit.ts'
import { errorOfLeaderRequest, isOurCluster } from './epochs.ts'
import { positionOfFollower } from './log-view.ts'
import type { RaftResponse } from './messages.ts'
import type { Replica } from './replica.ts'
import { metadataPartition, metadataTopic } from './requests.ts'
import { fetchResponse, refusal } from './responses.ts'
import type { Leader, WaitingFetch } from './roles.ts'
import { sameReplica } from './voters.ts'

/** More fetches than this do not wait: the rest is answered empty at once. */
const maxWaitingFetches = 10_000

/** A replica asks for what comes after its log; the offset it asks for proves that it holds all before. */
export function handleFetch(
  replica: Replica,
  requestId: number,
  request: FetchRequest,
  now: Now,
): RaftResponse | undefined {
  if (!isOurCluster(replica, request.clusterId)) return refusal('fetch', ErrorCode.inconsistentClusterId)
  const partition = partitionOfFetch(request)
  if (partition === undefined) return refusal('fetch', ErrorCode.invalidRequest)
  const { currentLeaderEpoch, fetchOffset, lastFetchedEpoch } = partition
  if (request.maxWaitMs < 0 || fetchOffset < 0 || lastFetchedEpoch < 0 || lastFetchedEpoch > currentLeaderEpoch) {
    return fetchResponse(replica, { errorCode: ErrorCode.invalidRequest })
  }
  const errorCode = errorOfLeaderRequest(replica, currentLeaderEpoch)
  const { role } = replica
  if (errorCode !== ErrorCode.none || role.type !== 'leader') return fetchResponse(replica, { errorCode })

  const id = request.replicaState.replicaId >= 0 ? request.replicaState.replicaId : request.replicaId
  const key = { id, directoryId: partition.replicaDirectoryId }
  if (sameReplica(key, replica.key)) {
    return fetchResponse(replica, { errorCode: ErrorCode.invalidRequest })
  }
  const fetch: WaitingFetch = {
    requestId,
    key,
    partition,
    maxBytes: smallest(partition.partitionMaxBytes, request.maxBytes, replica.config.fetchMaxBytes),
    deadlineMs: now.monotonicMs + request.maxWaitMs,
  }
  return serve(replica, role, fetch, now)
}

/** The answer, or undefined when it follows later. */
function serve(replica: Replica, role: Leader, fetch: WaitingFetch, now: Now): RaftResponse | undefined {
  const { key, partition } = fetch
  const position = positionOfFollower(replica.log.view, partition)
  if (position.type !== 'valid') {
    if (key.id >= 0) role.progress.heardFrom(key, now)
    const where = position.type === 'snapshot' ? { snapshotId: position.id } : { diverging: position.end }
    return fetchResponse(replica, { errorCode: ErrorCode.none, highWatermark: role.highWatermark, ...where })
  }
  const { fetchOffset } = partition
  if (key.id >= 0) role.progress.fetched(key, { fetchOffset, leaderEndOffset: replica.log.logEndOffset }, now)
  advanceHighWatermark(replica, role)
  if (fetchOffset >= replica.log.view.writtenOffset) return answerOrWait(replica, role, fetch, now)
  read(replica, role, fetch)
  return undefined
}

/** Nothing to read yet. A follower that knows less of the high watermark than we do is told at once. */
function answerOrWait(replica: Replica, role: Leader, fetch: WaitingFetch, now: Now): RaftResponse | undefined {
  const hasNews = (role.highWatermark ?? -1) > fetch.partition.highWatermark
  if (hasNews || fetch.deadlineMs <= now.monotonicMs || role.waitingFetches.size >= maxWaitingFetches) {
    return emptyAnswer(replica, role)
  }
  // A replica has one fetch open; an older one comes from a connection that is gone.
  for (const other of role.waitingFetches.values()) {
    if (fetch.key.id >= 0 && sameReplica(other.key, fetch.key)) {
      role.waitingFetches.delete(other.requestId)
      replica.reply(other.requestId, emptyAnswer(replica, role))
    }
  }
  role.waitingFetches.set(fetch.requestId, fetch)
  return undefined
}

function emptyAnswer(replica: Replica, role: Leader): RaftResponse {
  return fetchResponse(replica, { errorCode: ErrorCode.none, highWatermark: role.highWatermark })
}

function read(replica: Replica, role: Leader, fetch: WaitingFetch): void {
  const { requestId, maxBytes } = fetch
  role.openReads.set(requestId, { type: 'log' })
  replica.outbox.push({ type: 'readLog', requestId, offset: fetch.partition.fetchOffset, maxBytes })
}

/** The bytes are there. If this node has stopped leading meanwhile the request was answered then. */
export function handleLogRead(replica: Replica, requestId: number, records: Buffer): void {
  const { role } = replica
  if (role.type !== 'leader' || !role.openReads.delete(requestId)) return
  const { highWatermark } = role
  replica.reply(requestId, fetchResponse(replica, { errorCode: ErrorCode.none, highWatermark, records }))
}

/** Records were written or the high watermark moved. */
export function wakeWaitingFetches(replica: Replica, role: Leader): void {
  for (const fetch of [...role.waitingFetches.values()]) {
    const hasRecords = fetch.partition.fetchOffset < replica.log.view.writtenOffset
    const hasNews = (role.highWatermark ?? -1) > fetch.partition.highWatermark
    if (!hasRecords && !hasNews) continue
    role.waitingFetches.delete(fetch.requestId)
    if (hasRecords) read(replica, role, fetch)
    else replica.reply(fetch.requestId, emptyAnswer(replica, role))
  }
}

export function expireWaitingFetches(replica: Replica, role: Leader, now: Now): void {
  for (const fetch of [...role.waitingFetches.values()]) {
    if (fetch.deadlineMs > now.monotonicMs) continue
    role.waitingFetches.delete(fetch.requestId)
    replica.reply(fetch.requestId, emptyAnswer(replica, role))
  }
}

/** Kafka's replicas leave the limit of the partition at 0, and do not mean that by it. */
function smallest(...limits: readonly number[]): number {
  return Math.min(...limits.filter(limit => limit > 0))
}

function partitionOfFetch(request: FetchRequest): FetchPartition | undefined {
  if (request.topics.length !== 1) return undefined
  const [{ topic, topicId, partitions }] = request.topics
  if (topic !== metadataTopic && topicId !== metadataTopicId) return undefined
  return partitions.length === 1 && partitions[0].partition === metadataPartition ? partitions[0] : undefined
}
