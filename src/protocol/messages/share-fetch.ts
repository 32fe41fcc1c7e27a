import {
  bool,
  errorCode,
  fields,
  type Infer,
  int8,
  int16,
  int32,
  int64,
  list,
  message,
  records,
  string,
  struct,
  uuid,
} from '../schema.ts'

export const acknowledgementBatch = fields({
  firstOffset: int64('0+'),
  lastOffset: int64('0+'),
  acknowledgeTypes: list('0+', int8),
})
export interface AcknowledgementBatch extends Infer<typeof acknowledgementBatch> {}

export const fetchPartition = fields({
  partitionIndex: int32('0+'),
  partitionMaxBytes: int32('0'),
  acknowledgementBatches: list('0+', acknowledgementBatch),
})
export interface FetchPartition extends Infer<typeof fetchPartition> {}

export const fetchTopic = fields({
  topicId: uuid('0+'),
  partitions: list('0+', fetchPartition),
})
export interface FetchTopic extends Infer<typeof fetchTopic> {}

export const shareFetchRequest = message(
  'ShareFetchRequest',
  { key: 78, versions: '1-2', flexible: '0+' },
  {
    groupId: string('0+', { nullable: '0+', default: null }),
    memberId: string('0+', { nullable: '0+' }),
    shareSessionEpoch: int32('0+'),
    maxWaitMs: int32('0+'),
    minBytes: int32('0+'),
    maxBytes: int32('0+', { default: 2147483647 }),
    maxRecords: int32('1+'),
    batchSize: int32('1+'),
    shareAcquireMode: int8('2+', { default: 0, ignorable: true }),
    isRenewAck: bool('2+', { default: false }),
    topics: list('0+', fetchTopic),
    forgottenTopicsData: list('0+', {
      topicId: uuid('0+'),
      partitions: list('0+', int32),
    }),
  },
)
export interface ShareFetchRequest extends Infer<typeof shareFetchRequest> {}

export const acquiredRecords = fields({
  firstOffset: int64('0+'),
  lastOffset: int64('0+'),
  deliveryCount: int16('0+'),
})
export interface AcquiredRecords extends Infer<typeof acquiredRecords> {}

export const partitionData = fields({
  partitionIndex: int32('0+'),
  errorCode: errorCode('0+'),
  errorMessage: string('0+', { nullable: '0+', default: null }),
  acknowledgeErrorCode: errorCode('0+'),
  acknowledgeErrorMessage: string('0+', { nullable: '0+', default: null }),
  currentLeader: struct('0+', {
    leaderId: int32('0+'),
    leaderEpoch: int32('0+'),
  }),
  records: records('0+', { nullable: '0' }),
  acquiredRecords: list('0+', acquiredRecords),
})
export interface PartitionData extends Infer<typeof partitionData> {}

export const shareFetchableTopicResponse = fields({
  topicId: uuid('0+'),
  partitions: list('0+', partitionData),
})
export interface ShareFetchableTopicResponse extends Infer<typeof shareFetchableTopicResponse> {}

export const nodeEndpoint = fields({
  nodeId: int32('0+'),
  host: string('0+'),
  port: int32('0+'),
  rack: string('0+', { nullable: '0+', default: null }),
})
export interface NodeEndpoint extends Infer<typeof nodeEndpoint> {}

export const shareFetchResponse = message(
  'ShareFetchResponse',
  { key: 78, versions: '1-2', flexible: '0+' },
  {
    throttleTimeMs: int32('0+'),
    errorCode: errorCode('0+'),
    errorMessage: string('0+', { nullable: '0+', default: null }),
    acquisitionLockTimeoutMs: int32('1+'),
    responses: list('0+', shareFetchableTopicResponse),
    nodeEndpoints: list('0+', nodeEndpoint),
  },
)
export interface ShareFetchResponse extends Infer<typeof shareFetchResponse> {}
