import { errorCode, fields, type Infer, int32, int64, list, message, string, uuid } from '../schema.ts'

export const alterShareGroupOffsetsRequestTopic = fields({
  topicName: string('0+'),
  partitions: list('0+', {
    partitionIndex: int32('0+'),
    startOffset: int64('0+'),
  }),
})
export interface AlterShareGroupOffsetsRequestTopic extends Infer<typeof alterShareGroupOffsetsRequestTopic> {}

export const alterShareGroupOffsetsRequest = message(
  'AlterShareGroupOffsetsRequest',
  { key: 91, versions: '0', flexible: '0+' },
  {
    groupId: string('0+'),
    topics: list('0+', alterShareGroupOffsetsRequestTopic),
  },
)
export interface AlterShareGroupOffsetsRequest extends Infer<typeof alterShareGroupOffsetsRequest> {}

export const alterShareGroupOffsetsResponsePartition = fields({
  partitionIndex: int32('0+'),
  errorCode: errorCode('0+'),
  errorMessage: string('0+', { nullable: '0+', default: null }),
})
export interface AlterShareGroupOffsetsResponsePartition
  extends Infer<typeof alterShareGroupOffsetsResponsePartition> {}

export const alterShareGroupOffsetsResponseTopic = fields({
  topicName: string('0+'),
  topicId: uuid('0+'),
  partitions: list('0+', alterShareGroupOffsetsResponsePartition),
})
export interface AlterShareGroupOffsetsResponseTopic extends Infer<typeof alterShareGroupOffsetsResponseTopic> {}

export const alterShareGroupOffsetsResponse = message(
  'AlterShareGroupOffsetsResponse',
  { key: 91, versions: '0', flexible: '0+' },
  {
    throttleTimeMs: int32('0+'),
    errorCode: errorCode('0+'),
    errorMessage: string('0+', { nullable: '0+', default: null }),
    responses: list('0+', alterShareGroupOffsetsResponseTopic),
  },
)
export interface AlterShareGroupOffsetsResponse extends Infer<typeof alterShareGroupOffsetsResponse> {}
