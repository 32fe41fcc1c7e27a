import { errorCode, fields, type Infer, int32, int64, list, message, string, uuid } from '../schema.ts'

export const offsetCommitRequestPartition = fields({
  partitionIndex: int32('0+'),
  /** The next offset that the group will read. */
  committedOffset: int64('0+'),
  /** Of the last record consumed; -1 if unknown. */
  committedLeaderEpoch: int32('6+', { default: -1, ignorable: true }),
  /** Whatever the member wants to keep with it. */
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
    /** Of the group's protocol: generation (classic) or member epoch; -1 for a consumer that manages itself. */
    generationIdOrMemberEpoch: int32('0+', { default: -1, ignorable: true }),
    memberId: string('0+', { ignorable: true }),
    /** Of a static member. */
    groupInstanceId: string('7+', { nullable: '0+', default: null }),
    /** -1: as the broker is configured. */
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
