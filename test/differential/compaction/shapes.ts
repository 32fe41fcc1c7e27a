/** What the batches of one log are like. Fractions are of a hundred. */
export interface Shape {
  readonly topic: string
  readonly configs: Readonly<Record<string, string>>
  readonly segments: number
  readonly batchesPerSegment: number
  readonly maxRecordsPerBatch: number
  readonly keys: number
  readonly maxValueBytes: number
  /** Kafka's numbers, drawn for each batch. */
  readonly codecs: readonly number[]
  readonly tombstones: number
  readonly headers: number
  /** Batches of producers with an id, and how many of those there are. */
  readonly idempotent: number
  /** Batches in transactions; they end in an abort as often as in a commit. */
  readonly transactional: number
  readonly producers: number
  /** The last transaction stays open. */
  readonly leavesOpen: boolean
  /** Keyless records, which a topic has that was not always compacted. */
  readonly keyless: number
  /** How far timestamps jump to and fro. */
  readonly jitterMs: number
  /** How old the first record is when it is written; 0: timestamps lie in the future. */
  readonly ageMs: number
  /** Settings that are other ones in the second round. */
  readonly inSecondRound: Readonly<Record<string, string>>
  /**
   * In each round `max.compaction.lag.ms` has passed for the first segment that is dirty, and for no other: the one that is written
   * to would end for it in Millrace though nothing is appended, and in Kafka not.
   */
  readonly isFirstOverdue: boolean
  /** Between some segments of the first round more offsets are left out than an index can hold. */
  readonly isFarApart: boolean
}

const plain: Omit<Shape, 'topic'> = {
  configs: {},
  segments: 4,
  batchesPerSegment: 8,
  maxRecordsPerBatch: 6,
  keys: 30,
  maxValueBytes: 60,
  codecs: [0],
  tombstones: 0,
  headers: 0,
  idempotent: 0,
  transactional: 0,
  producers: 3,
  leavesOpen: false,
  keyless: 0,
  jitterMs: 0,
  ageMs: 0,
  inSecondRound: {},
  isFirstOverdue: false,
  isFarApart: false,
}

const minuteMs = 60_000
const ageMs = 600 * minuteMs
/** By which timestamps jump where a segment is to end: longer than `segment.ms` of the topics. */
export const rollMs = 20 * minuteMs

/** Of settings of lag: what was written for the first so many minutes is old enough. */
function oldEnough(minutes: number): string {
  return String(ageMs - minutes * minuteMs)
}

const everything = {
  codecs: [0, 1, 2, 3, 4],
  tombstones: 20,
  headers: 25,
  idempotent: 30,
  transactional: 35,
  producers: 4,
  jitterMs: 5000,
}

const horizonAtOnce = { 'delete.retention.ms': '0' }
const mebibyte = 1 << 20

