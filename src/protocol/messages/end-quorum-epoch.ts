import { errorCode, fields, type Infer, int32, list, message, string, uint16, uuid } from '../schema.ts'

export const partitionData = fields({
  partitionIndex: int32('0+'),
  leaderId: int32('0+'),
  leaderEpoch: int32('0+'),
  preferredSuccessors: list('0', int32, { ignorable: true }),
  preferredCandidates: list(
    '1+',
    {
      candidateId: int32('1+'),
      candidateDirectoryId: uuid('1+'),
    },
    { ignorable: true },
  ),
})
export interface PartitionData extends Infer<typeof partitionData> {}

export const topicData = fields({
  topicName: string('0+'),
  partitions: list('0+', partitionData),
})
export interface TopicData extends Infer<typeof topicData> {}

export const leaderEndpoint = fields({
  name: string('1+'),
  host: string('1+'),
  port: uint16('1+'),
})
export interface LeaderEndpoint extends Infer<typeof leaderEndpoint> {}

export const endQuorumEpochRequest = message(
  'EndQuorumEpochRequest',
  { key: 54, versions: '0-1', flexible: '1+' },
  {
    clusterId: string('0+', { nullable: '0+', default: null }),
    topics: list('0+', topicData),
    leaderEndpoints: list('1+', leaderEndpoint, { ignorable: true }),
  },
)
export interface EndQuorumEpochRequest extends Infer<typeof endQuorumEpochRequest> {}

export const partitionDataResponse = fields({
  partitionIndex: int32('0+'),
  errorCode: errorCode('0+'),
  leaderId: int32('0+'),
  leaderEpoch: int32('0+'),
})
export interface PartitionDataResponse extends Infer<typeof partitionDataResponse> {}

export const topicDataResponse = fields({
  topicName: string('0+'),
  partitions: list('0+', partitionDataResponse),
})
export interface TopicDataResponse extends Infer<typeof topicDataResponse> {}

export const nodeEndpoint = fields({
  nodeId: int32('1+'),
  host: string('1+'),
  port: uint16('1+'),
})
export interface NodeEndpoint extends Infer<typeof nodeEndpoint> {}

export const endQuorumEpochResponse = message(
  'EndQuorumEpochResponse',
  { key: 54, versions: '0-1', flexible: '1+' },
  {
    errorCode: errorCode('0+'),
    topics: list('0+', topicDataResponse),
    nodeEndpoints: list('1+', nodeEndpoint, { tag: 0 }),
  },
)
export interface EndQuorumEpochResponse extends Infer<typeof endQuorumEpochResponse> {}
