import type { ErrorCode } from '../../base/error-code.ts'
import type { Uuid } from '../../base/uuid.ts'

/*
 * The messages of the metadata quorum as plain data: the fields of Kafka's schemas, camelCase, every version's fields
 * together (a field that a version lacks holds its default). The shell encodes and decodes them 1:1. Only `records` of
 * a Fetch answer and `unalignedRecords` differ in use: the quorum passes these bytes on and never looks inside.
 */

export interface VoteRequest {
  clusterId: string | null
  voterId: number
  topics: { topicName: string; partitions: VoteRequestPartition[] }[]
}

export interface VoteRequestPartition {
  partitionIndex: number
  replicaEpoch: number
  replicaId: number
  replicaDirectoryId: Uuid
  voterDirectoryId: Uuid
  lastOffsetEpoch: number
  lastOffset: number
  preVote: boolean
}

export interface NodeEndpoint {
  nodeId: number
  host: string
  port: number
}

export interface EpochResponsePartition {
  partitionIndex: number
  errorCode: ErrorCode
  leaderId: number
  leaderEpoch: number
}

export interface VoteResponse {
  errorCode: ErrorCode
  topics: { topicName: string; partitions: (EpochResponsePartition & { voteGranted: boolean })[] }[]
  nodeEndpoints: NodeEndpoint[]
}

export interface Endpoint {
  name: string
  host: string
  port: number
}

export interface BeginQuorumEpochRequest {
  clusterId: string | null
  voterId: number
  topics: {
    topicName: string
    partitions: { partitionIndex: number; voterDirectoryId: Uuid; leaderId: number; leaderEpoch: number }[]
  }[]
  leaderEndpoints: Endpoint[]
}

/** The answer to BeginQuorumEpoch and to EndQuorumEpoch: the two schemas are the same. */
export interface QuorumEpochResponse {
  errorCode: ErrorCode
  topics: { topicName: string; partitions: EpochResponsePartition[] }[]
  nodeEndpoints: NodeEndpoint[]
}

export interface EndQuorumEpochRequest {
  clusterId: string | null
  topics: { topicName: string; partitions: EndQuorumEpochPartition[] }[]
  leaderEndpoints: Endpoint[]
}

export interface EndQuorumEpochPartition {
  partitionIndex: number
  leaderId: number
  leaderEpoch: number
  /** Version 0 only. */
  preferredSuccessors: number[]
  /** Version 1 and later. */
  preferredCandidates: { candidateId: number; candidateDirectoryId: Uuid }[]
}

export interface FetchRequest {
  clusterId: string | null
  /** Up to version 14; later versions carry `replicaState`. */
  replicaId: number
  replicaState: { replicaId: number; replicaEpoch: number }
  maxWaitMs: number
  minBytes: number
  maxBytes: number
  isolationLevel: number
  sessionId: number
  sessionEpoch: number
  topics: { topic: string; topicId: Uuid; partitions: FetchPartition[] }[]
  forgottenTopicsData: { topic: string; topicId: Uuid; partitions: number[] }[]
  rackId: string
}

export interface FetchPartition {
  partition: number
  currentLeaderEpoch: number
  fetchOffset: number
  lastFetchedEpoch: number
  logStartOffset: number
  partitionMaxBytes: number
  replicaDirectoryId: Uuid
  /** What the follower knows; `Infinity` (the default of the schema) when it does not say. */
  highWatermark: number
}

export interface FetchResponse {
  throttleTimeMs: number
  errorCode: ErrorCode
  sessionId: number
  responses: { topic: string; topicId: Uuid; partitions: FetchResponsePartition[] }[]
  nodeEndpoints: (NodeEndpoint & { rack: string | null })[]
}

export interface FetchResponsePartition {
  partitionIndex: number
  errorCode: ErrorCode
  /** -1 while the leader does not know it. */
  highWatermark: number
  lastStableOffset: number
  logStartOffset: number
  /** Epoch -1: none. */
  divergingEpoch: { epoch: number; endOffset: number }
  currentLeader: { leaderId: number; leaderEpoch: number }
  /** End offset -1: none. */
  snapshotId: { endOffset: number; epoch: number }
  abortedTransactions: { producerId: number; firstOffset: number }[] | null
  preferredReadReplica: number
  records: Buffer | null
}

export interface FetchSnapshotRequest {
  clusterId: string | null
  replicaId: number
  maxBytes: number
  topics: { name: string; partitions: FetchSnapshotPartition[] }[]
}

export interface FetchSnapshotPartition {
  partition: number
  currentLeaderEpoch: number
  snapshotId: { endOffset: number; epoch: number }
  position: number
  replicaDirectoryId: Uuid
}

