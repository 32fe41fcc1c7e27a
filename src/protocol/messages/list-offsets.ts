import { errorCode, fields, type Infer, int8, int32, int64, list, message, string, timestamp64 } from '../schema.ts'

export const listOffsetsPartition = fields({
  partitionIndex: int32('0+'),
  currentLeaderEpoch: int32('4+', { default: -1, ignorable: true }),
  timestamp: timestamp64('0+'),
})
export interface ListOffsetsPartition extends Infer<typeof listOffsetsPartition> {}

export const listOffsetsTopic = fields({
  name: string('0+'),
  partitions: list('0+', listOffsetsPartition),
})
export interface ListOffsetsTopic extends Infer<typeof listOffsetsTopic> {}

export const listOffsetsRequest = message(
  'ListOffsetsRequest',
  { key: 2, versions: '1-11', flexible: '6+' },
  {
    replicaId: int32('0+'),
    isolationLevel: int8('2+'),
    topics: list('0+', listOffsetsTopic),
    timeoutMs: int32('10+', { ignorable: true }),
  },
)
export interface ListOffsetsRequest extends Infer<typeof listOffsetsRequest> {}

export const listOffsetsPartitionResponse = fields({
  partitionIndex: int32('0+'),
  errorCode: errorCode('0+'),
  timestamp: timestamp64('1+', { default: -1n }),
  offset: int64('1+', { default: -1 }),
  leaderEpoch: int32('4+', { default: -1 }),
})
export interface ListOffsetsPartitionResponse extends Infer<typeof listOffsetsPartitionResponse> {}

export const listOffsetsTopicResponse = fields({
  name: string('0+'),
  partitions: list('0+', listOffsetsPartitionResponse),
})
export interface ListOffsetsTopicResponse extends Infer<typeof listOffsetsTopicResponse> {}

export const listOffsetsResponse = message(
  'ListOffsetsResponse',
  { key: 2, versions: '1-11', flexible: '6+' },
  {
    throttleTimeMs: int32('2+', { ignorable: true }),
    topics: list('0+', listOffsetsTopicResponse),
  },
)
export interface ListOffsetsResponse extends Infer<typeof listOffsetsResponse> {}
