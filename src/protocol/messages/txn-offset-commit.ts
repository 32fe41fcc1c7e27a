import { errorCode, fields, type Infer, int16, int32, int64, list, message, string, uuid } from '../schema.ts'

export const txnOffsetCommitRequestPartition = fields({
  partitionIndex: int32('0+'),
  committedOffset: int64('0+'),
  committedLeaderEpoch: int32('2+', { default: -1, ignorable: true }),
  committedMetadata: string('0+', { nullable: '0+' }),
})
export interface TxnOffsetCommitRequestPartition extends Infer<typeof txnOffsetCommitRequestPartition> {}

export const txnOffsetCommitRequestTopic = fields({
  name: string('0-5', { ignorable: true }),
  topicId: uuid('6+', { ignorable: true }),
  partitions: list('0+', txnOffsetCommitRequestPartition),
})
export interface TxnOffsetCommitRequestTopic extends Infer<typeof txnOffsetCommitRequestTopic> {}

export const txnOffsetCommitRequest = message(
  'TxnOffsetCommitRequest',
  { key: 28, versions: '0-6', flexible: '3+' },
  {
    transactionalId: string('0+'),
    groupId: string('0+'),
    producerId: int64('0+'),
    producerEpoch: int16('0+'),
    generationIdOrMemberEpoch: int32('3+', { default: -1 }),
    memberId: string('3+', { default: '' }),
    groupInstanceId: string('3+', { nullable: '3+', default: null }),
    topics: list('0+', txnOffsetCommitRequestTopic),
  },
)
export interface TxnOffsetCommitRequest extends Infer<typeof txnOffsetCommitRequest> {}

export const txnOffsetCommitResponseTopic = fields({
  name: string('0-5', { ignorable: true }),
  topicId: uuid('6+', { ignorable: true }),
  partitions: list('0+', {
    partitionIndex: int32('0+'),
    errorCode: errorCode('0+'),
  }),
})
export interface TxnOffsetCommitResponseTopic extends Infer<typeof txnOffsetCommitResponseTopic> {}

export const txnOffsetCommitResponse = message(
  'TxnOffsetCommitResponse',
  { key: 28, versions: '0-6', flexible: '3+' },
  {
    throttleTimeMs: int32('0+'),
    topics: list('0+', txnOffsetCommitResponseTopic),
  },
)
export interface TxnOffsetCommitResponse extends Infer<typeof txnOffsetCommitResponse> {}
