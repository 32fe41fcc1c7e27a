import { errorCode, fields, type Infer, int32, int64, list, message, string, uuid } from '../schema.ts'

export const offsetCommitRequestPartition = fields({
  partitionIndex: int32('0+'),
  committedOffset: int64('0+'),
  committedLeaderEpoch: int32('6+', { default: -1, ignorable: true }),
  committedMetadata: string('0+', { nullable: '0+' }),
})
export interface OffsetCommitRequestPartition extends Infer<typeof offsetCommitRequestPartition> {}

export const offsetCommitRequestTopic = fields({
  name: string('0-9', { ignorable: true }),
  topicId: uuid('10+', { ignorable: true }),
  partitions: list('0+', offsetCommitRequestPartition),
})
export interface OffsetCommitRequestTopic extends Infer<typeof offsetCommitRequestTopic> {}

export const offsetCommitRequest = message(
  'OffsetCommitRequest',
  { key: 8, versions: '2-10', flexible: '8+' },
  {
    groupId: string('0+'),
    generationIdOrMemberEpoch: int32('1+', { default: -1, ignorable: true }),
    memberId: string('1+', { ignorable: true }),
    groupInstanceId: string('7+', { nullable: '7+', default: null }),
    retentionTimeMs: int64('2-4', { default: -1, ignorable: true }),
    topics: list('0+', offsetCommitRequestTopic),
  },
)
export interface OffsetCommitRequest extends Infer<typeof offsetCommitRequest> {}

export const offsetCommitResponseTopic = fields({
  name: string('0-9', { ignorable: true }),
  topicId: uuid('10+', { ignorable: true }),
  partitions: list('0+', {
    partitionIndex: int32('0+'),
    errorCode: errorCode('0+'),
  }),
})
export interface OffsetCommitResponseTopic extends Infer<typeof offsetCommitResponseTopic> {}

export const offsetCommitResponse = message(
  'OffsetCommitResponse',
  { key: 8, versions: '2-10', flexible: '8+' },
  {
    throttleTimeMs: int32('3+', { ignorable: true }),
    topics: list('0+', offsetCommitResponseTopic),
  },
)
export interface OffsetCommitResponse extends Infer<typeof offsetCommitResponse> {}
