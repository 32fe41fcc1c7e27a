import { checkThrottledReplicas } from './check.ts'
import { boolean, double, inert, int, list, long, type Setting, string } from './setting.ts'

/**
 * The settings of a topic that change something here. Where one is not set on the topic, the broker's is in force:
 * `brokerSettingsOf` says which.
 */
export const topicSettings = {
  cleanupPolicy: list('cleanup.policy', {
    default: ['delete'],
    oneOf: ['compact', 'delete'],
    doc: 'What happens to old segments: delete, compact, or both.',
  }),
  compressionType: string('compression.type', {
    default: 'producer',
    oneOf: ['uncompressed', 'zstd', 'lz4', 'snappy', 'gzip', 'producer'],
    doc: 'How batches are compressed in the log; producer keeps what was sent.',
  }),
  compressionGzipLevel: int('compression.gzip.level', {
    default: -1,
    min: 1,
    max: 9,
    or: -1,
    doc: 'The level of gzip; -1 is its default.',
  }),
  compressionLz4Level: int('compression.lz4.level', {
    default: 9,
    min: 1,
    max: 17,
    doc: 'The level of lz4.',
    noEffect: { because: 'there is one level' },
  }),
  compressionZstdLevel: int('compression.zstd.level', {
    default: 3,
    min: -131_072,
    max: 22,
    doc: 'The level of zstd.',
  }),
  deleteRetentionMs: long('delete.retention.ms', {
    default: 86_400_000,
    min: 0,
    doc: 'How long a compacted log keeps its tombstones.',
  }),
  fileDeleteDelayMs: long('file.delete.delay.ms', {
    default: 60_000,
    min: 0,
    doc: 'How long the files of a deleted segment stay on disk.',
  }),
  flushMessages: long('flush.messages', {
    default: Number.POSITIVE_INFINITY,
    min: 1,
    doc: 'The log is synced to disk after this many records.',
  }),
  flushMs: long('flush.ms', {
    default: Number.POSITIVE_INFINITY,
    min: 0,
    doc: 'The log is synced to disk after this time.',
  }),
  indexIntervalBytes: int('index.interval.bytes', {
    default: 4096,
    min: 0,
    doc: 'An index entry is made for about this many bytes of log.',
  }),
  internalSegmentBytes: int('internal.segment.bytes', {
    default: null,
    internal: true,
    doc: 'As segment.bytes without its lower bound; for tests.',
  }),
  maxCompactionLagMs: long('max.compaction.lag.ms', {
    allowed: 'a whole number of at least 1, and of at least min.compaction.lag.ms',
    default: Number.POSITIVE_INFINITY,
    min: 1,
    doc: 'A record is compacted after this long at the latest.',
  }),
  maxDecompressedMessageBytes: int('max.decompressed.message.bytes', {
    default: 2_147_483_639,
    min: 1,
    max: 2_147_483_639,
    doc: 'The longest that a record of a compressed batch may be once it is unpacked; above it the batch is refused with INVALID_RECORD. For a whole batch there is millrace.max.uncompressed.batch.bytes.',
  }),
  maxMessageBytes: int('max.message.bytes', {
    default: 1_048_588,
    min: 0,
    doc: 'The largest record batch that is taken, as sent.',
  }),
  messageTimestampAfterMaxMs: long('message.timestamp.after.max.ms', {
    default: 3_600_000,
    min: 0,
    doc: 'How far in the future the time of a record may lie.',
  }),
  messageTimestampBeforeMaxMs: long('message.timestamp.before.max.ms', {
    default: Number.POSITIVE_INFINITY,
    min: 0,
    doc: 'How far in the past the time of a record may lie.',
  }),
  messageTimestampType: string('message.timestamp.type', {
    default: 'CreateTime',
    oneOf: ['CreateTime', 'LogAppendTime'],
    doc: 'The time of a record: when its producer made it, or when it was appended.',
  }),
  minCleanableDirtyRatio: double('min.cleanable.dirty.ratio', {
    default: 0.5,
    min: 0,
    max: 1,
    doc: 'The part of a compacted log that must be dirty before it is cleaned.',
  }),
  minCompactionLagMs: long('min.compaction.lag.ms', {
    allowed: 'a whole number of at least 0, and of at most max.compaction.lag.ms',
    default: 0,
    min: 0,
    doc: 'A record stays at least this long before it may be compacted away.',
  }),
  minInsyncReplicas: int('min.insync.replicas', {
    default: 1,
    min: 1,
    doc: 'How many replicas must have a write before it is acknowledged to acks=all.',
  }),
  preallocate: boolean('preallocate', {
    default: false,
    doc: 'A new segment takes its whole size on disk at once.',
    noEffect: { because: 'it grows as it is written' },
  }),
  retentionBytes: long('retention.bytes', {
    default: -1,
    doc: 'The oldest segments of a partition are deleted above this size; -1 is no limit.',
  }),
  retentionMs: long('retention.ms', {
    default: 604_800_000,
    min: -1,
    doc: 'Segments older than this are deleted; -1 keeps them for ever.',
  }),
  segmentBytes: int('segment.bytes', {
    default: 1_073_741_824,
    min: 1_048_576,
    doc: 'A segment is closed at this size.',
  }),
  segmentIndexBytes: int('segment.index.bytes', {
    default: 10_485_760,
    min: 4,
    doc: 'The largest size of an index file.',
  }),
  segmentJitterMs: long('segment.jitter.ms', {
    default: 0,
    min: 0,
    doc: 'Segments close earlier by a random time up to this, so that not all close at once.',
  }),
  segmentMs: long('segment.ms', { default: 604_800_000, min: 1, doc: 'A segment is closed at this age.' }),
  uncleanLeaderElectionEnable: boolean('unclean.leader.election.enable', {
    default: false,
    doc: 'A replica that was not in sync may lead as a last resort, at the cost of acknowledged records.',
  }),
}

