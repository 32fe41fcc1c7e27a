import { assert } from '../../base/assert.ts'
import type { LogConfig } from './partition-log.ts'
import { maxRelativeOffset } from './segment-rolling.ts'

/** What compaction looks at of a segment. The last one of a log is the active one, which is never compacted. */
export interface CompactedSegment {
  readonly baseOffset: number
  readonly sizeBytes: number
  readonly offsetIndexBytes: number
  readonly timeIndexBytes: number
  /** In ms; of the file's last change when no record has a timestamp; undefined when it is not known yet. */
  readonly largestTimestamp: number | undefined
  /** Max timestamp of the first batch, in ms; undefined or not above 0 when there is none that counts. */
  readonly firstTimestamp: number | undefined
}

export interface CompactedLog {
  /** In the order of their offsets, at least one. */
  readonly segments: readonly CompactedSegment[]
  readonly logStartOffset: number
  readonly logEndOffset: number
  readonly lastStableOffset: number
  /** Of the `cleaner-offset-checkpoint`: where the last pass ended; undefined when there was none. */
  readonly checkpointOffset: number | undefined
  readonly config: LogConfig
}

export interface CompactionNeed {
  readonly firstDirtyOffset: number
  /** The checkpoint cannot be of this log as it is: `firstDirtyOffset` is to be written in its place. */
  readonly isCheckpointInvalid: boolean
  /** The base of a segment. */
  readonly firstUncleanableOffset: number
  /** Of the segments that begin below the first dirty offset. */
  readonly cleanBytes: number
  /** Of those from the one with the first dirty offset to the first that may not be cleaned. */
  readonly cleanableBytes: number
  /** The part of the log, up to the first segment that may not be cleaned, that is dirty: 0 to 1. */
  readonly dirtyRatio: number
  /** By how much the oldest dirty record is later than `max.compaction.lag.ms`; 0 when it is not. */
  readonly overdueMs: number
  /** There is enough to clean, or it has waited long enough. */
  readonly isDue: boolean
}

/** What of a compacted log is to be cleaned, as Kafka decides it. */
export function compactionNeed(log: CompactedLog, wallMs: number): CompactionNeed {
  const { segments, config } = log
  assert(segments.length > 0, 'a log has an active segment')
  const { firstDirtyOffset, isCheckpointInvalid } = whereDirtBegins(log)
  const bound = Math.max(firstDirtyOffset, whereCleaningEnds(log, firstDirtyOffset, wallMs))
  const firstUncleanableOffset = nonActiveFrom(segments, bound).at(0)?.baseOffset ?? activeOf(segments).baseOffset
  const cleanBytes = bytesOf(segments.filter(({ baseOffset }) => baseOffset < firstDirtyOffset))
  const dirty = segmentsFrom(segments, Math.min(firstDirtyOffset, firstUncleanableOffset))
  const cleanableBytes = bytesOf(dirty.filter(({ baseOffset }) => baseOffset < firstUncleanableOffset))
  const totalBytes = cleanBytes + cleanableBytes
  const dirtyRatio = totalBytes === 0 ? 0 : cleanableBytes / totalBytes
  const overdueMs = overdueBy(nonActiveFrom(segments, firstDirtyOffset), config.maxCompactionLagMs, wallMs)
  const isDue = (overdueMs > 0 && cleanableBytes > 0) || dirtyRatio > config.minCleanableDirtyRatio
  return {
    ...{
      firstDirtyOffset,
      isCheckpointInvalid,
      firstUncleanableOffset,
      cleanBytes,
      cleanableBytes,
      dirtyRatio,
      overdueMs,
    },
    isDue,
  }
}

/** For sorting: logs that are overdue first, of each kind the dirtiest first. */
export function byUrgency(a: CompactionNeed, b: CompactionNeed): number {
  const isOverdue = (need: CompactionNeed) => Number(need.overdueMs > 0 && need.cleanableBytes > 0)
  return isOverdue(b) - isOverdue(a) || b.dirtyRatio - a.dirtyRatio
}

