import { errorCode, fields, type Infer, int32, int64, list, message, string, timestamp64 } from '../schema.ts'

export const describeProducersRequest = message(
  'DescribeProducersRequest',
  { key: 61, versions: '0', flexible: '0+' },
  {
    topics: list('0+', {
      name: string('0+'),
      partitionIndexes: list('0+', int32),
    }),
  },
)
export interface DescribeProducersRequest extends Infer<typeof describeProducersRequest> {}

export const producerState = fields({
  producerId: int64('0+'),
  producerEpoch: int32('0+'),
  lastSequence: int32('0+', { default: -1 }),
  lastTimestamp: timestamp64('0+', { default: -1n }),
  coordinatorEpoch: int32('0+'),
  currentTxnStartOffset: int64('0+', { default: -1 }),
})
export interface ProducerState extends Infer<typeof producerState> {}

export const partitionResponse = fields({
  partitionIndex: int32('0+'),
  errorCode: errorCode('0+'),
  errorMessage: string('0+', { nullable: '0+', default: null }),
  activeProducers: list('0+', producerState),
})
export interface PartitionResponse extends Infer<typeof partitionResponse> {}

export const topicResponse = fields({
  name: string('0+'),
  partitions: list('0+', partitionResponse),
})
export interface TopicResponse extends Infer<typeof topicResponse> {}

export const describeProducersResponse = message(
  'DescribeProducersResponse',
  { key: 61, versions: '0', flexible: '0+' },
  {
    throttleTimeMs: int32('0+'),
    topics: list('0+', topicResponse),
  },
)
export interface DescribeProducersResponse extends Infer<typeof describeProducersResponse> {}
