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
  currentLeaderEpoch: int32('9+', { default: -1, ignorable: true }),
  fetchOffset: int64('0+'),
  lastFetchedEpoch: int32('12+', { default: -1 }),
  logStartOffset: int64('5+', { default: -1, ignorable: true }),
  partitionMaxBytes: int32('0+'),
  replicaDirectoryId: uuid('17+', { tag: 0, ignorable: true }),
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
  partitions: list('7+', int32),
})
export interface ForgottenTopic extends Infer<typeof forgottenTopic> {}

export const fetchRequest = message(
  'FetchRequest',
  { key: 1, versions: '4-18', flexible: '12+' },
  {
    clusterId: string('12+', { nullable: '12+', default: null, tag: 0, ignorable: true }),
    replicaId: int32('0-14', { default: -1 }),
    replicaState: struct(
      '15+',
      {
        replicaId: int32('15+', { default: -1 }),
        replicaEpoch: int64('15+', { default: -1 }),
      },
      { tag: 1 },
    ),
    maxWaitMs: int32('0+'),
    minBytes: int32('0+'),
    maxBytes: int32('3+', { default: 2147483647, ignorable: true }),
    isolationLevel: int8('4+', { default: 0, ignorable: true }),
    sessionId: int32('7+', { default: 0, ignorable: true }),
    sessionEpoch: int32('7+', { default: -1, ignorable: true }),
    topics: list('0+', fetchTopic),
    forgottenTopicsData: list('7+', forgottenTopic),
    rackId: string('11+', { default: '', ignorable: true }),
  },
)
export interface FetchRequest extends Infer<typeof fetchRequest> {}

export const partitionData = fields({
  partitionIndex: int32('0+'),
  errorCode: errorCode('0+'),
  highWatermark: int64('0+'),
  lastStableOffset: int64('4+', { default: -1, ignorable: true }),
  logStartOffset: int64('5+', { default: -1, ignorable: true }),
  divergingEpoch: struct(
    '12+',
    {
      epoch: int32('12+', { default: -1 }),
      endOffset: int64('12+', { default: -1 }),
    },
    { tag: 0 },
  ),
  currentLeader: struct(
    '12+',
    {
      leaderId: int32('12+', { default: -1 }),
      leaderEpoch: int32('12+', { default: -1 }),
    },
    { tag: 1 },
  ),
  snapshotId: struct(
    '12+',
    {
      endOffset: int64('0+', { default: -1 }),
      epoch: int32('0+', { default: -1 }),
    },
    { tag: 2 },
  ),
  abortedTransactions: list(
    '4+',
    {
      producerId: int64('4+'),
      firstOffset: int64('4+'),
    },
    { nullable: '4+', ignorable: true },
  ),
  preferredReadReplica: int32('11+', { default: -1 }),
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
  nodeId: int32('16+'),
  host: string('16+'),
  port: int32('16+'),
  rack: string('16+', { nullable: '16+', default: null }),
})
export interface NodeEndpoint extends Infer<typeof nodeEndpoint> {}

export const fetchResponse = message(
  'FetchResponse',
  { key: 1, versions: '4-18', flexible: '12+' },
  {
    throttleTimeMs: int32('1+', { ignorable: true }),
    errorCode: errorCode('7+', { ignorable: true }),
    sessionId: int32('7+', { default: 0 }),
    responses: list('0+', fetchableTopicResponse),
    nodeEndpoints: list('16+', nodeEndpoint, { tag: 0 }),
  },
)
export interface FetchResponse extends Infer<typeof fetchResponse> {}
