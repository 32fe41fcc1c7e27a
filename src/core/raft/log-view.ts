import { assert } from '../../base/assert.ts'
import type { ControlRecord } from '../../protocol/control-record.ts'

/** A place in the log by offset and the epoch of the record before it. Ordered by epoch, then offset. */
export interface OffsetAndEpoch {
  readonly offset: number
  readonly epoch: number
}

/** A snapshot's name: it holds everything below `endOffset`, the last record of which has `epoch`. */
export interface SnapshotId {
  readonly endOffset: number
  readonly epoch: number
}

/** Negative when `a` is behind `b`: what "up to date" means in an election. */
export function compareOffsetAndEpoch(a: OffsetAndEpoch, b: OffsetAndEpoch): number {
  return a.epoch - b.epoch || a.offset - b.offset
}

/**
 * What the quorum reads of its log; the log itself is the shell's. All members show the state after the effects of the
 * last `handle` were carried out: an `append` moves `logEndOffset` in the same turn, long before its write completes.
 */
export interface RaftLogView {
  readonly logStartOffset: number
  /** The offset the next record gets, writes in flight included. */
  readonly logEndOffset: number
  /** Below it everything is written and can be read (writes in flight excluded). */
  readonly writtenOffset: number
  /** Below it everything is synced: it survives a power cut. At most `writtenOffset`. */
  readonly flushedOffset: number
  /** The epoch of the last record; of the latest snapshot when the log is empty above it; 0 when there is nothing. */
  readonly lastEpoch: number
  /**
   * The largest epoch at or below `epoch` in the log, and where that epoch ends. When there is none, where the log
   * starts, with the epoch of the snapshot that ends there (0 without one).
   */
  endOffsetForEpoch(epoch: number): OffsetAndEpoch
  /** Snapshots that end below `logStartOffset` do not count: the log does not continue them. */
  readonly earliestSnapshotId: SnapshotId | undefined
  readonly latestSnapshotId: SnapshotId | undefined
  /** The size in bytes of a complete snapshot, or undefined when there is none of that name. */
  snapshotSize(id: SnapshotId): number | undefined
}

/** One batch as fetched from the leader, after its checksum and lengths were checked. */
export interface RaftBatch {
  readonly baseOffset: number
  readonly lastOffset: number
  readonly leaderEpoch: number
  /** The batch's control records that concern the quorum, with their offsets; empty for data. */
  readonly controlRecords: readonly { readonly offset: number; readonly record: ControlRecord }[]
  /** The batch itself; the quorum passes it on. */
  readonly bytes: Buffer
}

/** The name of the snapshot that formatting writes. It is never served: the first leader copies it into the log. */
export function isBootstrapSnapshot(id: SnapshotId): boolean {
  return id.endOffset === 0 && id.epoch === 0
}

export type FetchPosition =
  | { readonly type: 'valid' }
  | { readonly type: 'diverging'; readonly end: OffsetAndEpoch }
  | { readonly type: 'snapshot'; readonly id: SnapshotId }

/** Where a follower stands that holds everything below `fetchOffset`, its last record being of `lastFetchedEpoch`. */
export function positionOfFollower(
  log: RaftLogView,
  { fetchOffset, lastFetchedEpoch }: { fetchOffset: number; lastFetchedEpoch: number },
): FetchPosition {
  const latest = log.latestSnapshotId
  const earliest = log.earliestSnapshotId
  if (fetchOffset === 0) {
    if (latest !== undefined && !isBootstrapSnapshot(latest)) return { type: 'snapshot', id: latest }
    if (log.logStartOffset === 0) return { type: 'valid' }
  }
  if (
    earliest !== undefined &&
    latest !== undefined &&
    (fetchOffset < log.logStartOffset ||
      (fetchOffset === log.logStartOffset && lastFetchedEpoch !== earliest.epoch) ||
      lastFetchedEpoch < earliest.epoch)
  ) {
    return { type: 'snapshot', id: latest }
  }
  const end = log.endOffsetForEpoch(lastFetchedEpoch)
  if (end.epoch !== lastFetchedEpoch || end.offset < fetchOffset) return { type: 'diverging', end }
  return { type: 'valid' }
}

/** Why this log cannot be part of a quorum, or undefined when it can. */
export function problemOfLog(log: RaftLogView): string | undefined {
  const covering = log.latestSnapshotId
  if (log.logStartOffset > 0 && covering === undefined) return 'the metadata log starts above 0 without a snapshot'
  if (covering === undefined) return undefined
  if (covering.endOffset < log.logStartOffset) return 'no snapshot reaches the start of the metadata log'
  if ((log.earliestSnapshotId?.endOffset ?? -1) < log.logStartOffset) return 'a snapshot ends below the metadata log'
  if (covering.endOffset > log.logEndOffset) return 'the metadata log ends below its latest snapshot'
  if (!continuesSnapshot(log, covering)) return 'the metadata log does not continue its latest snapshot'
  return undefined
}

/**
 * Whether the log holds the last record that the snapshot covers, or starts right after it. Equal offset and epoch mean
 * equal logs up to there; a longer log or a later epoch alone do not: the log may have been on its way to be replaced.
 */
export function continuesSnapshot(log: RaftLogView, { endOffset, epoch }: SnapshotId): boolean {
  if (log.logStartOffset === endOffset) return true
  if (log.logStartOffset > endOffset || log.logEndOffset < endOffset) return false
  const end = log.endOffsetForEpoch(epoch)
  return end.epoch === epoch && end.offset >= endOffset
}

/**
 * The log as it will be once this turn's effects are carried out: effects are values, so within one `handle` the view
 * still shows what was before.
 */
export class LogTail {
  readonly view: RaftLogView
  #expected: { readonly logEndOffset: number; readonly lastEpoch: number } | undefined

  constructor(view: RaftLogView) {
    this.view = view
  }

  get logEndOffset(): number {
    return this.#expected?.logEndOffset ?? this.view.logEndOffset
  }

  get lastEpoch(): number {
    return this.#expected?.lastEpoch ?? this.view.lastEpoch
  }

  get end(): OffsetAndEpoch {
    return { offset: this.logEndOffset, epoch: this.lastEpoch }
  }

  /** Whether a power cut would leave the whole log in place. */
  get isFlushed(): boolean {
    return this.view.flushedOffset >= this.logEndOffset
  }

  /** An append effect was emitted. */
  willEndAt(end: OffsetAndEpoch): void {
    assert(end.offset > this.logEndOffset, 'an append moves the log end offset forward')
    assert(end.epoch >= this.lastEpoch, 'epochs never fall along the log')
    this.#expected = { logEndOffset: end.offset, lastEpoch: end.epoch }
  }

  /** The effects of the last turn have been carried out: from here on the view speaks for itself. */
  settle(): void {
    if (this.#expected === undefined) return
    assert(
      this.view.logEndOffset === this.#expected.logEndOffset && this.view.lastEpoch === this.#expected.lastEpoch,
      'the shell carries out an append before the next event',
    )
    this.#expected = undefined
  }
}
