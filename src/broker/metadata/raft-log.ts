import type { PartitionLog } from '../../core/log/partition-log.ts'
import type { OffsetAndEpoch, RaftLogView, SnapshotId } from '../../core/raft/log-view.ts'
import type { FileRange } from '../../io/disk.ts'
import type { SnapshotFiles } from './snapshot-files.ts'

/** The metadata log as the quorum reads it: a partition's log with its snapshots. */
export class RaftLog implements RaftLogView {
  readonly #log: PartitionLog<FileRange>
  readonly #snapshots: SnapshotFiles

  constructor(log: PartitionLog<FileRange>, snapshots: SnapshotFiles) {
    this.#log = log
    this.#snapshots = snapshots
  }

  get logStartOffset(): number {
    return this.#log.logStartOffset
  }

  get logEndOffset(): number {
    return this.#log.nextOffset
  }

  get writtenOffset(): number {
    return this.#log.logEndOffset
  }

  get flushedOffset(): number {
    return this.#log.flushedOffset
  }

  get lastEpoch(): number {
    if (this.#log.nextOffset > this.#log.logStartOffset && this.#log.latestEpoch >= 0) return this.#log.latestEpoch
    return this.#snapshots.latest?.epoch ?? 0
  }

  endOffsetForEpoch(epoch: number): OffsetAndEpoch {
    const found = this.#log.endOffsetForEpoch(epoch)
    if (found.leaderEpoch < 0) return { epoch: this.#snapshots.earliest?.epoch ?? 0, offset: this.#log.logStartOffset }
    const isLatest = found.leaderEpoch === this.#log.latestEpoch
    return { epoch: found.leaderEpoch, offset: isLatest ? this.#log.nextOffset : found.endOffset }
  }

  get earliestSnapshotId(): SnapshotId | undefined {
    return this.#snapshots.earliest
  }

  get latestSnapshotId(): SnapshotId | undefined {
    return this.#snapshots.latest
  }

  snapshotSize(id: SnapshotId): number | undefined {
    return this.#snapshots.sizeOf(id)
  }
}
