import {
  errorCode,
  fields,
  type Infer,
  int32,
  int64,
  list,
  message,
  records,
  string,
  struct,
  uint16,
  uuid,
} from '../schema.ts'

export const partitionSnapshot = fields({
  partition: int32('0+'),
  currentLeaderEpoch: int32('0+'),
  snapshotId: struct('0+', {
    endOffset: int64('0+'),
    epoch: int32('0+'),
  }),
  position: int64('0+'),
  replicaDirectoryId: uuid('1+', { tag: 0, ignorable: true }),
})
export interface PartitionSnapshot extends Infer<typeof partitionSnapshot> {}

export const topicSnapshot = fields({
  name: string('0+'),
  partitions: list('0+', partitionSnapshot),
})
export interface TopicSnapshot extends Infer<typeof topicSnapshot> {}

export const fetchSnapshotRequest = message(
  'FetchSnapshotRequest',
  { key: 59, versions: '0-1', flexible: '0+' },
  {
    clusterId: string('0+', { nullable: '0+', default: null, tag: 0 }),
    replicaId: int32('0+', { default: -1 }),
    maxBytes: int32('0+', { default: 2147483647 }),
    topics: list('0+', topicSnapshot),
  },
)
export interface FetchSnapshotRequest extends Infer<typeof fetchSnapshotRequest> {}

export const partitionSnapshotResponse = fields({
  index: int32('0+'),
  errorCode: errorCode('0+'),
  snapshotId: struct('0+', {
    endOffset: int64('0+'),
    epoch: int32('0+'),
  }),
  currentLeader: struct(
    '0+',
    {
      leaderId: int32('0+'),
      leaderEpoch: int32('0+'),
    },
    { tag: 0 },
  ),
  size: int64('0+'),
  position: int64('0+'),
  unalignedRecords: records('0+'),
})
export interface PartitionSnapshotResponse extends Infer<typeof partitionSnapshotResponse> {}

export const topicSnapshotResponse = fields({
  name: string('0+'),
  partitions: list('0+', partitionSnapshotResponse),
})
export interface TopicSnapshotResponse extends Infer<typeof topicSnapshotResponse> {}

export const nodeEndpoint = fields({
  nodeId: int32('1+'),
  host: string('1+'),
  port: uint16('1+'),
})
export interface NodeEndpoint extends Infer<typeof nodeEndpoint> {}

export const fetchSnapshotResponse = message(
  'FetchSnapshotResponse',
  { key: 59, versions: '0-1', flexible: '0+' },
  {
    throttleTimeMs: int32('0+', { ignorable: true }),
    errorCode: errorCode('0+'),
    topics: list('0+', topicSnapshotResponse),
    nodeEndpoints: list('1+', nodeEndpoint, { tag: 0 }),
  },
)
export interface FetchSnapshotResponse extends Infer<typeof fetchSnapshotResponse> {}
