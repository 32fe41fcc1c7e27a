import { metadataTopicId, zeroUuid } from '../../../base/uuid.ts'
import type { RaftRequest } from '../messages.ts'
import { directoryOf, endpointsOf } from './scene.ts'

/* Requests as a peer would send them, for tests of one node. */

export function voteFrom(
  id: number,
  vote: {
    epoch: number
    log: [endOffset: number, epoch: number]
    preVote?: boolean
    to?: number
    directoryId?: string
  },
): RaftRequest {
  const partition = {
    partitionIndex: 0,
    replicaEpoch: vote.epoch,
    replicaId: id,
    replicaDirectoryId: vote.directoryId ?? directoryOf(id),
    voterDirectoryId: vote.to === undefined ? zeroUuid : directoryOf(vote.to),
    lastOffset: vote.log[0],
    lastOffsetEpoch: vote.log[1],
    preVote: vote.preVote ?? false,
  }
  const topics = [{ topicName: '__cluster_metadata', partitions: [partition] }]
  return { api: 'vote', request: { clusterId: 'cluster', voterId: vote.to ?? -1, topics } }
}

export function beginFrom(id: number, epoch: number): RaftRequest {
  const partition = { partitionIndex: 0, voterDirectoryId: zeroUuid, leaderId: id, leaderEpoch: epoch }
  const topics = [{ topicName: '__cluster_metadata', partitions: [partition] }]
  return {
    api: 'beginQuorumEpoch',
    request: { clusterId: 'cluster', voterId: -1, topics, leaderEndpoints: endpointsOf(id) },
  }
}

export function endFrom(id: number, epoch: number, candidates: readonly number[]): RaftRequest {
  const partition = {
    partitionIndex: 0,
    leaderId: id,
    leaderEpoch: epoch,
    preferredSuccessors: [],
    preferredCandidates: candidates.map(candidateId => ({
      candidateId,
      candidateDirectoryId: directoryOf(candidateId),
    })),
  }
  const topics = [{ topicName: '__cluster_metadata', partitions: [partition] }]
  return { api: 'endQuorumEpoch', request: { clusterId: 'cluster', topics, leaderEndpoints: endpointsOf(id) } }
}

export function fetchFrom(
  id: number,
  fetch: {
    epoch: number
    log: [endOffset: number, epoch: number]
    maxWaitMs?: number
    highWatermark?: number
    directoryId?: string
  },
): RaftRequest {
  const partition = {
    partition: 0,
    currentLeaderEpoch: fetch.epoch,
    fetchOffset: fetch.log[0],
    lastFetchedEpoch: fetch.log[1],
    logStartOffset: 0,
    partitionMaxBytes: 1 << 20,
    replicaDirectoryId: fetch.directoryId ?? directoryOf(id),
    highWatermark: fetch.highWatermark ?? Number.POSITIVE_INFINITY,
  }
  return {
    api: 'fetch',
    request: {
      clusterId: 'cluster',
      replicaId: -1,
      replicaState: { replicaId: id, replicaEpoch: -1 },
      maxWaitMs: fetch.maxWaitMs ?? 500,
      minBytes: 0,
      maxBytes: 1 << 20,
      isolationLevel: 0,
      sessionId: 0,
      sessionEpoch: -1,
      topics: [{ topic: '__cluster_metadata', topicId: metadataTopicId, partitions: [partition] }],
      forgottenTopicsData: [],
      rackId: '',
    },
  }
}

export function fetchSnapshotFrom(
  id: number,
  fetch: { epoch: number; snapshot: [endOffset: number, epoch: number]; position: number },
): RaftRequest {
  const partition = {
    partition: 0,
    currentLeaderEpoch: fetch.epoch,
    snapshotId: { endOffset: fetch.snapshot[0], epoch: fetch.snapshot[1] },
    position: fetch.position,
    replicaDirectoryId: directoryOf(id),
  }
  const topics = [{ name: '__cluster_metadata', partitions: [partition] }]
  return { api: 'fetchSnapshot', request: { clusterId: 'cluster', replicaId: id, maxBytes: 1 << 20, topics } }
}

export function addVoter(
  id: number,
  over: { clusterId?: string; ackWhenCommitted?: boolean; directoryId?: string } = {},
): RaftRequest {
  return {
    api: 'addRaftVoter',
    request: {
      clusterId: over.clusterId ?? 'cluster',
      timeoutMs: 1000,
      voterId: id,
      voterDirectoryId: over.directoryId ?? directoryOf(id),
      listeners: endpointsOf(id),
      ackWhenCommitted: over.ackWhenCommitted ?? true,
    },
  }
}

export function removeVoter(id: number, directoryId = directoryOf(id)): RaftRequest {
  return { api: 'removeRaftVoter', request: { clusterId: 'cluster', voterId: id, voterDirectoryId: directoryId } }
}

export function updateVoter(
  id: number,
  epoch: number,
  over: { host?: string; maxSupportedVersion?: number; directoryId?: string } = {},
): RaftRequest {
  const [endpoint] = endpointsOf(id)
  return {
    api: 'updateRaftVoter',
    request: {
      clusterId: 'cluster',
      currentLeaderEpoch: epoch,
      voterId: id,
      voterDirectoryId: over.directoryId ?? directoryOf(id),
      listeners: [{ ...endpoint, host: over.host ?? endpoint.host }],
      kraftVersionFeature: { minSupportedVersion: 0, maxSupportedVersion: over.maxSupportedVersion ?? 1 },
    },
  }
}
