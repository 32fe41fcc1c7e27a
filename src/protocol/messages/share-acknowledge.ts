import {
  bool,
  errorCode,
  fields,
  type Infer,
  int8,
  int32,
  int64,
  list,
  message,
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

export const acknowledgePartition = fields({
  partitionIndex: int32('0+'),
  acknowledgementBatches: list('0+', acknowledgementBatch),
})
export interface AcknowledgePartition extends Infer<typeof acknowledgePartition> {}

export const acknowledgeTopic = fields({
  topicId: uuid('0+'),
  partitions: list('0+', acknowledgePartition),
})
export interface AcknowledgeTopic extends Infer<typeof acknowledgeTopic> {}

export const shareAcknowledgeRequest = message(
  'ShareAcknowledgeRequest',
  { key: 79, versions: '1-2', flexible: '0+' },
  {
    groupId: string('0+', { nullable: '0+', default: null }),
    memberId: string('0+', { nullable: '0+' }),
    shareSessionEpoch: int32('0+'),
    isRenewAck: bool('2+', { default: false }),
    topics: list('0+', acknowledgeTopic),
  },
)
export interface ShareAcknowledgeRequest extends Infer<typeof shareAcknowledgeRequest> {}

export const partitionData = fields({
  partitionIndex: int32('0+'),
  errorCode: errorCode('0+'),
  errorMessage: string('0+', { nullable: '0+', default: null }),
  currentLeader: struct('0+', {
    leaderId: int32('0+'),
    leaderEpoch: int32('0+'),
  }),
})
export interface PartitionData extends Infer<typeof partitionData> {}

export const shareAcknowledgeTopicResponse = fields({
  topicId: uuid('0+'),
  partitions: list('0+', partitionData),
})
export interface ShareAcknowledgeTopicResponse extends Infer<typeof shareAcknowledgeTopicResponse> {}

export const nodeEndpoint = fields({
  nodeId: int32('0+'),
  host: string('0+'),
  port: int32('0+'),
  rack: string('0+', { nullable: '0+', default: null }),
})
export interface NodeEndpoint extends Infer<typeof nodeEndpoint> {}

export const shareAcknowledgeResponse = message(
  'ShareAcknowledgeResponse',
  { key: 79, versions: '1-2', flexible: '0+' },
  {
    throttleTimeMs: int32('0+'),
    errorCode: errorCode('0+'),
    errorMessage: string('0+', { nullable: '0+', default: null }),
    acquisitionLockTimeoutMs: int32('2+', { ignorable: true }),
    responses: list('0+', shareAcknowledgeTopicResponse),
    nodeEndpoints: list('0+', nodeEndpoint),
  },
)
export interface ShareAcknowledgeResponse extends Infer<typeof shareAcknowledgeResponse> {}
