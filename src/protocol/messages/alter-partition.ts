import { errorCode, fields, type Infer, int8, int32, int64, list, message, uuid } from '../schema.ts'

export const partitionData = fields({
  partitionIndex: int32('0+'),
  leaderEpoch: int32('0+'),
  newIsr: list('0-2', int32),
  /** The in-sync replicas wanted, each with the broker epoch it had when it caught up. */
  newIsrWithEpochs: list('3+', {
    brokerId: int32('0+'),
    brokerEpoch: int64('0+', { default: -1 }),
  }),
  leaderRecoveryState: int8('0+', { default: 0 }),
  partitionEpoch: int32('0+'),
})
export interface PartitionData extends Infer<typeof partitionData> {}

export const topicData = fields({
  topicId: uuid('0+', { ignorable: true }),
  partitions: list('0+', partitionData),
})
export interface TopicData extends Infer<typeof topicData> {}

export const alterPartitionRequest = message(
  'AlterPartitionRequest',
  { key: 56, versions: '2-3', flexible: '0+' },
  {
    brokerId: int32('0+'),
    brokerEpoch: int64('0+', { default: -1 }),
    topics: list('0+', topicData),
  },
)
export interface AlterPartitionRequest extends Infer<typeof alterPartitionRequest> {}

export const partitionDataResponse = fields({
  partitionIndex: int32('0+'),
  errorCode: errorCode('0+'),
  leaderId: int32('0+'),
  leaderEpoch: int32('0+'),
  isr: list('0+', int32),
  leaderRecoveryState: int8('0+', { default: 0, ignorable: true }),
  partitionEpoch: int32('0+'),
})
export interface PartitionDataResponse extends Infer<typeof partitionDataResponse> {}

export const topicDataResponse = fields({
  topicId: uuid('0+', { ignorable: true }),
  partitions: list('0+', partitionDataResponse),
})
export interface TopicDataResponse extends Infer<typeof topicDataResponse> {}

export const alterPartitionResponse = message(
  'AlterPartitionResponse',
  { key: 56, versions: '2-3', flexible: '0+' },
  {
    throttleTimeMs: int32('0+'),
    errorCode: errorCode('0+'),
    topics: list('0+', topicDataResponse),
  },
)
export interface AlterPartitionResponse extends Infer<typeof alterPartitionResponse> {}