const shapes: readonly Shape[] = [
  { ...plain, topic: 'plain' },
  { ...plain, topic: 'few-keys', keys: 3, tombstones: 15 },
  { ...plain, topic: 'many-keys', keys: 5000, maxRecordsPerBatch: 80, segments: 3 },
  { ...plain, topic: 'one-record', maxRecordsPerBatch: 1, keys: 6, batchesPerSegment: 12, idempotent: 60 },
  { ...plain, topic: 'tombstones', keys: 12, tombstones: 50 },
  { ...plain, topic: 'tombstones-at-once', keys: 12, tombstones: 50, configs: horizonAtOnce },
  { ...plain, topic: 'headers', headers: 80, tombstones: 10 },
  { ...plain, topic: 'gzip', codecs: [1], maxRecordsPerBatch: 20, tombstones: 10 },
  { ...plain, topic: 'snappy', codecs: [2], maxRecordsPerBatch: 20, tombstones: 10 },
  { ...plain, topic: 'lz4', codecs: [3], maxRecordsPerBatch: 20, tombstones: 10 },
  { ...plain, topic: 'zstd', codecs: [4], maxRecordsPerBatch: 20, tombstones: 10 },
  { ...plain, topic: 'idempotent', idempotent: 100, keys: 10, tombstones: 10 },
  { ...plain, topic: 'transactions', transactional: 80, keys: 20 },
  { ...plain, topic: 'transactions-at-once', transactional: 80, keys: 8, tombstones: 15, configs: horizonAtOnce },
  { ...plain, topic: 'open', transactional: 60, leavesOpen: true, keys: 12 },
  { ...plain, topic: 'keyless', keyless: 30, keys: 10, configs: { 'cleanup.policy': 'delete' } },
  { ...plain, topic: 'keyless-mostly', keyless: 90, keys: 3, configs: { 'cleanup.policy': 'delete' } },
  { ...plain, topic: 'times', jitterMs: 600_000, keys: 15, tombstones: 15 },
  {
    ...plain,
    topic: 'append-time',
    ...everything,
    transactional: 0,
    segments: 3,
    configs: { 'message.timestamp.type': 'LogAppendTime', 'segment.ms': '60' },
  },
  {
    ...plain,
    topic: 'large-records',
    maxValueBytes: 700_000,
    maxRecordsPerBatch: 3,
    keys: 6,
    batchesPerSegment: 4,
    codecs: [0, 3],
    segments: 3,
    configs: { 'max.message.bytes': String(4 * mebibyte) },
  },
  {
    ...plain,
    topic: 'several-groups',
    maxValueBytes: 4000,
    maxRecordsPerBatch: 40,
    keys: 500,
    segments: 6,
    batchesPerSegment: 6,
    configs: { 'segment.bytes': String(mebibyte) },
  },
  // More keys than the smallest map of keys has room for: a round is cleaned in two passes or three.
  {
    ...plain,
    topic: 'full-map',
    tombstones: 10,
    keys: 100_000,
    maxRecordsPerBatch: 2000,
    batchesPerSegment: 20,
    segments: 3,
    maxValueBytes: 8,
  },
  {
    ...plain,
    topic: 'young-segments',
    ageMs,
    keys: 8,
    tombstones: 15,
    configs: { 'min.compaction.lag.ms': oldEnough(30) },
    inSecondRound: { 'min.compaction.lag.ms': oldEnough(110) },
  },
  {
    ...plain,
    topic: 'overdue',
    ageMs,
    keys: 8,
    tombstones: 15,
    configs: { 'min.cleanable.dirty.ratio': '1' },
    isFirstOverdue: true,
  },
  { ...plain, topic: 'never-due', ageMs, keys: 8, configs: { 'min.cleanable.dirty.ratio': '1' } },
  {
    ...plain,
    topic: 'groups-of-small-indexes',
    segments: 7,
    keys: 60,
    tombstones: 10,
    configs: { 'segment.index.bytes': '200', 'index.interval.bytes': '0' },
  },
  { ...plain, topic: 'groups-far-apart', segments: 7, keys: 60, tombstones: 10, isFarApart: true },
  { ...plain, topic: 'everything', ...everything },
  { ...plain, topic: 'everything-at-once', ...everything, keys: 10, configs: horizonAtOnce },
]

/** In one run every shape once, or, in many, with others of the counts too: `variant` 0 is the list as it stands. */
export function shapesOf(variant: number): Shape[] {
  return shapes.map((shape, index) => withLag(variant === 0 ? shape : variantOf(shape, variant, index)))
}

function variantOf(shape: Shape, variant: number, index: number): Shape {
  return {
    ...shape,
    topic: `${shape.topic}-${variant}`,
    keys: Math.max(2, Math.round(shape.keys * [0.3, 1, 3][(variant + index) % 3]!)),
    batchesPerSegment: Math.max(2, Math.round(shape.batchesPerSegment * [1, 2, 0.5][(variant * 2 + index) % 3]!)),
    segments: 2 + ((variant + index * 3) % 5),
    producers: 1 + ((variant + index) % 5),
  }
}

/** The second round begins with the segment that was written to at the end of the first. */
function withLag(shape: Shape): Shape {
  if (!shape.isFirstOverdue) return shape
  const lagWithin = (segment: number) => ({ 'max.compaction.lag.ms': oldEnough(((segment + 0.5) * rollMs) / minuteMs) })
  return { ...shape, configs: { ...shape.configs, ...lagWithin(0) }, inSecondRound: lagWithin(shape.segments) }
}
