import {
  errorCode,
  fields,
  type Infer,
  int8,
  int32,
  int64,
  list,
  message,
  records,
  string,
  struct,
  uuid,
} from '../schema.ts'

export const fetchPartition = fields({
  partition: int32('0+'),
  /** The leader epoch that the reader knows; -1 asks for no check. */
  currentLeaderEpoch: int32('9+', { default: -1, ignorable: true }),
  /** The next offset wanted. From a follower it says that all below is there. */
  fetchOffset: int64('0+'),
  /** Leader epoch of the follower's last record, by which the leader finds where the logs part; -1 for consumers. */
  lastFetchedEpoch: int32('12+', { default: -1 }),
  /** The follower's own; -1 for consumers. */
  logStartOffset: int64('5+', { default: -1, ignorable: true }),
  partitionMaxBytes: int32('0+'),
  /** The voter's directory: metadata quorum only. */
  replicaDirectoryId: uuid('17+', { tag: 0, ignorable: true }),
  /** The one the replica knows: metadata quorum only. Infinity if the sender does not say. */
  highWatermark: int64('18+', { default: Number.POSITIVE_INFINITY, tag: 1, ignorable: true }),
})
export interface FetchPartition extends Infer<typeof fetchPartition> {}

export const fetchTopic = fields({
  topic: string('0-12', { ignorable: true }),
  topicId: uuid('13+', { ignorable: true }),
  partitions: list('0+', fetchPartition),
})
export interface FetchTopic extends Infer<typeof fetchTopic> {}

export const forgottenTopic = fields({
  topic: string('7-12', { ignorable: true }),
  topicId: uuid('13+', { ignorable: true }),
  partitions: list('0+', int32),
})
export interface ForgottenTopic extends Infer<typeof forgottenTopic> {}

export const fetchRequest = message(
  'FetchRequest',
  { key: 1, versions: '4-18', flexible: '12+' },
  {
    /** Set by the replicas of the metadata log, null by all others. */
    clusterId: string('12+', { nullable: '0+', default: null, tag: 0, ignorable: true }),
    /** -1 for a consumer. */
    replicaId: int32('0-14', { default: -1 }),
    /** Since version 15 in place of `replicaId`. */
    replicaState: struct(
      '15+',
      {
        /** -1 for a consumer. */
        replicaId: int32('0+', { default: -1 }),
        /** The broker epoch of a follower, -1 if it has none. */
        replicaEpoch: int64('0+', { default: -1 }),
      },
      { tag: 1 },
    ),
    maxWaitMs: int32('0+'),
    /** The answer may wait for so many bytes, but no longer than `maxWaitMs`. */
    minBytes: int32('0+'),
    /** A bound for the whole answer, but the first batch is sent whole even if it is larger. */
    maxBytes: int32('0+', { default: 2147483647, ignorable: true }),
    /** 0: up to the high watermark; 1: up to the last stable offset. */
    isolationLevel: int8('0+', { default: 0, ignorable: true }),
    /** 0: no session yet. */
    sessionId: int32('7+', { default: 0, ignorable: true }),
    /** 0 asks for a new session, -1 for none; otherwise one more than in the last fetch. */
    sessionEpoch: int32('7+', { default: -1, ignorable: true }),
    /** In a session only what changed since the last fetch. */
    topics: list('0+', fetchTopic),
    /** What the session shall no longer hold. */
    forgottenTopicsData: list('7+', forgottenTopic),
    /** Where the consumer is, for fetching from the closest replica. */
    rackId: string('11+', { default: '', ignorable: true }),
  },
)
export interface FetchRequest extends Infer<typeof fetchRequest> {}

export const partitionData = fields({
  partitionIndex: int32('0+'),
  errorCode: errorCode('0+'),
  /** Offset below which every record is on all in-sync replicas. */
  highWatermark: int64('0+'),
  /** Offset below which no transaction is open; -1 if not asked for. */
  lastStableOffset: int64('0+', { default: -1, ignorable: true }),
  /** First offset still readable. */
  logStartOffset: int64('5+', { default: -1, ignorable: true }),
  /** To a follower whose log parts from the leader's: the largest epoch not above its own, and where that ends. */
  divergingEpoch: struct(
    '12+',
    {
      epoch: int32('0+', { default: -1 }),
      endOffset: int64('0+', { default: -1 }),
    },
    { tag: 0 },
  ),
  currentLeader: struct(
    '12+',
    {
      leaderId: int32('0+', { default: -1 }),
      leaderEpoch: int32('0+', { default: -1 }),
    },
    { tag: 1 },
  ),
  /** Metadata quorum: the log begins behind the offset asked for, so load this snapshot. */
  snapshotId: struct(
    '12+',
    {
      endOffset: int64('0+', { default: -1 }),
      epoch: int32('0+', { default: -1 }),
    },
    { tag: 2 },
  ),
  /** By first offset, for read-committed readers; null for the others. */
  abortedTransactions: list(
    '0+',
    {
      producerId: int64('0+'),
      firstOffset: int64('0+'),
    },
    { nullable: '0+', ignorable: true },
  ),
  /** Broker to fetch from instead; -1 for none. */
  preferredReadReplica: int32('11+', { default: -1 }),
  /** Batches, the last of which may be cut short. */
  records: records('0+', { nullable: '0+' }),
})
export interface PartitionData extends Infer<typeof partitionData> {}

export const fetchableTopicResponse = fields({
  topic: string('0-12', { ignorable: true }),
  topicId: uuid('13+', { ignorable: true }),
  partitions: list('0+', partitionData),
})
export interface FetchableTopicResponse extends Infer<typeof fetchableTopicResponse> {}

export const nodeEndpoint = fields({
  nodeId: int32('0+'),
  host: string('0+'),
  port: int32('0+'),
  rack: string('0+', { nullable: '0+', default: null }),
})
export interface NodeEndpoint extends Infer<typeof nodeEndpoint> {}

export const fetchResponse = message(
  'FetchResponse',
  { key: 1, versions: '4-18', flexible: '12+' },
  {
    throttleTimeMs: int32('0+', { ignorable: true }),
    /** Of the session or the whole request; that of a partition is with the partition. */
    errorCode: errorCode('7+', { ignorable: true }),
    /** 0: no session was made. */
    sessionId: int32('7+', { default: 0 }),
    /** In a session only partitions with news. */
    responses: list('0+', fetchableTopicResponse),
    nodeEndpoints: list('16+', nodeEndpoint, { tag: 0 }),
  },
)
export interface FetchResponse extends Infer<typeof fetchResponse> {}
