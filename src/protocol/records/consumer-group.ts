import {
  bytes,
  fields,
  hash64,
  type Infer,
  int8,
  int32,
  int64,
  list,
  message,
  string,
  struct,
  uuid,
} from '../schema.ts'

export const consumerGroupMetadataKey = message(
  'ConsumerGroupMetadataKey',
  { key: 3, versions: '0', flexible: 'none' },
  {
    groupId: string('0+'),
  },
)
export interface ConsumerGroupMetadataKey extends Infer<typeof consumerGroupMetadataKey> {}

export const consumerGroupMetadataValue = message(
  'ConsumerGroupMetadataValue',
  { key: 3, versions: '0', flexible: '0+' },
  {
    epoch: int32('0+'),
    metadataHash: hash64('0+', { default: 0n, tag: 0 }),
  },
)
export interface ConsumerGroupMetadataValue extends Infer<typeof consumerGroupMetadataValue> {}

export const consumerGroupPartitionMetadataKey = message(
  'ConsumerGroupPartitionMetadataKey',
  { key: 4, versions: '0', flexible: 'none' },
  {
    groupId: string('0+'),
  },
)
export interface ConsumerGroupPartitionMetadataKey extends Infer<typeof consumerGroupPartitionMetadataKey> {}

export const topicMetadata = fields({
  topicId: uuid('0+'),
  topicName: string('0+'),
  numPartitions: int32('0+'),
  partitionMetadata: list('0+', {
    partition: int32('0+'),
    racks: list('0+', string),
  }),
})
export interface TopicMetadata extends Infer<typeof topicMetadata> {}

export const consumerGroupPartitionMetadataValue = message(
  'ConsumerGroupPartitionMetadataValue',
  { key: 4, versions: '0', flexible: '0+' },
  {
    topics: list('0+', topicMetadata),
  },
)
export interface ConsumerGroupPartitionMetadataValue extends Infer<typeof consumerGroupPartitionMetadataValue> {}

export const consumerGroupMemberMetadataKey = message(
  'ConsumerGroupMemberMetadataKey',
  { key: 5, versions: '0', flexible: 'none' },
  {
    groupId: string('0+'),
    memberId: string('0+'),
  },
)
export interface ConsumerGroupMemberMetadataKey extends Infer<typeof consumerGroupMemberMetadataKey> {}

export const classicMemberMetadata = fields({
  sessionTimeoutMs: int32('0+'),
  supportedProtocols: list('0+', {
    name: string('0+'),
    metadata: bytes('0+'),
  }),
})
export interface ClassicMemberMetadata extends Infer<typeof classicMemberMetadata> {}

export const consumerGroupMemberMetadataValue = message(
  'ConsumerGroupMemberMetadataValue',
  { key: 5, versions: '0', flexible: '0+' },
  {
    instanceId: string('0+', { nullable: '0+' }),
    rackId: string('0+', { nullable: '0+' }),
    clientId: string('0+'),
    clientHost: string('0+'),
    subscribedTopicNames: list('0+', string),
    subscribedTopicRegex: string('0+', { nullable: '0+' }),
    rebalanceTimeoutMs: int32('0+', { default: -1 }),
    serverAssignor: string('0+', { nullable: '0+' }),
    classicMemberMetadata: struct('0+', classicMemberMetadata, { nullable: '0+', tag: 0 }),
  },
)
export interface ConsumerGroupMemberMetadataValue extends Infer<typeof consumerGroupMemberMetadataValue> {}

export const consumerGroupTargetAssignmentMetadataKey = message(
  'ConsumerGroupTargetAssignmentMetadataKey',
  { key: 6, versions: '0', flexible: 'none' },
  {
    groupId: string('0+'),
  },
)
export interface ConsumerGroupTargetAssignmentMetadataKey
  extends Infer<typeof consumerGroupTargetAssignmentMetadataKey> {}

export const consumerGroupTargetAssignmentMetadataValue = message(
  'ConsumerGroupTargetAssignmentMetadataValue',
  { key: 6, versions: '0', flexible: '0+' },
  {
    assignmentEpoch: int32('0+'),
    assignmentTimestamp: int64('0+', { default: 0, tag: 0, ignorable: true }),
  },
)
export interface ConsumerGroupTargetAssignmentMetadataValue
  extends Infer<typeof consumerGroupTargetAssignmentMetadataValue> {}

export const consumerGroupTargetAssignmentMemberKey = message(
  'ConsumerGroupTargetAssignmentMemberKey',
  { key: 7, versions: '0', flexible: 'none' },
  {
    groupId: string('0+'),
    memberId: string('0+'),
  },
)
export interface ConsumerGroupTargetAssignmentMemberKey extends Infer<typeof consumerGroupTargetAssignmentMemberKey> {}

export const consumerGroupTargetAssignmentMemberValue = message(
  'ConsumerGroupTargetAssignmentMemberValue',
  { key: 7, versions: '0', flexible: '0+' },
  {
    topicPartitions: list('0+', {
      topicId: uuid('0+'),
      partitions: list('0+', int32),
    }),
  },
)
export interface ConsumerGroupTargetAssignmentMemberValue
  extends Infer<typeof consumerGroupTargetAssignmentMemberValue> {}

export const consumerGroupCurrentMemberAssignmentKey = message(
  'ConsumerGroupCurrentMemberAssignmentKey',
  { key: 8, versions: '0', flexible: 'none' },
  {
    groupId: string('0+'),
    memberId: string('0+'),
  },
)
export interface ConsumerGroupCurrentMemberAssignmentKey
  extends Infer<typeof consumerGroupCurrentMemberAssignmentKey> {}

export const topicPartitions = fields({
  topicId: uuid('0+'),
  partitions: list('0+', int32),
  assignmentEpochs: list('0+', int32, { nullable: '0+', tag: 0 }),
})
export interface TopicPartitions extends Infer<typeof topicPartitions> {}

export const consumerGroupCurrentMemberAssignmentValue = message(
  'ConsumerGroupCurrentMemberAssignmentValue',
  { key: 8, versions: '0', flexible: '0+' },
  {
    memberEpoch: int32('0+'),
    previousMemberEpoch: int32('0+'),
    state: int8('0+'),
    assignedPartitions: list('0+', topicPartitions),
    partitionsPendingRevocation: list('0+', topicPartitions),
  },
)
export interface ConsumerGroupCurrentMemberAssignmentValue
  extends Infer<typeof consumerGroupCurrentMemberAssignmentValue> {}

export const consumerGroupRegularExpressionKey = message(
  'ConsumerGroupRegularExpressionKey',
  { key: 16, versions: '0', flexible: 'none' },
  {
    groupId: string('0+'),
    regularExpression: string('0+'),
  },
)
export interface ConsumerGroupRegularExpressionKey extends Infer<typeof consumerGroupRegularExpressionKey> {}

export const consumerGroupRegularExpressionValue = message(
  'ConsumerGroupRegularExpressionValue',
  { key: 16, versions: '0', flexible: '0+' },
  {
    topics: list('0+', string),
    version: int64('0+'),
    timestamp: int64('0+'),
  },
)
export interface ConsumerGroupRegularExpressionValue extends Infer<typeof consumerGroupRegularExpressionValue> {}
