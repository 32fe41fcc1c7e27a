import { errorCode, fields, type Infer, int32, int64, list, message, string, uint16, uuid } from '../schema.ts'

export const topicData = fields({
  topicName: string('0+'),
  partitions: list('0+', {
    partitionIndex: int32('0+'),
  }),
})
export interface TopicData extends Infer<typeof topicData> {}

export const describeQuorumRequest = message(
  'DescribeQuorumRequest',
  { key: 55, versions: '0-2', flexible: '0+' },
  {
    topics: list('0+', topicData),
  },
)
export interface DescribeQuorumRequest extends Infer<typeof describeQuorumRequest> {}

export const replicaState = fields({
  replicaId: int32('0+'),
  replicaDirectoryId: uuid('2+'),
  logEndOffset: int64('0+'),
  lastFetchTimestamp: int64('1+', { default: -1, ignorable: true }),
  lastCaughtUpTimestamp: int64('1+', { default: -1, ignorable: true }),
})
export interface ReplicaState extends Infer<typeof replicaState> {}

export const partitionData = fields({
  partitionIndex: int32('0+'),
  errorCode: errorCode('0+'),
  errorMessage: string('2+', { nullable: '2+', ignorable: true }),
  leaderId: int32('0+'),
  leaderEpoch: int32('0+'),
  highWatermark: int64('0+'),
  currentVoters: list('0+', replicaState),
  observers: list('0+', replicaState),
})
export interface PartitionData extends Infer<typeof partitionData> {}

export const topicDataResponse = fields({
  topicName: string('0+'),
  partitions: list('0+', partitionData),
})
export interface TopicDataResponse extends Infer<typeof topicDataResponse> {}

export const listener = fields({
  name: string('2+'),
  host: string('2+'),
  port: uint16('2+'),
})
export interface Listener extends Infer<typeof listener> {}

export const node = fields({
  nodeId: int32('2+'),
  listeners: list('2+', listener),
})
export interface Node extends Infer<typeof node> {}

export const describeQuorumResponse = message(
  'DescribeQuorumResponse',
  { key: 55, versions: '0-2', flexible: '0+' },
  {
    errorCode: errorCode('0+'),
    errorMessage: string('2+', { nullable: '2+', ignorable: true }),
    topics: list('0+', topicDataResponse),
    nodes: list('2+', node),
  },
)
export interface DescribeQuorumResponse extends Infer<typeof describeQuorumResponse> {}
