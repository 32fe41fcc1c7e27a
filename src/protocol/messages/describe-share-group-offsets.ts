import { errorCode, fields, type Infer, int32, int64, list, message, string, uuid } from '../schema.ts'

export const describeShareGroupOffsetsRequestGroup = fields({
  groupId: string('0+'),
  topics: list(
    '0+',
    {
      topicName: string('0+'),
      partitions: list('0+', int32),
    },
    { nullable: '0+' },
  ),
})
export interface DescribeShareGroupOffsetsRequestGroup extends Infer<typeof describeShareGroupOffsetsRequestGroup> {}

export const describeShareGroupOffsetsRequest = message(
  'DescribeShareGroupOffsetsRequest',
  { key: 90, versions: '0-1', flexible: '0+' },
  {
    groups: list('0+', describeShareGroupOffsetsRequestGroup),
  },
)
export interface DescribeShareGroupOffsetsRequest extends Infer<typeof describeShareGroupOffsetsRequest> {}

export const describeShareGroupOffsetsResponsePartition = fields({
  partitionIndex: int32('0+'),
  startOffset: int64('0+'),
  leaderEpoch: int32('0+'),
  lag: int64('1+', { default: -1, ignorable: true }),
  errorCode: errorCode('0+'),
  errorMessage: string('0+', { nullable: '0+', default: null }),
})
export interface DescribeShareGroupOffsetsResponsePartition
  extends Infer<typeof describeShareGroupOffsetsResponsePartition> {}

export const describeShareGroupOffsetsResponseTopic = fields({
  topicName: string('0+'),
  topicId: uuid('0+'),
  partitions: list('0+', describeShareGroupOffsetsResponsePartition),
})
export interface DescribeShareGroupOffsetsResponseTopic extends Infer<typeof describeShareGroupOffsetsResponseTopic> {}

export const describeShareGroupOffsetsResponseGroup = fields({
  groupId: string('0+'),
  topics: list('0+', describeShareGroupOffsetsResponseTopic),
  errorCode: errorCode('0+'),
  errorMessage: string('0+', { nullable: '0+', default: null }),
})
export interface DescribeShareGroupOffsetsResponseGroup extends Infer<typeof describeShareGroupOffsetsResponseGroup> {}

export const describeShareGroupOffsetsResponse = message(
  'DescribeShareGroupOffsetsResponse',
  { key: 90, versions: '0-1', flexible: '0+' },
  {
    throttleTimeMs: int32('0+'),
    groups: list('0+', describeShareGroupOffsetsResponseGroup),
  },
)
export interface DescribeShareGroupOffsetsResponse extends Infer<typeof describeShareGroupOffsetsResponse> {}
