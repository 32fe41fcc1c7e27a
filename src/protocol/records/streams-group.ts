import {
  fields,
  hash64,
  type Infer,
  int8,
  int16,
  int32,
  int64,
  list,
  message,
  string,
  struct,
  uint16,
} from '../schema.ts'

export const streamsGroupMetadataKey = message(
  'StreamsGroupMetadataKey',
  { key: 17, versions: '0', flexible: 'none' },
  {
    groupId: string('0+'),
  },
)
export interface StreamsGroupMetadataKey extends Infer<typeof streamsGroupMetadataKey> {}

export const lastAssignmentConfig = fields({
  key: string('0+'),
  value: string('0+'),
})
export interface LastAssignmentConfig extends Infer<typeof lastAssignmentConfig> {}

export const streamsGroupMetadataValue = message(
  'StreamsGroupMetadataValue',
  { key: 17, versions: '0', flexible: '0+' },
  {
    epoch: int32('0+'),
    metadataHash: hash64('0+'),
    validatedTopologyEpoch: int32('0+', { default: -1, tag: 0 }),
    lastAssignmentConfigs: list('0+', lastAssignmentConfig, { nullable: '0+', tag: 1 }),
    storedDescriptionTopologyEpoch: int32('0+', { default: -1, tag: 2 }),
    failedDescriptionTopologyEpoch: int32('0+', { default: -1, tag: 3 }),
  },
)
export interface StreamsGroupMetadataValue extends Infer<typeof streamsGroupMetadataValue> {}

export const streamsGroupMemberMetadataKey = message(
  'StreamsGroupMemberMetadataKey',
  { key: 19, versions: '0', flexible: 'none' },
  {
    groupId: string('0+'),
    memberId: string('0+'),
  },
)
export interface StreamsGroupMemberMetadataKey extends Infer<typeof streamsGroupMemberMetadataKey> {}

export const endpoint = fields({
  host: string('0+'),
  port: uint16('0+'),
})
export interface Endpoint extends Infer<typeof endpoint> {}

export const keyValue = fields({
  key: string('0+'),
  value: string('0+'),
})
export interface KeyValue extends Infer<typeof keyValue> {}

export const streamsGroupMemberMetadataValue = message(
  'StreamsGroupMemberMetadataValue',
  { key: 19, versions: '0', flexible: '0+' },
  {
    instanceId: string('0+', { nullable: '0+' }),
    rackId: string('0+', { nullable: '0+' }),
    clientId: string('0+'),
    clientHost: string('0+'),
    rebalanceTimeoutMs: int32('0+', { default: -1 }),
    topologyEpoch: int32('0+'),
    processId: string('0+'),
    userEndpoint: struct('0+', endpoint, { nullable: '0+', default: null }),
    clientTags: list('0+', keyValue),
  },
)
export interface StreamsGroupMemberMetadataValue extends Infer<typeof streamsGroupMemberMetadataValue> {}

export const streamsGroupTargetAssignmentMetadataKey = message(
  'StreamsGroupTargetAssignmentMetadataKey',
  { key: 20, versions: '0', flexible: 'none' },
  {
    groupId: string('0+'),
  },
)
export interface StreamsGroupTargetAssignmentMetadataKey
  extends Infer<typeof streamsGroupTargetAssignmentMetadataKey> {}

export const streamsGroupTargetAssignmentMetadataValue = message(
  'StreamsGroupTargetAssignmentMetadataValue',
  { key: 20, versions: '0', flexible: '0+' },
  {
    assignmentEpoch: int32('0+'),
    assignmentTimestamp: int64('0+', { default: 0, tag: 0, ignorable: true }),
  },
)
export interface StreamsGroupTargetAssignmentMetadataValue
  extends Infer<typeof streamsGroupTargetAssignmentMetadataValue> {}

export const streamsGroupTargetAssignmentMemberKey = message(
  'StreamsGroupTargetAssignmentMemberKey',
  { key: 21, versions: '0', flexible: 'none' },
  {
    groupId: string('0+'),
    memberId: string('0+'),
  },
)
export interface StreamsGroupTargetAssignmentMemberKey extends Infer<typeof streamsGroupTargetAssignmentMemberKey> {}