const throttledReplicas = {
  default: [],
  check: checkThrottledReplicas,
  allowed: '* or [partition]:[broker], ...',
} as const

export const inertTopicSettings: readonly Setting[] = [
  ...inert('quotas are not in Millrace so far', [
    list('follower.replication.throttled.replicas', throttledReplicas),
    list('leader.replication.throttled.replicas', throttledReplicas),
  ]),
  ...inert('tiered storage is not in Millrace so far', [
    long('local.retention.bytes', { default: -2, min: -2 }),
    long('local.retention.ms', { default: -2, min: -2 }),
    long('remote.copy.lag.bytes', { default: -1, min: -1 }),
    long('remote.copy.lag.ms', { default: 0, min: -1 }),
    boolean('remote.log.copy.disable', { default: false }),
    boolean('remote.log.delete.on.disable', { default: false }),
    boolean('remote.storage.enable', { default: false }),
  ]),
  ...inert('share groups are not in Millrace so far', [
    boolean('errors.deadletterqueue.group.enable', { default: false }),
  ]),
]

/** A broker setting, and by how much its number is multiplied to give the topic's. */
export interface BrokerSynonym {
  readonly name: string
  readonly factor: number
}

const minuteMs = 60_000
const hourMs = 3_600_000

/** For each topic setting the broker settings that it falls back to, the first that is given counting. */
export const brokerSettingsOf: ReadonlyMap<string, readonly BrokerSynonym[]> = new Map(
  Object.entries({
    'cleanup.policy': ['log.cleanup.policy'],
    'compression.type': ['compression.type'],
    'compression.gzip.level': ['compression.gzip.level'],
    'compression.lz4.level': ['compression.lz4.level'],
    'compression.zstd.level': ['compression.zstd.level'],
    'delete.retention.ms': ['log.cleaner.delete.retention.ms'],
    'file.delete.delay.ms': ['log.segment.delete.delay.ms'],
    'flush.messages': ['log.flush.interval.messages'],
    'flush.ms': ['log.flush.interval.ms', 'log.flush.scheduler.interval.ms'],
    'index.interval.bytes': ['log.index.interval.bytes'],
    'local.retention.bytes': ['log.local.retention.bytes'],
    'local.retention.ms': ['log.local.retention.ms'],
    'max.compaction.lag.ms': ['log.cleaner.max.compaction.lag.ms'],
    'max.decompressed.message.bytes': ['max.decompressed.message.bytes'],
    'max.message.bytes': ['message.max.bytes'],
    'message.timestamp.after.max.ms': ['log.message.timestamp.after.max.ms'],
    'message.timestamp.before.max.ms': ['log.message.timestamp.before.max.ms'],
    'message.timestamp.type': ['log.message.timestamp.type'],
    'min.cleanable.dirty.ratio': ['log.cleaner.min.cleanable.ratio'],
    'min.compaction.lag.ms': ['log.cleaner.min.compaction.lag.ms'],
    'min.insync.replicas': ['min.insync.replicas'],
    preallocate: ['log.preallocate'],
    'remote.copy.lag.bytes': ['log.remote.copy.lag.bytes'],
    'remote.copy.lag.ms': ['log.remote.copy.lag.ms'],
    'retention.bytes': ['log.retention.bytes'],
    'retention.ms': ['log.retention.ms', ['log.retention.minutes', minuteMs], ['log.retention.hours', hourMs]],
    'segment.bytes': ['log.segment.bytes'],
    'segment.index.bytes': ['log.index.size.max.bytes'],
    'segment.jitter.ms': ['log.roll.jitter.ms', ['log.roll.jitter.hours', hourMs]],
    'segment.ms': ['log.roll.ms', ['log.roll.hours', hourMs]],
    'unclean.leader.election.enable': ['unclean.leader.election.enable'],
  } satisfies Record<string, (string | [string, number])[]>).map(([name, synonyms]) => [
    name,
    synonyms.map(one => (typeof one === 'string' ? { name: one, factor: 1 } : { name: one[0], factor: one[1] })),
  ]),
)