export interface FetchSnapshotResponse {
  throttleTimeMs: number
  errorCode: ErrorCode
  topics: { name: string; partitions: FetchSnapshotResponsePartition[] }[]
  nodeEndpoints: NodeEndpoint[]
}

export interface FetchSnapshotResponsePartition {
  index: number
  errorCode: ErrorCode
  snapshotId: { endOffset: number; epoch: number }
  currentLeader: { leaderId: number; leaderEpoch: number }
  /** The whole snapshot's size in bytes. */
  size: number
  position: number
  unalignedRecords: Buffer
}

export interface VersionRange {
  minSupportedVersion: number
  maxSupportedVersion: number
}

export interface AddRaftVoterRequest {
  clusterId: string | null
  timeoutMs: number
  voterId: number
  voterDirectoryId: Uuid
  listeners: Endpoint[]
  ackWhenCommitted: boolean
}

export interface RemoveRaftVoterRequest {
  clusterId: string | null
  voterId: number
  voterDirectoryId: Uuid
}

/** The answer to AddRaftVoter and to RemoveRaftVoter: the two schemas are the same. */
export interface VoterChangeResponse {
  throttleTimeMs: number
  errorCode: ErrorCode
  errorMessage: string | null
}

export interface UpdateRaftVoterRequest {
  clusterId: string | null
  currentLeaderEpoch: number
  voterId: number
  voterDirectoryId: Uuid
  listeners: Endpoint[]
  kRaftVersionFeature: VersionRange
}

export interface UpdateRaftVoterResponse {
  throttleTimeMs: number
  errorCode: ErrorCode
  currentLeader: { leaderId: number; leaderEpoch: number; host: string; port: number }
}

/** Of ApiVersions the quorum needs one feature: a new voter's range of `kraft.version`. */
export interface ApiVersionsResponse {
  errorCode: ErrorCode
  supportedFeatures: { name: string; minVersion: number; maxVersion: number }[]
}

export type RaftRequest =
  | { readonly api: 'vote'; readonly request: VoteRequest }
  | { readonly api: 'beginQuorumEpoch'; readonly request: BeginQuorumEpochRequest }
  | { readonly api: 'endQuorumEpoch'; readonly request: EndQuorumEpochRequest }
  | { readonly api: 'fetch'; readonly request: FetchRequest }
  | { readonly api: 'fetchSnapshot'; readonly request: FetchSnapshotRequest }
  | { readonly api: 'addRaftVoter'; readonly request: AddRaftVoterRequest }
  | { readonly api: 'removeRaftVoter'; readonly request: RemoveRaftVoterRequest }
  | { readonly api: 'updateRaftVoter'; readonly request: UpdateRaftVoterRequest }
  /** Sent only: the quorum never answers ApiVersions. */
  | { readonly api: 'apiVersions' }

export type RaftResponse =
  | { readonly api: 'vote'; readonly response: VoteResponse }
  | { readonly api: 'beginQuorumEpoch'; readonly response: QuorumEpochResponse }
  | { readonly api: 'endQuorumEpoch'; readonly response: QuorumEpochResponse }
  | { readonly api: 'fetch'; readonly response: FetchResponse }
  | { readonly api: 'fetchSnapshot'; readonly response: FetchSnapshotResponse }
  | { readonly api: 'addRaftVoter'; readonly response: VoterChangeResponse }
  | { readonly api: 'removeRaftVoter'; readonly response: VoterChangeResponse }
  | { readonly api: 'updateRaftVoter'; readonly response: UpdateRaftVoterResponse }
  | { readonly api: 'apiVersions'; readonly response: ApiVersionsResponse }

export type RaftApi = RaftRequest['api']

/* Control records: the values of control batches, as Kafka's schemas name their fields. */

export interface LeaderChangeMessage {
  version: number
  leaderId: number
  voters: { voterId: number; voterDirectoryId: Uuid }[]
  grantingVoters: { voterId: number; voterDirectoryId: Uuid }[]
}

export interface KRaftVersionRecord {
  version: number
  kRaftVersion: number
}

export interface VotersRecord {
  version: number
  voters: {
    voterId: number
    voterDirectoryId: Uuid
    endpoints: Endpoint[]
    kRaftVersionFeature: VersionRange
  }[]
}

export type ControlRecord =
  | { readonly type: 'leaderChange'; readonly value: LeaderChangeMessage }
  | { readonly type: 'kRaftVersion'; readonly value: KRaftVersionRecord }
  | { readonly type: 'voters'; readonly value: VotersRecord }
