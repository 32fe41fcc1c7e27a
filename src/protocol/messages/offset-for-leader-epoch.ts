import { errorCode, fields, type Infer, int32, int64, list, message, string } from '../schema.ts'

export const offsetForLeaderPartition = fields({
  partition: int32('0+'),
  currentLeaderEpoch: int32('2+', { default: -1, ignorable: true }),
  leaderEpoch: int32('0+'),
})
export interface OffsetForLeaderPartition extends Infer<typeof offsetForLeaderPartition> {}

export const offsetForLeaderTopic = fields({
  topic: string('0+'),
  partitions: list('0+', offsetForLeaderPartition),
})
export interface OffsetForLeaderTopic extends Infer<typeof offsetForLeaderTopic> {}

export const offsetForLeaderEpochRequest = message(
  'OffsetForLeaderEpochRequest',
  { key: 23, versions: '2-4', flexible: '4+' },
  {
    replicaId: int32('3+', { default: -2, ignorable: true }),
    topics: list('0+', offsetForLeaderTopic),
  },
)
export interface OffsetForLeaderEpochRequest extends Infer<typeof offsetForLeaderEpochRequest> {}

export const epochEndOffset = fields({
  errorCode: errorCode('0+'),
  partition: int32('0+'),
  leaderEpoch: int32('1+', { default: -1, ignorable: true }),
  endOffset: int64('0+', { default: -1 }),
})
export interface EpochEndOffset extends Infer<typeof epochEndOffset> {}

export const offsetForLeaderTopicResult = fields({
  topic: string('0+'),
  partitions: list('0+', epochEndOffset),
})
export interface OffsetForLeaderTopicResult extends Infer<typeof offsetForLeaderTopicResult> {}

export const offsetForLeaderEpochResponse = message(
  'OffsetForLeaderEpochResponse',
  { key: 23, versions: '2-4', flexible: '4+' },
  {
    throttleTimeMs: int32('2+', { ignorable: true }),
    topics: list('0+', offsetForLeaderTopicResult),
  },
)
export interface OffsetForLeaderEpochResponse extends Infer<typeof offsetForLeaderEpochResponse> {}
