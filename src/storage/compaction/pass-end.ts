import type { DiskError } from '../../io/disk.ts'

export interface PassStats {
  readonly endOffset: number
  /** Of the log: how much was read to index keys, read to filter, and written. */
  readonly indexedBytes: number
  readonly filteredBytes: number
  readonly writtenBytes: number
  readonly readRecords: number
  readonly keptRecords: number
  readonly keylessRecords: number
  /** How much of the memory that a pass may have for its keys was in use, from 0 to 1. */
  readonly mapUtilization: number
  readonly durationMs: number
}

interface FailedAt {
  readonly path: string
  readonly position: number
  readonly reason: string
}

/** What is in the way of compaction, as far as it makes a difference to who is to clear it away. */
export type Obstacle =
  /** Bytes fail their checksum, or cannot be what they say. */
  | { readonly type: 'damage' }
  /** The file cannot be read. */
  | { readonly type: 'disk'; readonly error: DiskError }
  /** A batch is larger than the settings allow. */
  | { readonly type: 'largeBatch' }
  /** What is left of a segment is larger than one can be. */
  | { readonly type: 'largeSegment' }
  /** The thread that compacts fails on it, for want of memory perhaps. */
  | { readonly type: 'failedJobs'; readonly count: number }

export type PassResult =
  | { readonly type: 'compacted'; readonly stats: PassStats }
  /** The log is as it was, or some of its segments are compacted: it may be tried again. */
  | { readonly type: 'stopped'; readonly reason: string }
  /** There is no room for the new segment beside the old ones. */
  | { readonly type: 'noRoom'; readonly neededBytes: number }
  /** Nothing is wrong with the log: it may go better the next time. */
  | { readonly type: 'delayed'; readonly reason: string }
  /** It would fail again; perhaps not after the time that is named. */
  | ({ readonly type: 'uncleanable'; readonly obstacle: Obstacle; readonly retryAfterMs?: number } & FailedAt)

export type FailedPass = Exclude<PassResult, { type: 'compacted' }>
export type UncleanablePass = Extract<PassResult, { type: 'uncleanable' }>

/** How a pass ends; where a job has failed, the batch that it was given may have been the reason. */
export type PassEnd = PassResult | ({ readonly type: 'jobFailed' } & FailedAt)

export type Interruption = Exclude<PassEnd, { type: 'compacted' }>
