import { int, long, short } from './setting.ts'

/** The group coordinator. */
export const groupSettings = {
  offsetsTopicNumPartitions: int('offsets.topic.num.partitions', {
    default: 50,
    min: 1,
    doc: 'Partitions of __consumer_offsets. Not to be changed once it exists.',
  }),
  offsetsTopicReplicationFactor: short('offsets.topic.replication.factor', {
    default: 3,
    min: 1,
    doc: 'Replicas of __consumer_offsets.',
  }),
  offsetsTopicSegmentBytes: int('offsets.topic.segment.bytes', {
    default: 104_857_600,
    min: 1,
    doc: 'Segment size of __consumer_offsets.',
  }),
  offsetsTopicCompressionCodec: int('offsets.topic.compression.codec', {
    allowed: 'a whole number from 0 to 4',
    default: 0,
    doc: 'How __consumer_offsets is compressed: 0 none, 1 gzip, 2 snappy, 3 lz4, 4 zstd. Commits from then on are.',
  }),
  offsetMetadataMaxBytes: int('offset.metadata.max.bytes', {
    default: 4096,
    doc: 'The longest text that may go with a committed offset.',
  }),
  offsetsCommitTimeoutMs: int('offsets.commit.timeout.ms', {
    default: 5000,
    min: 1,
    doc: 'How long an offset commit waits for its replicas.',
  }),
  offsetsLoadBufferSize: int('offsets.load.buffer.size', {
    default: 5_242_880,
    min: 1,
    doc: 'How much of a partition of __consumer_offsets is read at a time when it is loaded; at most 1 MiB here, as all are loaded at a time.',
  }),
  offsetsRetentionMinutes: int('offsets.retention.minutes', {
    default: 10_080,
    min: 1,
    doc: 'How long the offsets of an empty group are kept.',
  }),
  offsetsRetentionCheckIntervalMs: long('offsets.retention.check.interval.ms', {
    default: 600_000,
    min: 1,
    doc: 'How often offsets are looked at for expiry.',
  }),
  groupMinSessionTimeoutMs: int('group.min.session.timeout.ms', {
    default: 6000,
    doc: 'The shortest session timeout that a member may ask for.',
  }),
  groupMaxSessionTimeoutMs: int('group.max.session.timeout.ms', {
    default: 1_800_000,
    doc: 'The longest session timeout that a member may ask for.',
  }),
  groupInitialRebalanceDelayMs: int('group.initial.rebalance.delay.ms', {
    default: 3000,
    doc: 'How long a new group waits for more members before it starts.',
  }),
  groupMaxSize: int('group.max.size', { default: 2_147_483_647, min: 1, doc: 'The most members of a group.' }),
}
