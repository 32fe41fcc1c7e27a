import { bool, errorCode, fields, type Infer, int32, int64, list, message, string, uuid } from '../schema.ts'

export const offsetFetchRequestTopics = fields({
  name: string('8-9', { ignorable: true }),
  topicId: uuid('10+', { ignorable: true }),
  partitionIndexes: list('0+', int32),
})
export interface OffsetFetchRequestTopics extends Infer<typeof offsetFetchRequestTopics> {}

export const offsetFetchRequestGroup = fields({
  groupId: string('0+'),
  memberId: string('9+', { nullable: '0+', default: null, ignorable: true }),
  memberEpoch: int32('9+', { default: -1, ignorable: true }),
  topics: list('0+', offsetFetchRequestTopics, { nullable: '0+' }),
})
export interface OffsetFetchRequestGroup extends Infer<typeof offsetFetchRequestGroup> {}

export const offsetFetchRequest = message(
  'OffsetFetchRequest',
  { key: 9, versions: '1-10', flexible: '6+' },
  {
    groupId: string('0-7'),
    topics: list(
      '0-7',
      {
        name: string('0+'),
        partitionIndexes: list('0+', int32),
      },
      { nullable: '2-7' },
    ),
    /** Since version 8. */
    groups: list('8+', offsetFetchRequestGroup),
    /** Partitions with pending transactional offsets get an error instead of an older offset. */
    requireStable: bool('7+', { default: false }),
  },
)
export interface OffsetFetchRequest extends Infer<typeof offsetFetchRequest> {}

export const offsetFetchResponsePartition = fields({
  partitionIndex: int32('0+'),
  /** -1 if the group has none. */
  committedOffset: int64('0+'),
  committedLeaderEpoch: int32('5-7', { default: -1, ignorable: true }),
  metadata: string('0+', { nullable: '0+' }),
  errorCode: errorCode('0+'),
})
export interface OffsetFetchResponsePartition extends Infer<typeof offsetFetchResponsePartition> {}

export const offsetFetchResponseTopic = fields({
  name: string('0+'),
  partitions: list('0+', offsetFetchResponsePartition),
})
export interface OffsetFetchResponseTopic extends Infer<typeof offsetFetchResponseTopic> {}

export const offsetFetchResponsePartitions = fields({
  partitionIndex: int32('0+'),
  /** -1 if the group has none. */
  committedOffset: int64('0+'),
  committedLeaderEpoch: int32('0+', { default: -1, ignorable: true }),
  metadata: string('0+', { nullable: '0+' }),
  errorCode: errorCode('0+'),
})
export interface OffsetFetchResponsePartitions extends Infer<typeof offsetFetchResponsePartitions> {}

export const offsetFetchResponseTopics = fields({
  name: string('8-9', { ignorable: true }),
  topicId: uuid('10+', { ignorable: true }),
  partitions: list('0+', offsetFetchResponsePartitions),
})
export interface OffsetFetchResponseTopics extends Infer<typeof offsetFetchResponseTopics> {}

export const offsetFetchResponseGroup = fields({
  groupId: string('0+'),
  topics: list('0+', offsetFetchResponseTopics),
  errorCode: errorCode('0+', { default: 0 }),
})
export interface OffsetFetchResponseGroup extends Infer<typeof offsetFetchResponseGroup> {}

export const offsetFetchResponse = message(
  'OffsetFetchResponse',
  { key: 9, versions: '1-10', flexible: '6+' },
  {
    throttleTimeMs: int32('3+', { ignorable: true }),
    topics: list('0-7', offsetFetchResponseTopic),
    errorCode: errorCode('2-7', { default: 0, ignorable: true }),
    groups: list('8+', offsetFetchResponseGroup),
  },
)
export interface OffsetFetchResponse extends Infer<typeof offsetFetchResponse> {}
