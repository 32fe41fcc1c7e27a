import { assert } from '../base/assert.ts'
import type { EpochStart } from '../core/log/leader-epochs.ts'
import { encodeProducerSnapshot } from '../core/log/producer-snapshot.ts'
import { countExpired, type RetainedSegment } from '../core/log/retention.ts'
import { expectDiskError } from '../io/disk.ts'
import { batchHeaderBytes, readBaseOffset } from '../records/batch.ts'
import { SegmentIndexes } from './index-entries.ts'
import type { LogAppender } from './log-appender.ts'
import type { LogFlusher } from './log-flusher.ts'
import { writeGapsBelow } from './log-holes.ts'
import type { LogReader } from './log-reader.ts'
import type { LogState } from './log-state.ts'
import { unstableStatesBefore } from './producer-recovery.ts'
import { Segment } from './segment.ts'
import { closeTaken, renameToDeleted, unlinkLater } from './segment-removal.ts'
import { readSegment } from './segment-scan.ts'
import { isLegacy } from './stored-batch.ts'
import { largestTimestamp } from './timestamp-search.ts'

/** Takes away from one log: its oldest segments, its newest records, or all of it. */
export class LogTrimmer {
  readonly #state: LogState
  readonly #reader: LogReader
  readonly #flusher: LogFlusher
  readonly #appender: LogAppender
  #isRetaining = false
  /** Segments that are no longer part of the log, oldest first, and whose files are still there. */
  readonly #taken: Segment[] = []

  constructor(state: LogState, reader: LogReader, flusher: LogFlusher, appender: LogAppender) {
    this.#state = state
    this.#reader = reader
    this.#flusher = flusher
    this.#appender = appender
  }

  /** Retention and DeleteRecords: removes segments that nobody may read any more. */
  async applyRetention(wallMs: number): Promise<void> {
    if (this.#isRetaining || !this.#state.isUsable) return
    this.#isRetaining = true
    try {
      await this.#state.changes.run(() => this.#applyRetention(wallMs))
    } catch (error) {
      expectDiskError(error)
      if (this.#state.hasFiles) this.#state.directory.writeFailed(error)
    } finally {
      this.#isRetaining = false
    }
  }

  async #applyRetention(wallMs: number): Promise<void> {
    const state = this.#state
    const { segments } = state
    await this.#loadLargestTimestamps(wallMs)
    if (!state.isUsable) return
    let count = this.#countExpired(wallMs)
    if (count === segments.all.length) {
      this.#appender.roll()
      count = Math.min(count, segments.all.length - 1)
    }
    if (count > 0) await this.#takeOldest(count)
    await this.#removeTaken()
  }

  #countExpired(wallMs: number): number {
    const { segments, producers, highWatermark, logStartOffset, config } = this.#state
    const retained = segments.all.map((segment, index): RetainedSegment => {
      return {
        endOffset: segments.all[index + 1]?.baseOffset ?? segment.nextOffset,
        sizeBytes: segment.sizeBytes,
        largestTimestamp: segment.largestTimestampMs,
      }
    })
    const lastStableOffset = Math.min(highWatermark, producers.firstUnstableOffset(highWatermark))
    return countExpired(retained, { logStartOffset, lastStableOffset, wallMs }, config)
  }

  /** Of the oldest segments, as far as time retention may need them; the first that is too young ends the search. */
  async #loadLargestTimestamps(wallMs: number): Promise<void> {
    const { segments, config } = this.#state
    if (!config.isDeleted || config.retentionMs < 0) return
    for (const segment of [...segments.all]) {
      // Where the log goes on.
      if (!segment.isSealed && segment.sizeBytes === 0) return
      if (segment.largestTimestampMs === undefined) await this.#loadLargestTimestamp(segment)
      if (!this.#state.isUsable || wallMs - (segment.largestTimestampMs ?? wallMs) <= config.retentionMs) return
    }
  }

  /**
   * What cannot be read is as old as its file. That is no reason to give up the directory, nor to keep the records of this log for
   * ever; but with too many open files it can be read later.
   */
  async #loadLargestTimestamp(segment: Segment): Promise<void> {
    const { context, directory, isUsable } = this.#state
    let timestamp = -1n
    try {
      timestamp = await largestTimestamp(this.#state, segment)
    } catch (error) {
      expectDiskError(error)
      if (error.code === 'tooManyOpenFiles' || !isUsable) throw error
      directory.readFailed(error)
    }
    if (timestamp < 0n) segment.noteModified(context.disk.status(segment.filePath)?.modifiedWallMs ?? 0)
  }

