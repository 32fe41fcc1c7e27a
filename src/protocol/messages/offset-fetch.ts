import { bool, errorCode, fields, type Infer, int32, int64, list, message, string, uuid } from '../schema.ts'

export const offsetFetchRequestTopics = fields({
  name: string('8-9', { ignorable: true }),
  topicId: uuid('10+', { ignorable: true }),
  partitionIndexes: list('8+', int32),
})
export interface OffsetFetchRequestTopics extends Infer<typeof offsetFetchRequestTopics> {}

export const offsetFetchRequestGroup = fields({
  groupId: string('8+'),
  memberId: string('9+', { nullable: '9+', default: null, ignorable: true }),
  memberEpoch: int32('9+', { default: -1, ignorable: true }),
  topics: list('8+', offsetFetchRequestTopics, { nullable: '8+' }),
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
        name: string('0-7'),
        partitionIndexes: list('0-7', int32),
      },
      { nullable: '2-7' },
    ),
    groups: list('8+', offsetFetchRequestGroup),
    requireStable: bool('7+', { default: false }),
  },
)
export interface OffsetFetchRequest extends Infer<typeof offsetFetchRequest> {}

export const offsetFetchResponsePartition = fields({
  partitionIndex: int32('0-7'),
  committedOffset: int64('0-7'),
  committedLeaderEpoch: int32('5-7', { default: -1, ignorable: true }),
  metadata: string('0-7', { nullable: '0-7' }),
  errorCode: errorCode('0-7'),
})
export interface OffsetFetchResponsePartition extends Infer<typeof offsetFetchResponsePartition> {}

export const offsetFetchResponseTopic = fields({
  name: string('0-7'),
  partitions: list('0-7', offsetFetchResponsePartition),
})
export interface OffsetFetchResponseTopic extends Infer<typeof offsetFetchResponseTopic> {}

export const offsetFetchResponsePartitions = fields({
  partitionIndex: int32('8+'),
  committedOffset: int64('8+'),
  committedLeaderEpoch: int32('8+', { default: -1, ignorable: true }),
  metadata: string('8+', { nullable: '8+' }),
  errorCode: errorCode('8+'),
})
export interface OffsetFetchResponsePartitions extends Infer<typeof offsetFetchResponsePartitions> {}

export const offsetFetchResponseTopics = fields({
  name: string('8-9', { ignorable: true }),
  topicId: uuid('10+', { ignorable: true }),
  partitions: list('8+', offsetFetchResponsePartitions),
})
export interface OffsetFetchResponseTopics extends Infer<typeof offsetFetchResponseTopics> {}

export const offsetFetchResponseGroup = fields({
  groupId: string('8+'),
  topics: list('8+', offsetFetchResponseTopics),
  errorCode: errorCode('8+', { default: 0 }),
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
