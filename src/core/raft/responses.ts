import { ErrorCode } from '../../base/error-code.ts'
import { metadataTopicId } from '../../base/uuid.ts'
import type { PartitionData as FetchResponsePartition } from '../../protocol/messages/fetch.ts'
import type { PartitionSnapshotResponse } from '../../protocol/messages/fetch-snapshot.ts'
import type { NodeEndpoint } from '../../protocol/messages/vote.ts'
import type { OffsetAndEpoch, SnapshotId } from './log-view.ts'
import type { RaftResponse } from './messages.ts'
import type { Replica } from './replica.ts'
import { metadataPartition, metadataTopic } from './requests.ts'

const noBytes = Buffer.alloc(0)

/** The error as the whole answer, without a partition; of any API that has such an answer. */
export function refusal(
  api: 'vote' | 'beginQuorumEpoch' | 'endQuorumEpoch' | 'fetch' | 'fetchSnapshot',
  errorCode: ErrorCode,
): RaftResponse {
  const response = { errorCode, throttleTimeMs: 0, sessionId: 0, topics: [], responses: [], nodeEndpoints: [] }
  return { api, response }
}

export function voteResponse(replica: Replica, answer: { errorCode: ErrorCode; voteGranted: boolean }): RaftResponse {
  const partition = { ...epochPartition(replica, answer.errorCode), voteGranted: answer.voteGranted }
  return {
    api: 'vote',
    response: {
      errorCode: ErrorCode.none,
      topics: [{ topicName: metadataTopic, partitions: [partition] }],
      nodeEndpoints: leaderEndpoint(replica),
    },
  }
}

export function quorumEpochResponse(
  replica: Replica,
  api: 'beginQuorumEpoch' | 'endQuorumEpoch',
  errorCode: ErrorCode,
): RaftResponse {
  return {
    api,
    response: {
      errorCode: ErrorCode.none,
      topics: [{ topicName: metadataTopic, partitions: [epochPartition(replica, errorCode)] }],
      nodeEndpoints: leaderEndpoint(replica),
    },
  }
}

export interface FetchAnswer {
  readonly errorCode: ErrorCode
  /** The leader's; absent while it does not know it, and in errors. */
  readonly highWatermark?: number | undefined
  readonly diverging?: OffsetAndEpoch
  readonly snapshotId?: SnapshotId
  readonly records?: Buffer
}

export function fetchResponse(replica: Replica, answer: FetchAnswer): RaftResponse {
  const partition: FetchResponsePartition = {
    partitionIndex: metadataPartition,
    errorCode: answer.errorCode,
    highWatermark: answer.highWatermark ?? -1,
    lastStableOffset: -1,
    logStartOffset: replica.log.view.logStartOffset,
    divergingEpoch:
      answer.diverging === undefined
        ? { epoch: -1, endOffset: -1 }
        : { epoch: answer.diverging.epoch, endOffset: answer.diverging.offset },
    currentLeader: currentLeader(replica),
    snapshotId: answer.snapshotId ?? { endOffset: -1, epoch: -1 },
    abortedTransactions: null,
    preferredReadReplica: -1,
    records: answer.records ?? noBytes,
  }
  return {
    api: 'fetch',
    response: {
      throttleTimeMs: 0,
      errorCode: ErrorCode.none,
      sessionId: 0,
      responses: [{ topic: metadataTopic, topicId: metadataTopicId, partitions: [partition] }],
      nodeEndpoints: leaderEndpoint(replica).map(endpoint => ({ ...endpoint, rack: null })),
    },
  }
}

export interface FetchSnapshotAnswer {
  readonly errorCode: ErrorCode
  readonly snapshotId?: SnapshotId
  readonly size?: number
  readonly position?: number
  readonly bytes?: Buffer
}

export function fetchSnapshotResponse(replica: Replica, answer: FetchSnapshotAnswer): RaftResponse {
  const partition: PartitionSnapshotResponse = {
    index: metadataPartition,
    errorCode: answer.errorCode,
    snapshotId: answer.snapshotId ?? { endOffset: 0, epoch: 0 },
    currentLeader: currentLeader(replica),
    size: answer.size ?? 0,
    position: answer.position ?? 0,
    unalignedRecords: answer.bytes ?? noBytes,
  }
  return {
    api: 'fetchSnapshot',
    response: {
      throttleTimeMs: 0,
      errorCode: ErrorCode.none,
      topics: [{ name: metadataTopic, partitions: [partition] }],
      nodeEndpoints: leaderEndpoint(replica),
    },
  }
}

export function voterChangeResponse(
  api: 'addRaftVoter' | 'removeRaftVoter',
  errorCode: ErrorCode,
  errorMessage: string | null = null,
): RaftResponse {
  return { api, response: { throttleTimeMs: 0, errorCode, errorMessage } }
}

export function updateVoterResponse(replica: Replica, errorCode: ErrorCode): RaftResponse {
  const [endpoint] = leaderEndpoint(replica)
  return {
    api: 'updateRaftVoter',
    response: {
      throttleTimeMs: 0,
      errorCode,
      currentLeader: { ...currentLeader(replica), host: endpoint?.host ?? '', port: endpoint?.port ?? 0 },
    },
  }
}

function epochPartition(replica: Replica, errorCode: ErrorCode) {
  return { partitionIndex: metadataPartition, errorCode, ...currentLeader(replica) }
}

function currentLeader(replica: Replica): { leaderId: number; leaderEpoch: number } {
  return { leaderId: replica.activeLeaderId ?? -1, leaderEpoch: replica.epoch }
}

/** The leader's endpoint on the controllers' listener, if it is known. */
function leaderEndpoint(replica: Replica): NodeEndpoint[] {
  const leaderId = replica.activeLeaderId
  const endpoint = replica.leaderEndpoints.find(({ name }) => name === replica.config.listenerName)
  if (leaderId === undefined || endpoint === undefined) return []
  return [{ nodeId: leaderId, host: endpoint.host, port: endpoint.port }]
}
