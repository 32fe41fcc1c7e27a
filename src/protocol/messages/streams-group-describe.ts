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

export const streamsGroupDescribeRequest = message(
  'StreamsGroupDescribeRequest',
  { key: 89, versions: '0-1', flexible: '0+' },
  {
    groupIds: list('0+', string),
    includeAuthorizedOperations: bool('0+'),
    includeTopologyDescription: bool('1+', { default: false }),
  },
)
export interface StreamsGroupDescribeRequest extends Infer<typeof streamsGroupDescribeRequest> {}

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

export const subtopology = fields({
  subtopologyId: string('0+'),
  sourceTopics: list('0+', string),
  repartitionSinkTopics: list('0+', string),
  stateChangelogTopics: list('0+', topicInfo),
  repartitionSourceTopics: list('0+', topicInfo),
})
export interface Subtopology extends Infer<typeof subtopology> {}

export const topology = fields({
  epoch: int32('0+'),
  subtopologies: list('0+', subtopology, { nullable: '0+', default: null }),
})
export interface Topology extends Infer<typeof topology> {}

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

export const taskIds = fields({
  subtopologyId: string('0+'),
  partitions: list('0+', int32),
})
export interface TaskIds extends Infer<typeof taskIds> {}

export const assignment = fields({
  activeTasks: list('0+', taskIds),
  standbyTasks: list('0+', taskIds),
  warmupTasks: list('0+', taskIds),
})
export interface Assignment extends Infer<typeof assignment> {}

export const member = fields({
  memberId: string('0+'),
  memberEpoch: int32('0+'),
  instanceId: string('0+', { nullable: '0+', default: null }),
  rackId: string('0+', { nullable: '0+', default: null }),
  clientId: string('0+'),
  clientHost: string('0+'),
  topologyEpoch: int32('0+'),
  processId: string('0+'),
  userEndpoint: struct('0+', endpoint, { nullable: '0+', default: null }),
  clientTags: list('0+', keyValue),
  taskOffsets: list('0+', taskOffset),
  taskEndOffsets: list('0+', taskOffset),
  assignment: struct('0+', assignment),
  targetAssignment: struct('0+', assignment),
  isClassic: bool('0+'),
})
export interface Member extends Infer<typeof member> {}

export const topologyDescriptionNode = fields({
  name: string('1+'),
  nodeType: int8('1+'),
  sourceTopics: list('1+', string),
  sinkTopic: string('1+', { nullable: '1+', default: null }),
  stores: list('1+', string),
  successors: list('1+', string),
})
export interface TopologyDescriptionNode extends Infer<typeof topologyDescriptionNode> {}

export const topologyDescriptionSubtopology = fields({
  subtopologyId: string('1+'),
  nodes: list('1+', topologyDescriptionNode),
})
export interface TopologyDescriptionSubtopology extends Infer<typeof topologyDescriptionSubtopology> {}

export const topologyDescriptionGlobalStore = fields({
  source: struct('1+', topologyDescriptionNode),
  processor: struct('1+', topologyDescriptionNode),
})
export interface TopologyDescriptionGlobalStore extends Infer<typeof topologyDescriptionGlobalStore> {}

export const topologyDescription = fields({
  subtopologies: list('1+', topologyDescriptionSubtopology),
  globalStores: list('1+', topologyDescriptionGlobalStore),
})
export interface TopologyDescription extends Infer<typeof topologyDescription> {}

export const describedGroup = fields({
  errorCode: errorCode('0+'),
  errorMessage: string('0+', { nullable: '0+', default: null }),
  groupId: string('0+'),
  groupState: string('0+'),
  groupEpoch: int32('0+'),
  assignmentEpoch: int32('0+'),
  topology: struct('0+', topology, { nullable: '0+', default: null }),
  members: list('0+', member),
  authorizedOperations: int32('0+', { default: -2147483648 }),
  topologyDescription: struct('1+', topologyDescription, { nullable: '1+', default: null }),
  topologyDescriptionStatus: int8('1+', { default: 0 }),
  assignorName: string('1+', { nullable: '1+', default: null, ignorable: true }),
})
export interface DescribedGroup extends Infer<typeof describedGroup> {}

export const streamsGroupDescribeResponse = message(
  'StreamsGroupDescribeResponse',
  { key: 89, versions: '0-1', flexible: '0+' },
  {
    throttleTimeMs: int32('0+'),
    groups: list('0+', describedGroup),
  },
)
export interface StreamsGroupDescribeResponse extends Infer<typeof streamsGroupDescribeResponse> {}
