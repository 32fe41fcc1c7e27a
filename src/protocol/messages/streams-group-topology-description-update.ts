import { errorCode, fields, type Infer, int8, int32, list, message, string, struct } from '../schema.ts'

export const topologyDescriptionNode = fields({
  name: string('0+'),
  nodeType: int8('0+'),
  sourceTopics: list('0+', string),
  sinkTopic: string('0+', { nullable: '0+', default: null }),
  stores: list('0+', string),
  successors: list('0+', string),
})
export interface TopologyDescriptionNode extends Infer<typeof topologyDescriptionNode> {}

export const topologyDescriptionSubtopology = fields({
  subtopologyId: string('0+'),
  nodes: list('0+', topologyDescriptionNode),
})
export interface TopologyDescriptionSubtopology extends Infer<typeof topologyDescriptionSubtopology> {}

export const topologyDescriptionGlobalStore = fields({
  source: struct('0+', topologyDescriptionNode),
  processor: struct('0+', topologyDescriptionNode),
})
export interface TopologyDescriptionGlobalStore extends Infer<typeof topologyDescriptionGlobalStore> {}

export const topologyDescription = fields({
  subtopologies: list('0+', topologyDescriptionSubtopology),
  globalStores: list('0+', topologyDescriptionGlobalStore),
})
export interface TopologyDescription extends Infer<typeof topologyDescription> {}

export const streamsGroupTopologyDescriptionUpdateRequest = message(
  'StreamsGroupTopologyDescriptionUpdateRequest',
  { key: 93, versions: '0', flexible: '0+' },
  {
    groupId: string('0+'),
    memberId: string('0+'),
    topologyEpoch: int32('0+'),
    topologyDescription: struct('0+', topologyDescription),
  },
)
export interface StreamsGroupTopologyDescriptionUpdateRequest
  extends Infer<typeof streamsGroupTopologyDescriptionUpdateRequest> {}

export const streamsGroupTopologyDescriptionUpdateResponse = message(
  'StreamsGroupTopologyDescriptionUpdateResponse',
  { key: 93, versions: '0', flexible: '0+' },
  {
    throttleTimeMs: int32('0+'),
    errorCode: errorCode('0+'),
    errorMessage: string('0+', { nullable: '0+', default: null }),
  },
)
export interface StreamsGroupTopologyDescriptionUpdateResponse
  extends Infer<typeof streamsGroupTopologyDescriptionUpdateResponse> {}
