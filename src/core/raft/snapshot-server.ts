import { ErrorCode } from '../../base/error-code.ts'
import type { Now } from '../../base/time.ts'
import type { FetchSnapshotRequest, PartitionSnapshot } from '../../protocol/messages/fetch-snapshot.ts'
import { errorOfLeaderRequest, isOurCluster } from './epochs.ts'
import { isBootstrapSnapshot } from './log-view.ts'
import type { RaftResponse } from './messages.ts'
import type { Replica } from './replica.ts'
import { metadataPartition, metadataTopic } from './requests.ts'
import { fetchSnapshotResponse, refusal } from './responses.ts'

/** A replica that is behind the log's start asks for a piece of a snapshot, by byte position. */
export function handleFetchSnapshot(
  replica: Replica,
  requestId: number,
  request: FetchSnapshotRequest,
  now: Now,
): RaftResponse | undefined {
  if (!isOurCluster(replica, request.clusterId)) return refusal('fetchSnapshot', ErrorCode.inconsistentClusterId)
  const partition = partitionOf(request)
  if (partition === undefined) return refusal('fetchSnapshot', ErrorCode.invalidRequest)
  const errorCode = errorOfLeaderRequest(replica, partition.currentLeaderEpoch)
  const { role } = replica
  if (errorCode !== ErrorCode.none || role.type !== 'leader') {
    return fetchSnapshotResponse(replica, { errorCode })
  }
  const { snapshotId, position } = partition
  const sizeBytes = isBootstrapSnapshot(snapshotId) ? undefined : replica.log.view.snapshotSize(snapshotId)
  if (sizeBytes === undefined) {
    return fetchSnapshotResponse(replica, { errorCode: ErrorCode.snapshotNotFound })
  }
  if (position < 0 || position >= sizeBytes) {
    return fetchSnapshotResponse(replica, { errorCode: ErrorCode.positionOutOfRange })
  }
  if (request.replicaId >= 0) {
    role.progress.heardFrom({ id: request.replicaId, directoryId: partition.replicaDirectoryId }, now)
  }
  role.openReads.set(requestId, { type: 'snapshot', id: snapshotId, position, sizeBytes })
  const maxBytes = Math.min(request.maxBytes, replica.config.fetchSnapshotMaxBytes, sizeBytes - position)
  replica.outbox.push({ type: 'readSnapshot', requestId, snapshotId, position, maxBytes })
  return undefined
}

/** The bytes are there. If this node has stopped leading meanwhile the request was answered then. */
export function handleSnapshotRead(replica: Replica, requestId: number, bytes: Buffer | undefined): void {
  const { role } = replica
  if (role.type !== 'leader') return
  const read = role.openReads.get(requestId)
  role.openReads.delete(requestId)
  if (read?.type !== 'snapshot') return
  const answer =
    bytes === undefined
      ? { errorCode: ErrorCode.snapshotNotFound }
      : {
          errorCode: ErrorCode.none,
          snapshotId: read.id,
          size: read.sizeBytes,
          position: read.position,
          bytes,
        }
  replica.reply(requestId, fetchSnapshotResponse(replica, answer))
}

function partitionOf(request: FetchSnapshotRequest): PartitionSnapshot | undefined {
  if (request.topics.length !== 1 || request.topics[0].name !== metadataTopic) return undefined
  const { partitions } = request.topics[0]
  return partitions.length === 1 && partitions[0].partition === metadataPartition ? partitions[0] : undefined
}
