import { assert } from '../base/assert.ts'
import { type SegmentFileKind, segmentFileName } from '../core/log/file-names.ts'
import { maxRelativeOffset } from '../core/log/segment-rolling.ts'
import type { TimeIndex } from '../core/log/time-index.ts'
import type { AbortedTransactionEntry } from '../core/log/transaction-index.ts'
import type { DiskFile } from '../io/disk.ts'
import { readBatchSize } from '../records/batch.ts'
import type { DamageMemory } from './damage-memory.ts'
import type { KnownEpochs } from './epoch-file.ts'
import { LaterEntries, type SegmentIndexes } from './index-entries.ts'
import { Intervals } from './intervals.ts'
import type { FileUser } from './open-files.ts'
import { type BatchPlace, storedLastOffset, storedMaxTimestamp } from './stored-batch.ts'
import type { TouchedFile } from './traffic.ts'

/** Where a log's files are; its directory is renamed when the log is deleted. */
export interface LogHome {
  path: string
  /** The log's `index.interval.bytes`. */
  indexIntervalBytes: number
  /** No offset is ever left out: it is the log of the metadata. */
  readonly isContiguous: boolean
  /** What batches are compared with: while the log is recovered, only what its file said. */
  epochs: KnownEpochs | undefined
  areEpochsComplete: boolean
  /** The log's own; nothing before it is opened. */
  requestFlush: () => void
}

/**
 * What a segment knew before some batches were noted: enough to forget them. Its indexes are cut by offset: they may have been made
 * anew meanwhile.
 */
export interface SegmentMark {
  readonly sizeBytes: number
  readonly nextOffset: number
  readonly maxTimestamp: bigint
  readonly maxTimestampOffset: number
  readonly firstTimestamp: bigint | undefined
  readonly bytesSinceIndexEntry: number
}

/** One segment of a log: what is known of its file. The last segment of a log is its active one, all others never change. */
export class Segment implements FileUser, TouchedFile {
  readonly home: LogHome
  readonly baseOffset: number
  readonly createdWallMs: number
  readonly jitterMs: number
  file: DiskFile | undefined = undefined
  lastUse = 0
  touchedAt: number | undefined = undefined
  /** False until the file is made: a new segment begins in memory, when the one before it may still be written to. */
  isOnDisk: boolean
  /** Not part of the log any more: another file may have the name of its file. What has it open may go on reading. */
  isGone = false
  /** What its files' names end with while compaction is at work; not the snapshot's. */
  suffix: '' | '.swap' | '.deleted' = ''
  /** No batch is appended any more: all segments but the last of a log. */
  isSealed = false
  /** Somebody is making the indexes anew. */
  rebuilding: Promise<SegmentIndexes> | undefined = undefined
  /** Opened with batches in it, and not appended to since. */
  isUnprepared = false
  /** A sealed segment whose index files, and the snapshot before the next segment, are written and synced. */
  isFinished = true
  /** Producer state at the base offset, until it is written. */
  snapshotBefore: Buffer | undefined = undefined
  appendsInFlight = 0
  /** This process has written to the open file and not synced it. */
  hasUnsyncedWrites = false
  /** Batches that were appended, those in flight included. */
  sizeBytes = 0
  /** Those whose writes have completed. */
  writtenBytes = 0
  /** The offset after the last batch. */
  nextOffset: number
  /** Up to here the file is synced. */
  syncedBytes = 0
  /**
   * The largest timestamp of any record that `entries` knows of, -1 when none has one; undefined until it is read from the time
   * index. `largestTimestamp` is that of all.
   */
  maxTimestamp: bigint | undefined = -1n
  /** Last offset of the batch that carries it. */
  maxTimestampOffset: number
  /** Max timestamp of the first batch; undefined while unknown. */
  firstTimestamp: bigint | undefined = undefined
  bytesSinceIndexEntry = 0
  /** Batches whose CRC this process has checked: these bytes may be sent as they lie in the file. */
  readonly verified = new Intervals()
  /** Damage that reads have met; undefined until one does. */
  damage: DamageMemory | undefined = undefined
  /** How often the file has been cut: a position from before may lie within a batch by now. */
  cuts = 0
  /** There is a `.txnindex` with something in it. */
  hasTransactionIndex = false
  #entries: SegmentIndexes | LaterEntries | undefined = undefined
  /** Of the file as it is: undefined again when a batch is appended. */
  #modifiedWallMs: number | undefined = undefined

