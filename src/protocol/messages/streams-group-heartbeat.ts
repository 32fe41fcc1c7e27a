import {
  bool,
  errorCode,
  fields,
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

export const keyValue = fields({
  key: string('0+'),
  value: string('0+'),
})
export interface KeyValue extends Infer<typeof keyValue> {}

export const topicInfo = fields({
  name: string('0+'),
  partitions: int32('0+'),
  replicationFactor: int16('0+'),
  topicConfigs: list('0+', keyValue),
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

export const topology = fields({
  epoch: int32('0+'),
  subtopologies: list('0+', subtopology),
})
export interface Topology extends Infer<typeof topology> {}

export const taskIds = fields({
  subtopologyId: string('0+'),
  partitions: list('0+', int32),
})
export interface TaskIds extends Infer<typeof taskIds> {}

export const endpoint = fields({
  host: string('0+'),
  port: uint16('0+'),
})
export interface Endpoint extends Infer<typeof endpoint> {}

export const taskOffset = fields({
  subtopologyId: string('0+'),
  partition: int32('0+'),
  offset: int64('0+'),
})
export interface TaskOffset extends Infer<typeof taskOffset> {}

export const streamsGroupHeartbeatRequest = message(
  'StreamsGroupHeartbeatRequest',
  { key: 88, versions: '0-1', flexible: '0+' },
  {
    groupId: string('0+'),
    memberId: string('0+'),
    memberEpoch: int32('0+'),
    endpointInformationEpoch: int32('0+'),
    instanceId: string('0+', { nullable: '0+', default: null }),
    rackId: string('0+', { nullable: '0+', default: null }),
    rebalanceTimeoutMs: int32('0+', { default: -1 }),
    topology: struct('0+', topology, { nullable: '0+', default: null }),
    activeTasks: list('0+', taskIds, { nullable: '0+', default: null }),
    standbyTasks: list('0+', taskIds, { nullable: '0+', default: null }),
    warmupTasks: list('0+', taskIds, { nullable: '0+', default: null }),
    processId: string('0+', { nullable: '0+', default: null }),
    userEndpoint: struct('0+', endpoint, { nullable: '0+', default: null }),
    clientTags: list('0+', keyValue, { nullable: '0+', default: null }),
    taskOffsets: list('0+', taskOffset, { nullable: '0+', default: null }),
    taskEndOffsets: list('0+', taskOffset, { nullable: '0+', default: null }),
    shutdownApplication: bool('0+', { default: false }),
  },
)
export interface StreamsGroupHeartbeatRequest extends Infer<typeof streamsGroupHeartbeatRequest> {}

export const status = fields({
  statusCode: int8('0+'),
  statusDetail: string('0+'),
})
export interface Status extends Infer<typeof status> {}

export const topicPartition = fields({
  topic: string('0+'),
  partitions: list('0+', int32),
})
export interface TopicPartition extends Infer<typeof topicPartition> {}

export const endpointToPartitions = fields({
  userEndpoint: struct('0+', endpoint),
  activePartitions: list('0+', topicPartition),
  standbyPartitions: list('0+', topicPartition),
})
export interface EndpointToPartitions extends Infer<typeof endpointToPartitions> {}

export const streamsGroupHeartbeatResponse = message(
  'StreamsGroupHeartbeatResponse',
  { key: 88, versions: '0-1', flexible: '0+' },
  {
    throttleTimeMs: int32('0+'),
    errorCode: errorCode('0+'),
    errorMessage: string('0+', { nullable: '0+', default: null }),
    memberId: string('0+'),
    memberEpoch: int32('0+'),
    heartbeatIntervalMs: int32('0+'),
    acceptableRecoveryLagLegacy: int32('0'),
    taskOffsetIntervalMs: int32('0+'),
    acceptableRecoveryLag: int64('1+', { default: -1, ignorable: true }),
    status: list('0+', status, { nullable: '0+' }),
    activeTasks: list('0+', taskIds, { nullable: '0+', default: null }),
    standbyTasks: list('0+', taskIds, { nullable: '0+', default: null }),
    warmupTasks: list('0+', taskIds, { nullable: '0+', default: null }),
    topologyDescriptionRequired: bool('1+', { default: false }),
    endpointInformationEpoch: int32('0+'),
    partitionsByUserEndpoint: list('0+', endpointToPartitions, { nullable: '0+', default: null }),
  },
)
export interface StreamsGroupHeartbeatResponse extends Infer<typeof streamsGroupHeartbeatResponse> {}
