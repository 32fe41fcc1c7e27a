import { assert } from '../../base/assert.ts'
import { type SegmentFileKind, segmentFileName } from '../../core/log/file-names.ts'
import { type AbortedTransactionEntry, encodeTransactionIndex } from '../../core/log/transaction-index.ts'
import type { DiskFile } from '../../io/disk.ts'
import { readBatchSize } from '../../records/batch.ts'
import { SegmentIndexes } from '../index-entries.ts'
import type { LogState } from '../log-state.ts'
import { Segment } from '../segment.ts'

/** Kinds of files in the order in which they get another name: what the log file's name says holds for all. */
export const renamedKinds: readonly SegmentFileKind[] = ['index', 'timeindex', 'txnindex', 'log']

/** A segment in the making, in files with the suffix `.cleaned`. All of it may be given up at any time. */
export class CompactedSegment {
  readonly segment: Segment
  readonly #state: LogState
  readonly #file: DiskFile
  #isReleased = false

  /** Throws `DiskError`. */
  constructor(state: LogState, baseOffset: number, createdWallMs: number) {
    const { context, home } = state
    this.#state = state
    this.segment = new Segment(home, baseOffset, { createdWallMs, jitterMs: 0, isOnDisk: true })
    this.segment.indexes = new SegmentIndexes()
    this.#file = context.disk.open(this.#path('log'), 'append')
    // What an earlier attempt has left.
    this.#file.truncate(0)
  }

  get sizeBytes(): number {
    return this.segment.sizeBytes
  }

  /** Whole batches, and the transactions that markers among them aborted. The bytes are the caller's again when it resolves. */
  async append(batches: Buffer, aborted: readonly AbortedTransactionEntry[]): Promise<void> {
    const { segment } = this
    for (let at = 0; at < batches.length; at += readBatchSize(batches, at))
      segment.note(batches, at, segment.home.indexIntervalBytes)
    for (const entry of aborted) segment.addAborted(entry)
    if (batches.length > 0) await appendTo(this.#file, batches)
  }

  /** Writes the indexes and syncs all. Rejects with `DiskError`. */
  async finish({ nextOffset, modifiedWallMs }: { nextOffset: number; modifiedWallMs: number }): Promise<void> {
    const { segment } = this
    const { disk } = this.#state.context
    segment.seal()
    segment.isFinished = true
    assert(nextOffset >= segment.nextOffset, 'the batches of a segment end below the next one')
    segment.nextOffset = nextOffset
    segment.writtenBytes = segment.sizeBytes
    segment.syncedBytes = segment.sizeBytes
    await this.#file.sync()
    this.#release()
    const { offsets, times, aborted } = segment.indexes as SegmentIndexes
    const contents = { index: offsets.encode(), timeindex: times.encode(), txnindex: encodeTransactionIndex(aborted) }
    for (const kind of ['index', 'timeindex', 'txnindex'] as const) {
      if (kind === 'txnindex' && !segment.hasTransactionIndex) continue
      if (!this.#state.hasFiles) return
      disk.writeSmallFile(this.#path(kind), contents[kind])
      await disk.syncFile(this.#path(kind))
    }
    if (!this.#state.hasFiles) return
    disk.setModified(this.#path('log'), modifiedWallMs)
    await disk.syncDirectory(this.#state.home.path)
  }

  /** From now on a crash leaves the new segment, once the directory is synced. Throws `DiskError`. */
  renameToSwap(): void {
    const { disk } = this.#state.context
    for (const kind of renamedKinds) {
      if (kind === 'txnindex' && !this.segment.hasTransactionIndex) continue
      disk.rename(this.#path(kind), this.#swapPath(kind))
    }
    this.segment.suffix = '.swap'
  }

  /** It is not wanted: its files go, the log last, which says that the others are not to be used. Rejects with `DiskError`. */
  async discard(): Promise<void> {
    const { disk } = this.#state.context
    this.#release()
    for (const kind of renamedKinds) {
      if (this.#state.hasFiles) await disk.remove(this.#swapPath(kind))
      if (this.#state.hasFiles) await disk.remove(this.#path(kind))
    }
  }

  #release(): void {
    if (this.#isReleased) return
    this.#isReleased = true
    this.#file.release()
  }

  #path(kind: SegmentFileKind): string {
    return `${this.#state.home.path}/${segmentFileName(this.segment.baseOffset, kind)}.cleaned`
  }

  #swapPath(kind: SegmentFileKind): string {
    return `${this.#state.home.path}/${segmentFileName(this.segment.baseOffset, kind)}.swap`
  }
}

function appendTo(file: DiskFile, bytes: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    file.append([bytes], error => (error === undefined ? resolve() : reject(error)))
  })
}