export const taskIds = fields({
  subtopologyId: string('0+'),
  partitions: list('0+', int32),
})
export interface TaskIds extends Infer<typeof taskIds> {}

export const streamsGroupTargetAssignmentMemberValue = message(
  'StreamsGroupTargetAssignmentMemberValue',
  { key: 21, versions: '0', flexible: '0+' },
  {
    activeTasks: list('0+', taskIds),
    standbyTasks: list('0+', taskIds),
    warmupTasks: list('0+', taskIds),
  },
)
export interface StreamsGroupTargetAssignmentMemberValue
  extends Infer<typeof streamsGroupTargetAssignmentMemberValue> {}

export const streamsGroupCurrentMemberAssignmentKey = message(
  'StreamsGroupCurrentMemberAssignmentKey',
  { key: 22, versions: '0', flexible: 'none' },
  {
    groupId: string('0+'),
    memberId: string('0+'),
  },
)
export interface StreamsGroupCurrentMemberAssignmentKey extends Infer<typeof streamsGroupCurrentMemberAssignmentKey> {}

export const taskIdsWithEpochs = fields({
  subtopologyId: string('0+'),
  partitions: list('0+', int32),
  assignmentEpochs: list('0+', int32, { nullable: '0+', tag: 0 }),
})
export interface TaskIdsWithEpochs extends Infer<typeof taskIdsWithEpochs> {}

export const streamsGroupCurrentMemberAssignmentValue = message(
  'StreamsGroupCurrentMemberAssignmentValue',
  { key: 22, versions: '0', flexible: '0+' },
  {
    memberEpoch: int32('0+'),
    previousMemberEpoch: int32('0+'),
    state: int8('0+'),
    activeTasks: list('0+', taskIdsWithEpochs),
    standbyTasks: list('0+', taskIdsWithEpochs),
    warmupTasks: list('0+', taskIdsWithEpochs),
    activeTasksPendingRevocation: list('0+', taskIdsWithEpochs),
    standbyTasksPendingRevocation: list('0+', taskIdsWithEpochs),
    warmupTasksPendingRevocation: list('0+', taskIdsWithEpochs),
  },
)
export interface StreamsGroupCurrentMemberAssignmentValue
  extends Infer<typeof streamsGroupCurrentMemberAssignmentValue> {}

export const streamsGroupTopologyKey = message(
  'StreamsGroupTopologyKey',
  { key: 23, versions: '0', flexible: 'none' },
  {
    groupId: string('0+'),
  },
)
export interface StreamsGroupTopologyKey extends Infer<typeof streamsGroupTopologyKey> {}

export const topicConfig = fields({
  key: string('0+'),
  value: string('0+'),
})
export interface TopicConfig extends Infer<typeof topicConfig> {}

export const topicInfo = fields({
  name: string('0+'),
  partitions: int32('0+'),
  replicationFactor: int16('0+'),
  topicConfigs: list('0+', topicConfig),
})
export interface TopicInfo extends Infer<typeof topicInfo> {}

export const copartitionGroup = fields({
  sourceTopics: list('0+', int16),
  sourceTopicRegex: list('0+', int16),
  repartitionSourceTopics: list('0+', int16),
})
export interface CopartitionGroup extends Infer<typeof copartitionGroup> {}

export const subtopology = fields({
  subtopologyId: string('0+'),
  sourceTopics: list('0+', string),
  sourceTopicRegex: list('0+', string),
  stateChangelogTopics: list('0+', topicInfo),
  repartitionSinkTopics: list('0+', string),
  repartitionSourceTopics: list('0+', topicInfo),
  copartitionGroups: list('0+', copartitionGroup),
})
export interface Subtopology extends Infer<typeof subtopology> {}

export const streamsGroupTopologyValue = message(
  'StreamsGroupTopologyValue',
  { key: 23, versions: '0', flexible: '0+' },
  {
    epoch: int32('0+'),
    subtopologies: list('0+', subtopology),
  },
)
export interface StreamsGroupTopologyValue extends Infer<typeof streamsGroupTopologyValue> {}
