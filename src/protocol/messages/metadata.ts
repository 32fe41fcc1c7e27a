import { bool, errorCode, fields, type Infer, int32, list, message, string, uuid } from '../schema.ts'

export const metadataRequest = message(
  'MetadataRequest',
  { key: 3, versions: '0-13', flexible: '9+' },
  {
    /** Null: all topics; none: none. In version 0 none means all. */
    topics: list(
      '0+',
      {
        topicId: uuid('10+', { ignorable: true }),
        name: string('0+', { nullable: '10+' }),
      },
      { nullable: '1+' },
    ),
    /** Create what does not exist, if the broker does so too. */
    allowAutoTopicCreation: bool('4+', { default: true }),
    includeClusterAuthorizedOperations: bool('8-10'),
    includeTopicAuthorizedOperations: bool('8+'),
  },
)
export interface MetadataRequest extends Infer<typeof metadataRequest> {}

export const metadataResponseBroker = fields({
  nodeId: int32('0+'),
  host: string('0+'),
  port: int32('0+'),
  rack: string('1+', { nullable: '0+', default: null, ignorable: true }),
})
export interface MetadataResponseBroker extends Infer<typeof metadataResponseBroker> {}

export const metadataResponsePartition = fields({
  errorCode: errorCode('0+'),
  partitionIndex: int32('0+'),
  /** -1 if there is none. */
  leaderId: int32('0+'),
  leaderEpoch: int32('7+', { default: -1, ignorable: true }),
  /** The preferred leader first. */
  replicaNodes: list('0+', int32),
  /** Replicas in sync. */
  isrNodes: list('0+', int32),
  offlineReplicas: list('5+', int32, { ignorable: true }),
})
export interface MetadataResponsePartition extends Infer<typeof metadataResponsePartition> {}

export const metadataResponseTopic = fields({
  errorCode: errorCode('0+'),
  name: string('0+', { nullable: '12+' }),
  topicId: uuid('10+', { ignorable: true }),
  isInternal: bool('1+', { default: false, ignorable: true }),
  partitions: list('0+', metadataResponsePartition),
  /** Bits by ACL operation; the least int32 if not asked for. */
  topicAuthorizedOperations: int32('8+', { default: -2147483648 }),
})
export interface MetadataResponseTopic extends Infer<typeof metadataResponseTopic> {}

export const metadataResponse = message(
  'MetadataResponse',
  { key: 3, versions: '0-13', flexible: '9+' },
  {
    throttleTimeMs: int32('3+', { ignorable: true }),
    brokers: list('0+', metadataResponseBroker),
    clusterId: string('2+', { nullable: '0+', default: null, ignorable: true }),
    /** -1 if unknown. A broker that is no controller names any broker. */
    controllerId: int32('1+', { default: -1, ignorable: true }),
    topics: list('0+', metadataResponseTopic),
    /** Bits by ACL operation; the least int32 if not asked for. */
    clusterAuthorizedOperations: int32('8-10', { default: -2147483648 }),
    errorCode: errorCode('13+', { ignorable: true }),
  },
)
export interface MetadataResponse extends Infer<typeof metadataResponse> {}
