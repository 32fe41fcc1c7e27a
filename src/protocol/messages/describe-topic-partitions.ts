import { bool, errorCode, fields, type Infer, int32, list, message, string, struct, uuid } from '../schema.ts'

export const describeTopicPartitionsRequest = message(
  'DescribeTopicPartitionsRequest',
  { key: 75, versions: '0', flexible: '0+' },
  {
    topics: list('0+', {
      name: string('0+'),
    }),
    responsePartitionLimit: int32('0+', { default: 2000 }),
    /** Where the last answer ended. */
    cursor: struct(
      '0+',
      {
        topicName: string('0+'),
        partitionIndex: int32('0+'),
      },
      { nullable: '0+', default: null },
    ),
  },
)
export interface DescribeTopicPartitionsRequest extends Infer<typeof describeTopicPartitionsRequest> {}

export const describeTopicPartitionsResponsePartition = fields({
  errorCode: errorCode('0+'),
  partitionIndex: int32('0+'),
  leaderId: int32('0+'),
  leaderEpoch: int32('0+', { default: -1, ignorable: true }),
  replicaNodes: list('0+', int32),
  isrNodes: list('0+', int32),
  /** May lead without loss though not in sync; null if unknown. */
  eligibleLeaderReplicas: list('0+', int32, { nullable: '0+', default: null }),
  lastKnownElr: list('0+', int32, { nullable: '0+', default: null }),
  offlineReplicas: list('0+', int32, { ignorable: true }),
})
export interface DescribeTopicPartitionsResponsePartition
  extends Infer<typeof describeTopicPartitionsResponsePartition> {}

export const describeTopicPartitionsResponseTopic = fields({
  errorCode: errorCode('0+'),
  name: string('0+', { nullable: '0+' }),
  topicId: uuid('0+', { ignorable: true }),
  isInternal: bool('0+', { default: false, ignorable: true }),
  partitions: list('0+', describeTopicPartitionsResponsePartition),
  topicAuthorizedOperations: int32('0+', { default: -2147483648 }),
})
export interface DescribeTopicPartitionsResponseTopic extends Infer<typeof describeTopicPartitionsResponseTopic> {}

export const describeTopicPartitionsResponse = message(
  'DescribeTopicPartitionsResponse',
  { key: 75, versions: '0', flexible: '0+' },
  {
    throttleTimeMs: int32('0+', { ignorable: true }),
    topics: list('0+', describeTopicPartitionsResponseTopic),
    /** Ask again from here; null at the end. */
    nextCursor: struct(
      '0+',
      {
        topicName: string('0+'),
        partitionIndex: int32('0+'),
      },
      { nullable: '0+', default: null },
    ),
  },
)
export interface DescribeTopicPartitionsResponse extends Infer<typeof describeTopicPartitionsResponse> {}
