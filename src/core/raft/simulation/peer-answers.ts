import { metadataTopicId } from '../../../base/uuid.ts'
import type { RaftResponse } from '../messages.ts'

/* Answers as a peer would give them, for tests of one node. */

interface Said {
  readonly epoch: number
  readonly leaderId?: number
  readonly errorCode?: number
}

export function voteAnswer(said: Said & { granted: boolean }): RaftResponse {
  const partition = { ...epochPartition(said), voteGranted: said.granted }
  const topics = [{ topicName: '__cluster_metadata', partitions: [partition] }]
  return { api: 'vote', response: { errorCode: 0, topics, nodeEndpoints: [] } }
}

export function beginAnswer(said: Said): RaftResponse {
  const topics = [{ topicName: '__cluster_metadata', partitions: [epochPartition(said)] }]
  return { api: 'beginQuorumEpoch', response: { errorCode: 0, topics, nodeEndpoints: [] } }
}

export function fetchAnswer(
  said: Said & { highWatermark?: number; diverging?: [endOffset: number, epoch: number]; snapshot?: [number, number] },
): RaftResponse {
  const [divergingEnd, divergingEpoch] = said.diverging ?? [-1, -1]
  const [snapshotEnd, snapshotEpoch] = said.snapshot ?? [-1, -1]
  const partition = {
    partitionIndex: 0,
    errorCode: said.errorCode ?? 0,
    highWatermark: said.highWatermark ?? -1,
    lastStableOffset: -1,
    logStartOffset: 0,
    divergingEpoch: { epoch: divergingEpoch, endOffset: divergingEnd },
    currentLeader: { leaderId: said.leaderId ?? -1, leaderEpoch: said.epoch },
    snapshotId: { endOffset: snapshotEnd, epoch: snapshotEpoch },
    abortedTransactions: null,
    preferredReadReplica: -1,
    records: null,
  }
  const responses = [{ topic: '__cluster_metadata', topicId: metadataTopicId, partitions: [partition] }]
  return { api: 'fetch', response: { throttleTimeMs: 0, errorCode: 0, sessionId: 0, responses, nodeEndpoints: [] } }
}

export function fetchSnapshotAnswer(
  said: Said & { id?: [endOffset: number, epoch: number]; position?: number; size?: number; bytes?: string },
): RaftResponse {
  const [endOffset, epoch] = said.id ?? [0, 0]
  const partition = {
    index: 0,
    errorCode: said.errorCode ?? 0,
    snapshotId: { endOffset, epoch },
    currentLeader: { leaderId: said.leaderId ?? -1, leaderEpoch: said.epoch },
    size: said.size ?? 0,
    position: said.position ?? 0,
    unalignedRecords: Buffer.from(said.bytes ?? ''),
  }
  const topics = [{ name: '__cluster_metadata', partitions: [partition] }]
  return { api: 'fetchSnapshot', response: { throttleTimeMs: 0, errorCode: 0, topics, nodeEndpoints: [] } }
}

function epochPartition({ epoch, leaderId = -1, errorCode = 0 }: Said) {
  return { partitionIndex: 0, errorCode, leaderId, leaderEpoch: epoch }
}