  constructor(home: LogHome, baseOffset: number, how: { createdWallMs: number; jitterMs: number; isOnDisk: boolean }) {
    this.home = home
    this.baseOffset = baseOffset
    this.createdWallMs = how.createdWallMs
    this.jitterMs = how.jitterMs
    this.isOnDisk = how.isOnDisk
    this.nextOffset = baseOffset
    this.maxTimestampOffset = baseOffset
  }

  /** Of all its batches; undefined while they are on disk only, or have to be made anew. */
  get indexes(): SegmentIndexes | undefined {
    return this.#entries?.areWhole === true ? this.#entries : undefined
  }

  set indexes(indexes: SegmentIndexes | undefined) {
    this.#entries = indexes
  }

  /** Where batches that are appended get their entries; undefined while all of that is on disk only. */
  get entries(): SegmentIndexes | LaterEntries | undefined {
    return this.#entries
  }

  /** There are no index files that can be used, and somebody wants to append. */
  beginLaterEntries(): void {
    assert(this.#entries === undefined, 'indexes that are there are not given up')
    this.#entries = new LaterEntries()
  }

  get filePath(): string {
    return this.pathOf('log')
  }

  get openedFor(): 'read' | 'append' {
    return this.isSealed && this.isOnDisk ? 'read' : 'append'
  }

  get mustStayOpen(): boolean {
    return this.appendsInFlight > 0 || this.hasUnsyncedWrites
  }

  get hasAbortedInMemory(): boolean {
    return this.indexes !== undefined || !this.hasTransactionIndex
  }

  syncSoon(): void {
    this.home.requestFlush()
  }

  /** Where the first batch of the segment belongs. */
  placeOfFirst(): BatchPlace {
    return {
      from: this.baseOffset,
      isAfterKnown: true,
      to: this.isSealed ? this.nextOffset : this.baseOffset + maxRelativeOffset + 1,
      isContiguous: this.home.isContiguous,
      minLeaderEpoch: 0,
      epochs: this.home.epochs,
      areEpochsComplete: this.home.areEpochsComplete,
    }
  }

  pathOf(kind: SegmentFileKind): string {
    const suffix = kind === 'snapshot' ? '' : this.suffix
    return `${this.home.path}/${segmentFileName(this.baseOffset, kind)}${suffix}`
  }

  /** Takes in a batch that is appended to the segment: its place, its timestamps and its index entries. */
  note(bytes: Buffer, at: number, indexIntervalBytes: number): void {
    const entries = this.#entries
    this.#modifiedWallMs = undefined
    assert(entries !== undefined && this.maxTimestamp !== undefined, 'an active segment has entries in memory')
    const lastOffset = storedLastOffset(bytes, at)
    assert(lastOffset >= this.nextOffset, 'batches of a segment follow one another')
    const size = readBatchSize(bytes, at)
    const maxTimestamp = storedMaxTimestamp(bytes, at)
    this.noteTimestamp(maxTimestamp, lastOffset, this.sizeBytes === 0)
    if (this.bytesSinceIndexEntry > indexIntervalBytes) {
      entries.offsets.append(lastOffset - this.baseOffset, this.sizeBytes)
      entries.times.maybeAppend(this.maxTimestamp, this.maxTimestampOffset - this.baseOffset)
      this.bytesSinceIndexEntry = 0
    }
    this.verified.add(this.sizeBytes, this.sizeBytes + size)
    this.bytesSinceIndexEntry += size
    this.sizeBytes += size
    this.nextOffset = lastOffset + 1
  }

  /** Takes in the largest timestamp of a batch. */
  noteTimestamp(maxTimestamp: bigint, lastOffset: number, isFirst: boolean): void {
    if (isFirst) this.firstTimestamp = maxTimestamp
    if (this.maxTimestamp !== undefined && maxTimestamp <= this.maxTimestamp) return
    this.maxTimestamp = maxTimestamp
    this.maxTimestampOffset = lastOffset
  }

  /** An ABORT marker was appended that ended this transaction. */
  addAborted(entry: AbortedTransactionEntry): void {
    assert(this.#entries !== undefined, 'an active segment has entries in memory')
    this.#entries.aborted.push(entry)
    this.hasTransactionIndex = true
  }

  /** The last entry of the time index has the largest timestamp of all, once no batch follows. */
  endTimeIndex(): void {
    assert(this.#entries !== undefined && this.maxTimestamp !== undefined, 'a segment that ends has entries in memory')
    this.#entries.times.maybeAppend(this.maxTimestamp, this.maxTimestampOffset - this.baseOffset)
  }

  /** No batch follows. */
  seal(): void {
    this.endTimeIndex()
    this.isSealed = true
    this.isFinished = false
  }

  /** Batches can be noted: there are entries in memory, and what they know of timestamps. */
  get isPrepared(): boolean {
    return this.#entries !== undefined && this.maxTimestamp !== undefined && !this.isUnprepared
  }

  /** There are entries, the first timestamp has been read: batches can be noted. */
  prepare(): void {
    assert(this.#entries !== undefined, 'an active segment has entries in memory')
    this.isUnprepared = false
    this.#loadMaxTimestamp(this.#entries.times)
  }

  /** The first batches have been read anew. Of several with the largest timestamp the first one counts. */
  noteEarlier({ maxTimestamp = -1n, maxTimestampOffset }: Pick<Segment, 'maxTimestamp' | 'maxTimestampOffset'>): void {
    if (this.maxTimestamp !== undefined && maxTimestamp < this.maxTimestamp) return
    this.maxTimestamp = maxTimestamp
    this.maxTimestampOffset = maxTimestampOffset
  }

  #loadMaxTimestamp(times: TimeIndex): void {
    if (this.maxTimestamp !== undefined) return
    const last = times.length - 1
    this.maxTimestamp = last < 0 ? -1n : times.timestampAt(last)
    this.maxTimestampOffset = this.baseOffset + (last < 0 ? 0 : times.relativeOffsetAt(last))
  }

  /** It is the last segment of its log again, and is appended to. */
  unseal(): void {
    this.isSealed = false
    this.isFinished = true
  }

  /** Becomes what has been read anew from its file, as far as that is to count. The caller has cut the file there. */
  adopt(read: Segment): void {
    assert(read.baseOffset === this.baseOffset && read.indexes !== undefined, 'the same segment has been read')
    this.sizeBytes = read.sizeBytes
    this.writtenBytes = read.sizeBytes
    this.nextOffset = read.nextOffset
    this.syncedBytes = Math.min(this.syncedBytes, read.sizeBytes)
    this.maxTimestamp = read.maxTimestamp
    this.maxTimestampOffset = read.maxTimestampOffset
    this.firstTimestamp = read.firstTimestamp
    this.bytesSinceIndexEntry = read.bytesSinceIndexEntry
    this.indexes = read.indexes
    this.hasTransactionIndex = read.hasTransactionIndex
    this.verified.truncate(read.sizeBytes)
    this.cuts++
    this.isUnprepared = false
  }

  /** Of all records, -1 when none has one; undefined while it is not known. */
  get largestTimestamp(): bigint | undefined {
    return this.#entries?.areWhole === false ? undefined : this.maxTimestamp
  }

  /** For retention, in ms; undefined while it is not known. */
  get largestTimestampMs(): number | undefined {
    const { largestTimestamp = -1n } = this
    return largestTimestamp >= 0n ? Number(largestTimestamp) : this.#modifiedWallMs
  }

  /** The segment's time index is read. */
  noteLargestTimestamp(times: TimeIndex): void {
    this.#loadMaxTimestamp(times)
  }

  /** When the file last changed: for retention, where no record has a timestamp or none can be read. */
  noteModified(wallMs: number): void {
    this.#modifiedWallMs = wallMs
  }

  mark(): SegmentMark {
    assert(this.#entries !== undefined && this.maxTimestamp !== undefined, 'an active segment has entries in memory')
    return {
      sizeBytes: this.sizeBytes,
      nextOffset: this.nextOffset,
      maxTimestamp: this.maxTimestamp,
      maxTimestampOffset: this.maxTimestampOffset,
      firstTimestamp: this.firstTimestamp,
      bytesSinceIndexEntry: this.bytesSinceIndexEntry,
    }
  }

  restore(mark: SegmentMark): void {
    assert(this.#entries !== undefined && mark.sizeBytes <= this.sizeBytes, 'going back makes a segment smaller')
    this.sizeBytes = mark.sizeBytes
    this.nextOffset = mark.nextOffset
    this.maxTimestamp = mark.maxTimestamp
    this.maxTimestampOffset = mark.maxTimestampOffset
    this.firstTimestamp = mark.firstTimestamp
    this.bytesSinceIndexEntry = mark.bytesSinceIndexEntry
    this.#entries.truncate({ endOffset: mark.nextOffset, baseOffset: this.baseOffset })
    this.#noteIndexed(this.#entries.times)
    this.verified.truncate(mark.sizeBytes)
    this.isFinished = true
  }

  /** Indexes that were made anew know of batches that nobody knew of when the mark was made. */
  #noteIndexed(times: TimeIndex): void {
    const last = times.length - 1
    if (last < 0) return
    const maxTimestampOffset = this.baseOffset + times.relativeOffsetAt(last)
    this.noteEarlier({ maxTimestamp: times.timestampAt(last), maxTimestampOffset })
  }
}
