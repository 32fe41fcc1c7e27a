import { fields, hash64, type Infer, int8, int32, int64, list, message, string, uuid } from '../schema.ts'

export const shareGroupMetadataKey = message(
  'ShareGroupMetadataKey',
  { key: 11, versions: '0', flexible: 'none' },
  {
    groupId: string('0+'),
  },
)
export interface ShareGroupMetadataKey extends Infer<typeof shareGroupMetadataKey> {}

export const shareGroupMetadataValue = message(
  'ShareGroupMetadataValue',
  { key: 11, versions: '0', flexible: '0+' },
  {
    epoch: int32('0+'),
    metadataHash: hash64('0+'),
  },
)
export interface ShareGroupMetadataValue extends Infer<typeof shareGroupMetadataValue> {}

export const shareGroupMemberMetadataKey = message(
  'ShareGroupMemberMetadataKey',
  { key: 10, versions: '0', flexible: 'none' },
  {
    groupId: string('0+'),
    memberId: string('0+'),
  },
)
export interface ShareGroupMemberMetadataKey extends Infer<typeof shareGroupMemberMetadataKey> {}

export const shareGroupMemberMetadataValue = message(
  'ShareGroupMemberMetadataValue',
  { key: 10, versions: '0', flexible: '0+' },
  {
    rackId: string('0+', { nullable: '0+' }),
    clientId: string('0+'),
    clientHost: string('0+'),
    subscribedTopicNames: list('0+', string),
  },
)
export interface ShareGroupMemberMetadataValue extends Infer<typeof shareGroupMemberMetadataValue> {}

export const shareGroupTargetAssignmentMetadataKey = message(
  'ShareGroupTargetAssignmentMetadataKey',
  { key: 12, versions: '0', flexible: 'none' },
  {
    groupId: string('0+'),
  },
)
export interface ShareGroupTargetAssignmentMetadataKey extends Infer<typeof shareGroupTargetAssignmentMetadataKey> {}

export const shareGroupTargetAssignmentMetadataValue = message(
  'ShareGroupTargetAssignmentMetadataValue',
  { key: 12, versions: '0', flexible: '0+' },
  {
    assignmentEpoch: int32('0+'),
    assignmentTimestamp: int64('0+', { default: 0, tag: 0, ignorable: true }),
  },
)
export interface ShareGroupTargetAssignmentMetadataValue
  extends Infer<typeof shareGroupTargetAssignmentMetadataValue> {}

export const shareGroupTargetAssignmentMemberKey = message(
  'ShareGroupTargetAssignmentMemberKey',
  { key: 13, versions: '0', flexible: 'none' },
  {
    groupId: string('0+'),
    memberId: string('0+'),
  },
)
export interface ShareGroupTargetAssignmentMemberKey extends Infer<typeof shareGroupTargetAssignmentMemberKey> {}

export const shareGroupTargetAssignmentMemberValue = message(
  'ShareGroupTargetAssignmentMemberValue',
  { key: 13, versions: '0', flexible: '0+' },
  {
    topicPartitions: list('0+', {
      topicId: uuid('0+'),
      partitions: list('0+', int32),
    }),
  },
)
export interface ShareGroupTargetAssignmentMemberValue extends Infer<typeof shareGroupTargetAssignmentMemberValue> {}

export const shareGroupCurrentMemberAssignmentKey = message(
  'ShareGroupCurrentMemberAssignmentKey',
  { key: 14, versions: '0', flexible: 'none' },
  {
    groupId: string('0+'),
    memberId: string('0+'),
  },
)
export interface ShareGroupCurrentMemberAssignmentKey extends Infer<typeof shareGroupCurrentMemberAssignmentKey> {}

export const topicPartitions = fields({
  topicId: uuid('0+'),
  partitions: list('0+', int32),
})
export interface TopicPartitions extends Infer<typeof topicPartitions> {}

export const shareGroupCurrentMemberAssignmentValue = message(
  'ShareGroupCurrentMemberAssignmentValue',
  { key: 14, versions: '0', flexible: '0+' },
  {
    memberEpoch: int32('0+'),
    previousMemberEpoch: int32('0+'),
    state: int8('0+'),
    assignedPartitions: list('0+', topicPartitions),
  },
)
export interface ShareGroupCurrentMemberAssignmentValue extends Infer<typeof shareGroupCurrentMemberAssignmentValue> {}

export const shareGroupStatePartitionMetadataKey = message(
  'ShareGroupStatePartitionMetadataKey',
  { key: 15, versions: '0', flexible: 'none' },
  {
    groupId: string('0+'),
  },
)
export interface ShareGroupStatePartitionMetadataKey extends Infer<typeof shareGroupStatePartitionMetadataKey> {}

export const topicPartitionsInfo = fields({
  topicId: uuid('0+'),
  topicName: string('0+'),
  partitions: list('0+', int32),
})
export interface TopicPartitionsInfo extends Infer<typeof topicPartitionsInfo> {}

export const topicInfo = fields({
  topicId: uuid('0+'),
  topicName: string('0+'),
})
export interface TopicInfo extends Infer<typeof topicInfo> {}

export const shareGroupStatePartitionMetadataValue = message(
  'ShareGroupStatePartitionMetadataValue',
  { key: 15, versions: '0', flexible: '0+' },
  {
    initializingTopics: list('0+', topicPartitionsInfo),
    initializedTopics: list('0+', topicPartitionsInfo),
    deletingTopics: list('0+', topicInfo),
  },
)
export interface ShareGroupStatePartitionMetadataValue extends Infer<typeof shareGroupStatePartitionMetadataValue> {}
