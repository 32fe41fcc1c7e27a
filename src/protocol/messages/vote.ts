import { bool, errorCode, fields, type Infer, int32, int64, list, message, string, uint16, uuid } from '../schema.ts'

export const partitionData = fields({
  partitionIndex: int32('0+'),
  replicaEpoch: int32('0+'),
  replicaId: int32('0+'),
  replicaDirectoryId: uuid('1+', { ignorable: true }),
  voterDirectoryId: uuid('1+', { ignorable: true }),
  lastOffsetEpoch: int32('0+'),
  /** The candidate's log end offset. */
  lastOffset: int64('0+'),
  /** Asks whether a vote could be won, without moving to a new epoch. */
  preVote: bool('2+'),
})
export interface PartitionData extends Infer<typeof partitionData> {}

export const topicData = fields({
  topicName: string('0+'),
  partitions: list('0+', partitionData),
})
export interface TopicData extends Infer<typeof topicData> {}

export const voteRequest = message(
  'VoteRequest',
  { key: 52, versions: '0-2', flexible: '0+' },
  {
    clusterId: string('0+', { nullable: '0+', default: null }),
    voterId: int32('1+', { default: -1, ignorable: true }),
    topics: list('0+', topicData),
  },
)
export interface VoteRequest extends Infer<typeof voteRequest> {}

export const partitionDataResponse = fields({
  partitionIndex: int32('0+'),
  errorCode: errorCode('0+'),
  leaderId: int32('0+'),
  leaderEpoch: int32('0+'),
  voteGranted: bool('0+'),
})
export interface PartitionDataResponse extends Infer<typeof partitionDataResponse> {}

export const topicDataResponse = fields({
  topicName: string('0+'),
  partitions: list('0+', partitionDataResponse),
})
export interface TopicDataResponse extends Infer<typeof topicDataResponse> {}

export const nodeEndpoint = fields({
  nodeId: int32('0+'),
  host: string('0+'),
  port: uint16('0+'),
})
export interface NodeEndpoint extends Infer<typeof nodeEndpoint> {}

export const voteResponse = message(
  'VoteResponse',
  { key: 52, versions: '0-2', flexible: '0+' },
  {
    errorCode: errorCode('0+'),
    topics: list('0+', topicDataResponse),
    nodeEndpoints: list('1+', nodeEndpoint, { tag: 0 }),
  },
)
export interface VoteResponse extends Infer<typeof voteResponse> {}