/**
 * Which segments, that lie side by side, become one: so that cleaning again and again does not leave ever smaller ones. In a
 * group neither the bytes nor the index bytes are together more than one segment may have, and no offset is too far from
 * the first base.
 */
export function groupSegments<Segment extends CompactedSegment>(
  segments: readonly Segment[],
  { segmentBytes, segmentIndexBytes }: Pick<LogConfig, 'segmentBytes' | 'segmentIndexBytes'>,
  firstUncleanableOffset: number,
): Segment[][] {
  const groups: Segment[][] = []
  let sums = { sizeBytes: 0, offsetIndexBytes: 0, timeIndexBytes: 0 }
  for (const [index, segment] of segments.entries()) {
    const group = groups.at(-1)
    const lastOffset = (segments[index + 1]?.baseOffset ?? firstUncleanableOffset) - 1
    const { sizeBytes, offsetIndexBytes, timeIndexBytes } = segment
    const fits =
      group !== undefined &&
      sums.sizeBytes + sizeBytes <= segmentBytes &&
      sums.offsetIndexBytes + offsetIndexBytes <= segmentIndexBytes &&
      sums.timeIndexBytes + timeIndexBytes <= segmentIndexBytes &&
      (segment.sizeBytes === 0 || lastOffset - group[0].baseOffset <= maxRelativeOffset)
    if (fits) group.push(segment)
    else {
      groups.push([segment])
      sums = { sizeBytes: 0, offsetIndexBytes: 0, timeIndexBytes: 0 }
    }
    sums.sizeBytes += sizeBytes
    sums.offsetIndexBytes += offsetIndexBytes
    sums.timeIndexBytes += timeIndexBytes
  }
  return groups
}

/** A checkpoint below the start is of records that are gone; one beyond the end is of a log that lost its own. */
function whereDirtBegins({ checkpointOffset, logStartOffset, logEndOffset }: CompactedLog) {
  if (checkpointOffset === undefined) return { firstDirtyOffset: logStartOffset, isCheckpointInvalid: false }
  const isCheckpointInvalid = checkpointOffset < logStartOffset || checkpointOffset > logEndOffset
  return { firstDirtyOffset: isCheckpointInvalid ? logStartOffset : checkpointOffset, isCheckpointInvalid }
}

/** Before the active segment, open transactions, what is not replicated, and the first segment that is too young. */
function whereCleaningEnds(log: CompactedLog, firstDirtyOffset: number, wallMs: number): number {
  const { segments, lastStableOffset, config } = log
  const end = Math.min(lastStableOffset, activeOf(segments).baseOffset)
  if (config.minCompactionLagMs <= 0) return end
  const young = nonActiveFrom(segments, firstDirtyOffset).find(
    ({ sizeBytes, largestTimestamp }) =>
      sizeBytes > 0 && (largestTimestamp === undefined || largestTimestamp > wallMs - config.minCompactionLagMs),
  )
  return Math.min(end, young?.baseOffset ?? end)
}

function overdueBy(dirty: readonly CompactedSegment[], maxCompactionLagMs: number, wallMs: number): number {
  const times = dirty.flatMap(({ firstTimestamp = 0 }) => (firstTimestamp > 0 ? [firstTimestamp] : []))
  return Math.max(0, wallMs - Math.max(0, maxCompactionLagMs) - Math.min(...times))
}

/** From the one that has the offset on; from the first one, when all are behind it. */
function segmentsFrom(segments: readonly CompactedSegment[], offset: number): readonly CompactedSegment[] {
  return segments.slice(
    Math.max(
      0,
      segments.findLastIndex(({ baseOffset }) => baseOffset <= offset),
    ),
  )
}

function nonActiveFrom(segments: readonly CompactedSegment[], offset: number): readonly CompactedSegment[] {
  if (offset >= activeOf(segments).baseOffset) return []
  return segmentsFrom(segments.slice(0, -1), offset)
}

function activeOf(segments: readonly CompactedSegment[]): CompactedSegment {
  return segments[segments.length - 1]
}

function bytesOf(segments: readonly CompactedSegment[]): number {
  return segments.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
}
