import type { LogConfig } from './partition-log.ts'

/** What the active segment holds, and the batch that is to follow. */
export interface RollQuestion {
  readonly baseOffset: number
  readonly sizeBytes: number
  readonly offsetIndexEntries: number
  readonly timeIndexEntries: number
  /** Max timestamp of the segment's first batch; undefined or negative when there is none that counts. */
  readonly firstTimestamp: bigint | undefined
  readonly createdWallMs: number
  /** Drawn when the segment began, so that segments of many partitions do not all roll together. */
  readonly jitterMs: number
  readonly batchBytes: number
  readonly batchLastOffset: number
  readonly batchMaxTimestamp: bigint
  readonly wallMs: number
}

/** An offset in an index is this far above the segment's base at most. */
export const maxRelativeOffset = 0x7fff_ffff
const offsetEntryBytes = 8
const timeEntryBytes = 12

/** Whether the batch has to begin a new segment. An empty segment takes whatever comes. */
export function mustRoll(question: RollQuestion, config: LogConfig): boolean {
  if (question.batchLastOffset - question.baseOffset > maxRelativeOffset) return true
  if (question.sizeBytes === 0) return false
  return (
    question.sizeBytes + question.batchBytes > config.segmentBytes ||
    isIndexFull(question, config.segmentIndexBytes) ||
    ageMs(question) > maxAgeMs(config, question.jitterMs)
  )
}

/** A jitter is drawn below this, as in Kafka: more than the age would be no jitter, and neither has to be a time that comes. */
export function jitterBoundMs({ segmentJitterMs, segmentMs }: LogConfig): number {
  return Math.min(segmentJitterMs, segmentMs, 2 ** 31)
}

/** At what age a segment ends. A compacted log is cleaned in time only when what is to be cleaned is no longer active. */
function maxSegmentMs({ isCompacted, segmentMs, maxCompactionLagMs }: LogConfig): number {
  return isCompacted && maxCompactionLagMs > 0 ? Math.min(segmentMs, maxCompactionLagMs) : segmentMs
}

/**
 * Less the jitter, of which there may be more than that: it was drawn under other settings, or `segment.jitter.ms` is larger than
 * the age. Then each batch would begin a segment.
 */
function maxAgeMs(config: LogConfig, jitterMs: number): number {
  const maxMs = maxSegmentMs(config)
  return jitterMs < maxMs ? maxMs - jitterMs : maxMs - (jitterMs % maxMs)
}

/** The time index keeps its last slot for the entry that is written when the segment ends. */
function isIndexFull({ offsetIndexEntries, timeIndexEntries }: RollQuestion, maxIndexBytes: number): boolean {
  return (
    offsetIndexEntries >= Math.floor(maxIndexBytes / offsetEntryBytes) ||
    timeIndexEntries >= Math.floor(maxIndexBytes / timeEntryBytes) - 1
  )
}

/** Age in the time of the records, so that a log that is copied rolls where the original did. */
function ageMs({ firstTimestamp, batchMaxTimestamp, wallMs, createdWallMs }: RollQuestion): number {
  if (firstTimestamp !== undefined && firstTimestamp >= 0n) return Number(batchMaxTimestamp - firstTimestamp)
  return wallMs - createdWallMs
}
