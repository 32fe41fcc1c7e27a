import type { LogConfig } from '../../core/log/partition-log.ts'

/** What a choice of logs and ranges looks at of a segment; in the order of the offsets, the active one last. */
export interface SegmentFacts {
  readonly baseOffset: number
  /** The base offset of the next segment, or the log end offset for the last one. */
  readonly endOffset: number
  readonly sizeBytes: number
  /** In ms; undefined where it is not known: the segment counts as new. */
  readonly largestTimestampMs: number | undefined
  /** Of the first batch, in ms; undefined where there is none. */
  readonly firstTimestampMs: number | undefined
  /** The files of the segment are complete and synced. */
  readonly isFinished: boolean
}

export interface LogFacts {
  readonly segments: readonly SegmentFacts[]
  readonly logStartOffset: number
  readonly logEndOffset: number
  readonly lastStableOffset: number
  readonly cleanedOffset: number | undefined
}

/** How dirty a log is, and which part of it may be compacted. */
export interface Dirtiness {
  readonly firstDirtyOffset: number
  /** The base of a segment. */
  readonly firstUncleanableOffset: number
  readonly cleanableBytes: number
  /** The cleanable bytes as a part of those and of the bytes before them. */
  readonly dirtyRatio: number
  /** By how much the oldest dirty record is older than it should get; 0 when none is. */
  readonly overdueMs: number
}

/** Kafka's rules. */
export function dirtinessOf(log: LogFacts, config: LogConfig, wallMs: number): Dirtiness {
  const { segments, logStartOffset, logEndOffset, cleanedOffset = logStartOffset } = log
  const isKnown = cleanedOffset >= logStartOffset && cleanedOffset <= logEndOffset
  const firstDirtyOffset = isKnown ? cleanedOffset : logStartOffset
  const firstUncleanableOffset = Math.max(firstDirtyOffset, firstUncleanable(log, config, firstDirtyOffset, wallMs))
  const sum = (which: (segment: SegmentFacts) => boolean) =>
    segments.reduce((bytes, segment) => bytes + (which(segment) ? segment.sizeBytes : 0), 0)
  const cleanBytes = sum(segment => segment.endOffset <= firstDirtyOffset)
  const cleanableBytes = sum(
    segment => segment.endOffset > firstDirtyOffset && segment.endOffset <= firstUncleanableOffset,
  )
  return {
    firstDirtyOffset,
    firstUncleanableOffset,
    cleanableBytes,
    dirtyRatio: cleanableBytes === 0 ? 0 : cleanableBytes / (cleanBytes + cleanableBytes),
    overdueMs: overdueMs(segments, firstDirtyOffset, config, wallMs),
  }
}

/** Whether it is time for a pass. */
export function isDue({ cleanableBytes, dirtyRatio, overdueMs: overdue }: Dirtiness, config: LogConfig): boolean {
  return cleanableBytes > 0 && (overdue > 0 || dirtyRatio > config.minCleanableDirtyRatio)
}

/** Not the active segment, nothing that is not replicated or of an open transaction, nothing younger than the lag. */
function firstUncleanable(log: LogFacts, config: LogConfig, firstDirtyOffset: number, wallMs: number): number {
  const { segments, lastStableOffset } = log
  const { minCompactionLagMs } = config
  const first = segments.find((segment, index) => {
    if (index === segments.length - 1 || !segment.isFinished || segment.endOffset > lastStableOffset) return true
    if (minCompactionLagMs <= 0 || segment.endOffset <= firstDirtyOffset) return false
    return segment.largestTimestampMs === undefined || segment.largestTimestampMs > wallMs - minCompactionLagMs
  })
  return first?.baseOffset ?? firstDirtyOffset
}

function overdueMs(
  segments: readonly SegmentFacts[],
  firstDirtyOffset: number,
  { maxCompactionLagMs, minCompactionLagMs }: LogConfig,
  wallMs: number,
): number {
  const oldest = segments
    .slice(0, -1)
    .filter(segment => segment.endOffset > firstDirtyOffset)
    .reduce((min, { firstTimestampMs }) => Math.min(min, firstTimestampMs ?? min), Number.POSITIVE_INFINITY)
  const overdue = wallMs - oldest - Math.max(maxCompactionLagMs, minCompactionLagMs)
  return Math.max(0, overdue)
}

/** What bounds a segment that is made of several. */
export interface SegmentSizes {
  readonly baseOffset: number
  readonly endOffset: number
  readonly sizeBytes: number
  readonly offsetIndexBytes: number
  readonly timeIndexBytes: number
}

/** An offset in an index is this far above the segment's base at most. */
const maxRelativeOffset = 0x7fff_ffff

/** Segments that follow one another become one, as far as a segment's bounds allow. */
export function groupSegments<T extends SegmentSizes>(segments: readonly T[], config: LogConfig): T[][] {
  const groups: T[][] = []
  for (const segment of segments) {
    const group = groups.at(-1)
    if (group !== undefined && fits(group, segment, config)) group.push(segment)
    else groups.push([segment])
  }
  return groups
}

function fits(group: readonly SegmentSizes[], next: SegmentSizes, config: LogConfig): boolean {
  const sum = (of: (segment: SegmentSizes) => number) => group.reduce((bytes, one) => bytes + of(one), of(next))
  return (
    sum(one => one.sizeBytes) <= config.segmentBytes &&
    sum(one => one.offsetIndexBytes) <= config.segmentIndexBytes &&
    sum(one => one.timeIndexBytes) <= config.segmentIndexBytes &&
    next.endOffset - 1 - group[0].baseOffset <= maxRelativeOffset
  )
}
