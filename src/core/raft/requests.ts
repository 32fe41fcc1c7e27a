import { metadataTopicId } from '../../base/uuid.ts'
import type { RaftRequest } from './messages.ts'
import type { Replica } from './replica.ts'
import type { Resigned, SnapshotFetch } from './roles.ts'
import type { ReplicaKey, Voter } from './voters.ts'

/** The quorum has one topic with one partition. */
export const metadataTopic = '__cluster_metadata'
export const metadataPartition = 0

export function voteRequest(replica: Replica, voter: Voter, preVote: boolean): RaftRequest {
  const partition = {
    partitionIndex: metadataPartition,
    replicaEpoch: replica.epoch,
    replicaId: replica.key.id,
    replicaDirectoryId: replica.key.directoryId,
    voterDirectoryId: voter.directoryId,
    lastOffsetEpoch: replica.log.lastEpoch,
    lastOffset: replica.log.logEndOffset,
    preVote,
  }
  return {
    api: 'vote',
    request: {
      clusterId: replica.config.clusterId,
      voterId: voter.id,
      topics: [{ topicName: metadataTopic, partitions: [partition] }],
    },
  }
}

export function beginQuorumEpochRequest(replica: Replica, voter: Voter): RaftRequest {
  const partition = {
    partitionIndex: metadataPartition,
    voterDirectoryId: voter.directoryId,
    leaderId: replica.key.id,
    leaderEpoch: replica.epoch,
  }
  return {
    api: 'beginQuorumEpoch',
    request: {
      clusterId: replica.config.clusterId,
      voterId: voter.id,
      topics: [{ topicName: metadataTopic, partitions: [partition] }],
      leaderEndpoints: replica.config.listeners,
    },
  }
}

export function endQuorumEpochRequest(replica: Replica, role: Resigned): RaftRequest {
  const partition = {
    partitionIndex: metadataPartition,
    leaderId: replica.key.id,
    leaderEpoch: replica.epoch,
    preferredSuccessors: role.preferredCandidates.map(({ id }) => id),
    preferredCandidates: role.preferredCandidates.map(({ id, directoryId }) => ({
      candidateId: id,
      candidateDirectoryId: directoryId,
    })),
  }
  return {
    api: 'endQuorumEpoch',
    request: {
      clusterId: replica.config.clusterId,
      topics: [{ topicName: metadataTopic, partitions: [partition] }],
      leaderEndpoints: replica.config.listeners,
    },
  }
}

export function fetchRequest(replica: Replica): RaftRequest {
  const { config, log } = replica
  const partition = {
    partition: metadataPartition,
    currentLeaderEpoch: replica.epoch,
    fetchOffset: log.logEndOffset,
    lastFetchedEpoch: log.lastEpoch,
    logStartOffset: log.view.logStartOffset,
    partitionMaxBytes: config.fetchMaxBytes,
    replicaDirectoryId: config.directoryId,
    highWatermark: replica.highWatermark,
  }
  return {
    api: 'fetch',
    request: {
      clusterId: config.clusterId,
      replicaId: -1,
      replicaState: { replicaId: config.nodeId, replicaEpoch: -1 },
      maxWaitMs: config.fetchMaxWaitMs,
      minBytes: 0,
      maxBytes: config.fetchMaxBytes,
      isolationLevel: 0,
      sessionId: 0,
      sessionEpoch: -1,
      topics: [{ topic: metadataTopic, topicId: metadataTopicId, partitions: [partition] }],
      forgottenTopicsData: [],
      rackId: '',
    },
  }
}

export function fetchSnapshotRequest(replica: Replica, snapshot: SnapshotFetch): RaftRequest {
  const partition = {
    partition: metadataPartition,
    currentLeaderEpoch: replica.epoch,
    snapshotId: snapshot.id,
    position: snapshot.position,
    replicaDirectoryId: replica.key.directoryId,
  }
  return {
    api: 'fetchSnapshot',
    request: {
      clusterId: replica.config.clusterId,
      replicaId: replica.key.id,
      maxBytes: replica.config.fetchSnapshotMaxBytes,
      topics: [{ name: metadataTopic, partitions: [partition] }],
    },
  }
}

export function updateRaftVoterRequest(replica: Replica): RaftRequest {
  return {
    api: 'updateRaftVoter',
    request: {
      clusterId: replica.config.clusterId,
      currentLeaderEpoch: replica.epoch,
      voterId: replica.key.id,
      voterDirectoryId: replica.key.directoryId,
      listeners: replica.config.listeners,
      kraftVersionFeature: replica.config.kraftVersionFeature,
    },
  }
}

export function addRaftVoterRequest(replica: Replica): RaftRequest {
  return {
    api: 'addRaftVoter',
    request: {
      clusterId: replica.config.clusterId,
      timeoutMs: replica.config.requestTimeoutMs,
      voterId: replica.key.id,
      voterDirectoryId: replica.key.directoryId,
      listeners: replica.config.listeners,
      ackWhenCommitted: false,
    },
  }
}

export function removeRaftVoterRequest(replica: Replica, voter: ReplicaKey): RaftRequest {
  return {
    api: 'removeRaftVoter',
    request: { clusterId: replica.config.clusterId, voterId: voter.id, voterDirectoryId: voter.directoryId },
  }
}
