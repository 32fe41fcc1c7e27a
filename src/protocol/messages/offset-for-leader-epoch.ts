import { errorCode, fields, type Infer, int32, int64, list, message, string } from '../schema.ts'

export const offsetForLeaderPartition = fields({
  partition: int32('0+'),
  /** The one the asker knows, to be fenced by. */
  currentLeaderEpoch: int32('0+', { default: -1, ignorable: true }),
  /** The epoch whose end is asked for. */
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
    /** -1 for a consumer, -2 for a tool. */
    replicaId: int32('3+', { default: -2, ignorable: true }),
    topics: list('0+', offsetForLeaderTopic),
  },
)
export interface OffsetForLeaderEpochRequest extends Infer<typeof offsetForLeaderEpochRequest> {}

export const epochEndOffset = fields({
  errorCode: errorCode('0+'),
  partition: int32('0+'),
  /** The largest epoch not above the one asked for; -1 if there is none. */
  leaderEpoch: int32('0+', { default: -1, ignorable: true }),
  /** Where that epoch ends, exclusive; -1 if unknown. */
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
    throttleTimeMs: int32('0+', { ignorable: true }),
    topics: list('0+', offsetForLeaderTopicResult),
  },
)
export interface OffsetForLeaderEpochResponse extends Infer<typeof offsetForLeaderEpochResponse> {}
