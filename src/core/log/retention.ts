import type { LogConfig } from './partition-log.ts'

/** What retention looks at of a segment; in the order of the offsets. */
export interface RetainedSegment {
  /** The base offset of the next segment, or the log end offset for the last one. */
  readonly endOffset: number
  readonly sizeBytes: number
  /** In ms; undefined when it is not known yet: the segment stays. */
  readonly largestTimestamp: number | undefined
}

export interface RetentionBounds {
  readonly logStartOffset: number
  /** Records at or above it stay: not replicated, or of a transaction that is open. */
  readonly lastStableOffset: number
  readonly wallMs: number
}

/** How many of the oldest segments may go. It may be all of them: the caller begins a new one first. */
export function countExpired(segments: readonly RetainedSegment[], bounds: RetentionBounds, config: LogConfig): number {
  const last = segments[segments.length - 1]
  // Compaction may have left nothing of earlier ones; a last one without records is where the log goes on.
  const removable = countWhile(segments, segment => {
    return segment.endOffset <= bounds.lastStableOffset && (segment.sizeBytes > 0 || segment !== last)
  })
  const candidates = segments.slice(0, removable)
  // The last segment is not below the log start, however far that has moved: it begins where the log ends.
  const belowStart = countWhile(
    candidates.slice(0, segments.length - 1),
    ({ endOffset }) => endOffset <= bounds.logStartOffset,
  )
  if (!config.isDeleted) return belowStart
  return Math.max(belowStart, countTooOld(candidates, bounds, config), countTooMany(candidates, segments, config))
}

function countTooOld(
  segments: readonly RetainedSegment[],
  { wallMs }: RetentionBounds,
  { retentionMs }: LogConfig,
): number {
  if (retentionMs < 0) return 0
  return countWhile(segments, ({ largestTimestamp }) => {
    return largestTimestamp !== undefined && wallMs - largestTimestamp > retentionMs
  })
}

/** A segment goes when what is left without it is still as large as it should be. */
function countTooMany(
  candidates: readonly RetainedSegment[],
  all: readonly RetainedSegment[],
  { retentionBytes }: LogConfig,
): number {
  if (retentionBytes < 0) return 0
  let excess = all.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0) - retentionBytes
  return countWhile(candidates, ({ sizeBytes }) => {
    excess -= sizeBytes
    return excess >= 0
  })
}

function countWhile<T>(items: readonly T[], holds: (item: T) => boolean): number {
  const end = items.findIndex(item => !holds(item))
  return end < 0 ? items.length : end
}