  async #takeOldest(count: number): Promise<void> {
    const state = this.#state
    const { segments } = state
    const first = segments.all[count]
    await this.#makeActiveFile()
    // The log may have been cut meanwhile: a follower gives up what its new leader does not have.
    if (!this.#mayBeginAt(first)) return
    await this.moveLogStart(Math.max(first.baseOffset, state.logStartOffset))
    const before = segments.indexOf(first)
    if (before <= 0 || !state.isUsable || state.logStartOffset < first.baseOffset) return
    this.#taken.push(...closeTaken(state, segments.removeFirst(before)))
    this.#reader.forget(state.nextOffset)
  }

  #mayBeginAt(segment: Segment): boolean {
    const { segments, isUsable, highWatermark } = this.#state
    return isUsable && segments.includes(segment) && segment.baseOffset <= highWatermark
  }

  /**
   * The oldest first, and none before those that are older: what a crash or a fault leaves of them goes on where the log
   * begins.
   */
  async #removeTaken(): Promise<void> {
    while (this.#taken.length > 0 && this.#state.hasFiles) {
      await this.#removeFiles([this.#taken[0]])
      this.#taken.shift()
    }
  }

  /** The name of a new segment's file is all that says where a log goes on whose older segments are gone. */
  async #makeActiveFile(): Promise<void> {
    const state = this.#state
    const { segments, context } = state
    // Nor does it say so before all that comes before it is in the files: a kill would leave a hole.
    while (state.hasFiles && state.written.offset < segments.active.baseOffset) await context.clock.yieldTurn()
    const { active } = segments
    if (state.hasFiles && !active.isOnDisk) {
      context.openFiles.use(active)
      active.isOnDisk = true
      this.#state.nameChanges++
    }
    await this.#flusher.flush()
    await this.#flusher.finishSealed()
  }

  /**
   * The log is synced up to its start first: a power cut must not leave a log that ends below it. Then the start is saved, and
   * only then does it move for readers. Rejects with `DiskError`, of which the directory has been told.
   */
  async moveLogStart(offset: number): Promise<void> {
    const state = this.#state
    assert(offset <= state.highWatermark, 'the log does not begin above the high watermark')
    state.plannedLogStart = Math.max(state.plannedLogStart, offset)
    if (offset > state.flushedOffset) await this.#flusher.flush()
    await state.directory.saveLogStarts().catch(error => {
      throw state.failed(error)
    })
    // A cut meanwhile has taken back what was planned above it.
    if (offset <= Math.min(state.plannedLogStart, state.highWatermark)) this.#moveStart(offset)
  }

  #moveStart(offset: number): void {
    const state = this.#state
    if (offset <= state.logStartOffset) return
    state.logStartOffset = offset
    state.isChanged = true
    state.producers.truncateFromStart(offset)
    state.epochFile.truncateFromStart(offset)
    state.context.clock.nextTurn(() => state.listener.logStartOffsetMoved())
  }

  assignLeaderEpoch(leaderEpoch: number): void {
    const state = this.#state
    const { epochFile, nextOffset } = state
    // Where epochs began in offsets that are missing at the end of this log: it gives these offsets to others.
    const isCut = epochFile.truncateFromEnd(nextOffset + 1)
    const isNew = epochFile.assign({ leaderEpoch, startOffset: nextOffset })
    state.ledEpoch = leaderEpoch
    if (isCut || isNew) state.isChanged = true
  }

  /** What an append that follows says of its epoch would be later than these, and is not to be found without them. */
  async assignEpochs(epochs: readonly EpochStart[]): Promise<void> {
    assert(this.#appender.isIdle, 'no append is in flight when epochs are assigned')
    await this.#state.changes.run(() => this.#assignEpochs(epochs))
  }

  async #assignEpochs(epochs: readonly EpochStart[]): Promise<void> {
    const state = this.#state
    if (!state.hasFiles) return
    try {
      await this.#flusher.finishSealed()
      for (const epoch of epochs) state.epochFile.assign(epoch)
      state.isChanged = true
      await this.#saved()
    } catch (error) {
      this.#cutFailed(error)
    }
  }

  async truncate(endOffset: number): Promise<void> {
    const state = this.#state
    assert(this.#appender.isIdle, 'no append is in flight when a log is cut')
    state.compaction?.stop('the log is cut')
    await state.changes.run(() => this.#truncateAlone(endOffset))
  }

  async #truncateAlone(endOffset: number): Promise<void> {
    const state = this.#state
    if (!state.hasFiles) return
    try {
      await this.#flusher.finishSealed()
      if (endOffset < state.segments.first.baseOffset) return await this.#startAnew(endOffset)
      await this.#truncate(endOffset)
      await this.#saved()
      this.#flusher.cutIsOver()
    } catch (error) {
      this.#cutFailed(error)
    }
  }

  async #truncate(endOffset: number): Promise<void> {
    const state = this.#state
    if (endOffset >= state.nextOffset) {
      state.epochFile.truncateFromEnd(endOffset)
      return
    }
    // Nobody plans to begin the log above its new end while it is being cut.
    state.highWatermark = Math.min(state.highWatermark, endOffset)
    const segment = state.segments.floor(endOffset)
    const states = await unstableStatesBefore(state.context, state.segments, segment, state.highWatermark)
    // A batch that reaches over the offset goes: the log may end earlier than asked.
    const { read } = await readSegment(state.context, segment, states, endOffset)
    // Lower first: a checkpoint above where the batches end would look like records that were lost.
    await this.#lowerCheckpoints(Math.min(endOffset, read.nextOffset))
    // So is a log start above it: what is written there next would seem to have been deleted.
    if (state.plannedLogStart > endOffset) {
      state.resetLogStart(Math.min(state.logStartOffset, endOffset))
      await state.directory.saveLogStarts()
    }
    const end = await this.#endOf(segment, read, endOffset)
    assert(this.#appender.isIdle, 'no append is in flight when a log is cut')

    // Not before: who reads what is to be cut still compares it with its epoch. The log may begin in the batch that goes, and what
    // is known of its epochs with it.
    state.epochFile.truncateFromEnd(Math.min(endOffset, Math.max(end, read.nextOffset) + 1))
    const removed = closeTaken(state, state.segments.cutWithin(segment))
    this.#unseal(segment)
    segment.adopt(read)
    state.producers.adopt(states)
    const last = end > segment.nextOffset ? this.#begin(end) : segment
    this.#ended(last)
    // The newest go first, and the end of this segment last: whatever a crash leaves is a beginning of the log. What is left out in
    // the midst of it would be taken for a gap that compaction has made.
    await this.#removeFiles(removed.toReversed())
    if ((state.endSnapshot ?? 0) > segment.nextOffset) await this.#flusher.removeEndSnapshot()
    if (!state.hasFiles) return
    const file = state.context.openFiles.use(segment)
    file.retain()
    try {
      file.truncate(read.sizeBytes)
      await file.sync()
    } finally {
      file.release()
    }
    segment.syncedBytes = read.sizeBytes
    if (last === segment) return
    await writeGapsBelow(state.context.disk, state.home.path, last.baseOffset)
    await this.#makeActiveFile()
  }

  /**
   * Where the log ends when it is cut at `endOffset`: also behind offsets that are left out before it, since they have been given
   * to records, and are not to be given to others. But not within a batch.
   */
  async #endOf(segment: Segment, read: Segment, endOffset: number): Promise<number> {
    if (read.sizeBytes >= segment.writtenBytes) return endOffset
    const header = await this.#state.context.openFiles.use(segment).read(read.sizeBytes, batchHeaderBytes)
    if (header.length < batchHeaderBytes || isLegacy(header, 0)) return read.nextOffset
    return Math.max(read.nextOffset, Math.min(endOffset, readBaseOffset(header, 0)))
  }

  /** A segment begins there: its name says where the log ends, when no batch does. */
  #begin(offset: number): Segment {
    const { segments, home, context, producers } = this.#state
    segments.active.seal()
    const { wallMs } = context.clock.now()
    const segment = new Segment(home, offset, { createdWallMs: wallMs, jitterMs: 0, isOnDisk: false })
    segment.indexes = new SegmentIndexes()
    segment.snapshotBefore = encodeProducerSnapshot(producers.entries)
    segments.add(segment)
    return segment
  }

  async truncateFullyAndStartAt(offset: number): Promise<void> {
    assert(this.#appender.isIdle, 'no append is in flight when a log is cut')
    this.#state.compaction?.stop('the log is emptied')
    await this.#state.changes.run(() => this.#startAnew(offset))
  }

  async #startAnew(offset: number): Promise<void> {
    const state = this.#state
    if (!state.hasFiles) return
    try {
      await this.#flusher.finishSealed()
      // What a crash leaves of the old segments has lost nothing, wherever it ends or begins.
      this.#flusher.cutBegins(state.segments.first.baseOffset)
      await this.#lowerCheckpoints(offset)
      state.announceLogStart(offset)
      await state.directory.saveLogStarts()
      if (!state.hasFiles) return
      const { wallMs } = state.context.clock.now()
      const segment = new Segment(state.home, offset, { createdWallMs: wallMs, jitterMs: 0, isOnDisk: false })
      segment.indexes = new SegmentIndexes()
      // Also what retention could not remove yet: the log may begin anew where that lies.
      const removed = [...this.#taken.splice(0), ...closeTaken(state, state.segments.replaceAll(segment))]
      state.producers.reset([])
      state.epochFile.clear()
      state.resetLogStart(offset)
      state.highWatermark = offset
      this.#ended(segment)
      state.flushedOffset = offset
      // The newest go first: whatever a crash leaves of them is a log that ends earlier.
      await this.#removeFiles(removed.reverse())
      await this.#flusher.removeEndSnapshot()
      if (!state.hasFiles) return
      state.context.openFiles.use(segment)
      segment.isOnDisk = true
      state.nameChanges++
      await this.#saved()
      this.#flusher.cutIsOver()
      state.recoveryPoint = offset
      await state.directory.saveLogStarts()
    } catch (error) {
      this.#cutFailed(error)
    }
  }

  /** What is appended at the offset is neither synced nor compacted, whatever was said of records that lay there. */
  async #lowerCheckpoints(endOffset: number): Promise<void> {
    const state = this.#state
    this.#flusher.cutBegins(endOffset)
    await state.directory.saveRecoveryPoints()
    if (state.cleanedOffset === undefined || state.cleanedOffset <= endOffset) return
    state.cleanedOffset = endOffset
    await state.directory.saveCleanedOffsets()
  }

  /** The log ends with this segment now. */
  #ended(segment: Segment): void {
    const state = this.#state
    state.isChanged = true
    state.nextOffset = segment.nextOffset
    // It may end earlier than asked: the last batch reached further, or compaction has left nothing up to there.
    if (state.cleanedOffset !== undefined) state.cleanedOffset = Math.min(state.cleanedOffset, segment.nextOffset)
    state.written = { offset: segment.nextOffset, segment, position: segment.sizeBytes }
    state.logEnd = state.written
    state.highWatermark = Math.min(state.highWatermark, segment.nextOffset)
    if (state.logStartOffset > segment.nextOffset) state.resetLogStart(segment.nextOffset)
    this.#flusher.cut(segment.nextOffset)
    this.#reader.forget(segment.nextOffset)
  }

  /** A sealed segment is the active one again: its file has to be open for appends. */
  #unseal(segment: Segment): void {
    if (!segment.isSealed) return
    this.#state.context.openFiles.close(segment)
    this.#state.context.indexCache.forget(segment)
    segment.unseal()
  }

  async #saved(): Promise<void> {
    await this.#state.epochFile.save()
    await this.#state.context.disk.syncDirectory(this.#state.home.path)
    await this.#flusher.flush()
  }

  #cutFailed(error: unknown): void {
    expectDiskError(error)
    // What of the cut is on disk is not known.
    if (!this.#state.isAbandoned) this.#state.directory.fail(error)
  }

  /** The files get the suffix `.deleted` at once and go when nobody can be reading them any more. */
  async #removeFiles(segments: readonly Segment[]): Promise<void> {
    const names = new Set<string>()
    for (const segment of segments) renameToDeleted(this.#state, segment, names)
    if (names.size === 0) return
    await this.#state.context.disk.syncDirectory(this.#state.home.path)
    unlinkLater(this.#state, names)
  }
}
