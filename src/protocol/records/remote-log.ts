import {
  bool,
  bytes,
  fields,
  type Infer,
  int8,
  int32,
  int64,
  list,
  message,
  string,
  struct,
  timestamp64,
  uuid,
} from '../schema.ts'

export const topicIdPartitionEntry = fields({
  name: string('0+'),
  id: uuid('0+'),
  partition: int32('0+'),
})
export interface TopicIdPartitionEntry extends Infer<typeof topicIdPartitionEntry> {}

export const remoteLogSegmentIdEntry = fields({
  topicIdPartition: struct('0+', topicIdPartitionEntry),
  id: uuid('0+'),
})
export interface RemoteLogSegmentIdEntry extends Infer<typeof remoteLogSegmentIdEntry> {}

export const remoteLogSegmentMetadataRecord = message(
  'RemoteLogSegmentMetadataRecord',
  { key: 0, versions: '0', flexible: '0+' },
  {
    remoteLogSegmentId: struct('0+', remoteLogSegmentIdEntry),
    startOffset: int64('0+'),
    endOffset: int64('0+'),
    brokerId: int32('0+'),
    maxTimestampMs: timestamp64('0+'),
    eventTimestampMs: int64('0+'),
    segmentLeaderEpochs: list('0+', {
      leaderEpoch: int32('0+'),
      offset: int64('0+'),
    }),
    segmentSizeInBytes: int32('0+'),
    customMetadata: bytes('0+', { nullable: '0+', default: null }),
    remoteLogSegmentState: int8('0+'),
    txnIndexEmpty: bool('0+', { tag: 0 }),
  },
)
export interface RemoteLogSegmentMetadataRecord extends Infer<typeof remoteLogSegmentMetadataRecord> {}

export const remoteLogSegmentMetadataUpdateRecord = message(
  'RemoteLogSegmentMetadataUpdateRecord',
  { key: 1, versions: '0', flexible: '0+' },
  {
    remoteLogSegmentId: struct('0+', remoteLogSegmentIdEntry),
    brokerId: int32('0+'),
    eventTimestampMs: int64('0+'),
    customMetadata: bytes('0+', { nullable: '0+', default: null }),
    remoteLogSegmentState: int8('0+'),
  },
)
export interface RemoteLogSegmentMetadataUpdateRecord extends Infer<typeof remoteLogSegmentMetadataUpdateRecord> {}

export const remotePartitionDeleteMetadataRecord = message(
  'RemotePartitionDeleteMetadataRecord',
  { key: 2, versions: '0', flexible: '0+' },
  {
    topicIdPartition: struct('0+', topicIdPartitionEntry),
    brokerId: int32('0+'),
    eventTimestampMs: int64('0+'),
    remotePartitionDeleteState: int8('0+'),
  },
)
export interface RemotePartitionDeleteMetadataRecord extends Infer<typeof remotePartitionDeleteMetadataRecord> {}

export const remoteLogSegmentMetadataSnapshotRecord = message(
  'RemoteLogSegmentMetadataSnapshotRecord',
  { key: 3, versions: '0', flexible: '0+' },
  {
    segmentId: uuid('0+'),
    startOffset: int64('0+'),
    endOffset: int64('0+'),
    brokerId: int32('0+'),
    maxTimestampMs: timestamp64('0+'),
    eventTimestampMs: int64('0+'),
    segmentLeaderEpochs: list('0+', {
      leaderEpoch: int32('0+'),
      offset: int64('0+'),
    }),
    segmentSizeInBytes: int32('0+'),
    customMetadata: bytes('0+', { nullable: '0+', default: null }),
    remoteLogSegmentState: int8('0+'),
    txnIndexEmpty: bool('0+', { tag: 0 }),
  },
)
export interface RemoteLogSegmentMetadataSnapshotRecord extends Infer<typeof remoteLogSegmentMetadataSnapshotRecord> {}
