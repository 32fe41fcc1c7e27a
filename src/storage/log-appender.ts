import { assert } from '../base/assert.ts'
import { ErrorCode } from '../base/error-code.ts'
import type {
  Duplicate,
  NeedsPacking,
  NeedsUnpacking,
  Refusal,
  Reservation,
  ReserveRequest,
} from '../core/log/partition-log.ts'
import { encodeProducerSnapshot } from '../core/log/producer-snapshot.ts'
import { jitterBoundMs, maxRelativeOffset, mustRoll } from '../core/log/segment-rolling.ts'
import { type DiskError, expectDiskError } from '../io/disk.ts'
import { batchHeaderBytes, batchSizeAt, readBaseOffset, readBatchSize } from '../records/batch.ts'
import { checkBatchRun } from '../records/batch-run.ts'
import { SegmentIndexes } from './index-entries.ts'
import type { LogFlusher } from './log-flusher.ts'
import type { LogReader } from './log-reader.ts'
import type { LogState } from './log-state.ts'
import { LogWriter, maxGatheredBytes, type Write } from './log-writer.ts'
import { refuse, reserveBatch } from './reservation.ts'
import { Segment } from './segment.ts'
import { loadIndexesNow } from './segment-indexes.ts'
import { isLegacy, storedLastOffset, storedLeaderEpoch, storedMaxTimestamp } from './stored-batch.ts'
import { TailCache } from './tail-cache.ts'

/** Takes batches into one log, and brings it back to where it was when they could not be written. */
export class LogAppender {
  readonly #state: LogState
  readonly #reader: LogReader
  readonly #flusher: LogFlusher
  readonly #writer: LogWriter

  constructor(state: LogState, reader: LogReader, flusher: LogFlusher) {
    this.#state = state
    this.#reader = reader
    this.#flusher = flusher
    this.#writer = new LogWriter(this, state.context.turn, state.context.openFiles)
  }

  get isIdle(): boolean {
    return this.#writer.isIdle
  }

  reserve(request: ReserveRequest): Reservation | Duplicate | Refusal | NeedsUnpacking | NeedsPacking {
    const refusal = this.#refusal()
    return refusal ?? reserveBatch(this.#state.context.validator, this.#state, request)
  }

  append({ baseOffset, bytes }: Reservation): void {
    assert(baseOffset === this.#state.nextOffset, 'a reservation is appended in the turn in which it was made')
    assert(this.#state.isWritable, 'a reservation is appended in the turn in which it was made')
    this.#rollBefore(bytes, 0)
    this.#take(bytes, 0, bytes.length)
  }

  appendAsFollower(batches: Buffer): Refusal | undefined {
    const refusal = this.#refusal() ?? checkContinues(this.#state, batches)
    if (refusal !== undefined) return refusal
    this.#state.ledEpoch = -1
    let start = 0
    let at = 0
    for (let size = batchSizeAt(batches, at); size > 0; size = batchSizeAt(batches, at)) {
      if (this.#mustRollBefore(batches, at, at - start)) {
        this.#take(batches, start, at)
        start = at
        this.#roll(this.#beginningOf(batches, at))
      }
      at += size
    }
    this.#take(batches, start, at)
    return undefined
  }

  /** Begins a new segment, if the active one holds anything and the directory can be written. */
  roll(): void {
    if (this.#refusal() === undefined && this.#state.segments.active.sizeBytes > 0) this.#roll(this.#state.nextOffset)
  }

  /** What has not begun to be written never is. */
  abandon(): void {
    this.#writer.abandon()
  }

  /** Resolves when no append is in flight. */
  async whenIdle(): Promise<void> {
    while (!this.isIdle) await this.#state.context.clock.yieldTurn()
  }

  writeCompleted(write: Write): void {
    const state = this.#state
    if (state.isAbandoned) return
    // Whoever waits for this batch must not be told that it is kept: nothing of the directory is certain any more.
    if (state.directory.isOffline) {
      state.listener.appendsFailed({ fromOffset: write.fromOffset, isOffline: true })
      return
    }
    const { segment, endOffset, mark } = write
    segment.writtenBytes = mark.sizeBytes + write.byteLength
    state.context.traffic.add(segment, write.byteLength)
    this.#flusher.writeCompleted({ offset: endOffset, segment, position: segment.writtenBytes })
  }

  fileCreated(): void {
    this.#state.nameChanges++
  }

  writesFailed(first: Write, error: DiskError): void {
    const state = this.#state
    if (state.isAbandoned) return
    const { segment, mark, fromOffset } = first
    for (const dropped of state.segments.takeBackAfter(segment)) this.#drop(dropped)
    segment.isSealed = false
    segment.restore(mark)
    state.producers.rollBack(fromOffset)
    // They may have been saved while the write was under way: the file is settled before the next append.
    state.epochFile.dropNewerThan(first.latestEpoch)
    // But for the one in which the log is led on since then.
    if (state.ledEpoch > first.latestEpoch) {
      // As where it began to lead: offsets that are missing at the end of the log go to others.
      state.epochFile.truncateFromEnd(fromOffset + 1)
      state.epochFile.assign({ leaderEpoch: state.ledEpoch, startOffset: fromOffset })
    }
    state.nextOffset = fromOffset
    this.#reader.forget(fromOffset)
    state.directory.writeFailed(error)
    if (segment.baseOffset > fromOffset) this.#takeBack(segment)
    else if (!state.directory.isOffline && segment.file !== undefined) this.#cut(segment, mark.sizeBytes)
    state.listener.appendsFailed({ fromOffset, isOffline: state.directory.isOffline })
  }

  /**
   * A segment that was to begin with a batch far behind the end of the log begins there no more: the one before it is the active
   * one again. All that was written to that is complete.
   */
  #takeBack(segment: Segment): void {
    const { segments, context } = this.#state
    const before = segments.all[segments.indexOf(segment) - 1]
    assert(before !== undefined, 'a segment that begins behind the end of the log follows another')
    for (const dropped of segments.takeBackAfter(before)) this.#drop(dropped)
    // It is opened for appends again; one that is not synced has stayed open for them.
    if (!before.hasUnsyncedWrites) context.openFiles.close(before)
    context.indexCache.forget(before)
    before.unseal()
  }

  /** Of a segment that waited for the writes to the one before it nothing is written, its file may have been made already. */
  #drop(segment: Segment): void {
    if (!segment.isOnDisk) return
    const { context, directory } = this.#state
    context.openFiles.close(segment)
    this.#state.nameChanges++
    try {
      context.disk.rename(segment.filePath, `${segment.filePath}.deleted`)
    } catch (error) {
      expectDiskError(error)
      directory.fail(error)
    }
  }

  #cut(segment: Segment, sizeBytes: number): void {
    try {
      segment.file?.truncate(sizeBytes)
    } catch (error) {
      expectDiskError(error)
      this.#state.directory.fail(error)
    }
  }

  #refusal(): Refusal | undefined {
    const { isWritable } = this.#state
    if (isWritable && !this.#writer.isFailing && this.#isPrepared() && this.#areEpochsSettled()) return undefined
    return refuse(ErrorCode.kafkaStorageError, 'the log directory cannot be written')
  }

  /** The file of epochs holds nothing against what is appended next. Where it could not be written, the next append tries again. */
  #areEpochsSettled(): boolean {
    try {
      this.#state.settleEpochs()
      return true
    } catch (error) {
      this.#state.failed(error)
      return false
    }
  }

  #isPrepared(): boolean {
    try {
      this.#prepare()
      return true
    } catch (error) {
      expectDiskError(error)
      this.#prepareFailed(error)
      return false
    }
  }

  /** Nothing of this log has been written yet, so nothing is in doubt, and the other logs go on. */
  #prepareFailed(error: DiskError): void {
    const { directory } = this.#state
    const isOfThisFile = error.code === 'io' || error.code === 'notPermitted' || error.code === 'isDirectory'
    if (isOfThisFile) directory.readFailed(error)
    else directory.writeFailed(error)
  }

  #rollBefore(bytes: Buffer, at: number): void {
    if (this.#mustRollBefore(bytes, at, 0)) this.#roll(this.#state.nextOffset)
  }

  /** The new segment begins where the log ends; with the batch, where that is too far away to be in an index. */
  #beginningOf(bytes: Buffer, at: number): number {
    const { nextOffset } = this.#state
    return storedLastOffset(bytes, at) - nextOffset > maxRelativeOffset ? readBaseOffset(bytes, at) : nextOffset
  }

  /** `untaken` bytes go to the active segment before the batch. */
  #mustRollBefore(bytes: Buffer, at: number, untaken: number): boolean {
    const { config, segments, context } = this.#state
    const { active } = segments
    const { entries } = active
    assert(entries !== undefined, 'an active segment has entries in memory')
    return mustRoll(
      {
        baseOffset: active.baseOffset,
        sizeBytes: active.sizeBytes + untaken,
        offsetIndexEntries: entries.offsets.length,
        timeIndexEntries: entries.times.length,
        firstTimestamp: active.firstTimestamp,
        createdWallMs: active.createdWallMs,
        jitterMs: active.jitterMs,
        batchBytes: readBatchSize(bytes, at),
        batchLastOffset: storedLastOffset(bytes, at),
        batchMaxTimestamp: storedMaxTimestamp(bytes, at),
        wallMs: context.clock.now().wallMs,
      },
      config,
    )
  }

  /** What an append needs of the active segment comes into memory, when it is the first since the log was opened. */
  #prepare(): void {
    const { active } = this.#state.segments
    if (active.isPrepared) return
    loadIndexesNow(this.#state.context, active)
    if (active.sizeBytes > 0) {
      const header = Buffer.allocUnsafe(batchHeaderBytes)
      const length = this.#state.context.openFiles.use(active).readNow(0, header)
      active.firstTimestamp = length === batchHeaderBytes ? storedMaxTimestamp(header, 0) : undefined
    }
    active.prepare()
  }

  #roll(baseOffset: number): void {
    const { segments, home, context, config, producers } = this.#state
    this.#writer.writeGathered()
    segments.active.seal()
    const { wallMs } = context.clock.now()
    const jitterBound = jitterBoundMs(config)
    const jitterMs = jitterBound > 0 ? context.random.below(jitterBound) : 0
    const segment = new Segment(home, baseOffset, { createdWallMs: wallMs, jitterMs, isOnDisk: false })
    segment.indexes = new SegmentIndexes()
    segment.snapshotBefore = encodeProducerSnapshot(producers.entries)
    segments.add(segment)
    this.#state.isChanged = true
  }

  /** Takes in whole batches, which all go to the active segment. */
  #take(bytes: Buffer, start: number, end: number): void {
    if (start === end) return
    const state = this.#state
    const segment = state.segments.active
    const write = this.#writer.begin(segment, state.nextOffset, state.epochs.latestEpoch)
    const position = segment.sizeBytes
    const baseOffset = state.nextOffset
    for (let at = start; at < end; at += readBatchSize(bytes, at)) this.#note(segment, bytes, at)
    state.isChanged = true
    const run = start === 0 && end === bytes.length ? bytes : bytes.subarray(start, end)
    write.endOffset = state.nextOffset
    if (write.byteLength + run.length > maxGatheredBytes) {
      this.#writer.writeNow(write, run)
      return
    }
    this.#reader.tail ??= this.#makeTail()
    const place = { baseOffset, endOffset: state.nextOffset, segmentBaseOffset: segment.baseOffset, position }
    this.#writer.gather(write, this.#reader.tail.add(run, place))
  }

  #makeTail(): TailCache {
    const { ring, limits } = this.#state.context
    return new TailCache(ring, limits.tailBytesPerPartition, () => this.#writer.hasUnwritten)
  }

  #note(segment: Segment, bytes: Buffer, at: number): void {
    const { epochFile, producers, home } = this.#state
    const leaderEpoch = storedLeaderEpoch(bytes, at)
    if (leaderEpoch > epochFile.epochs.latestEpoch)
      epochFile.assign({ leaderEpoch, startOffset: readBaseOffset(bytes, at) })
    segment.note(bytes, at, home.indexIntervalBytes)
    const aborted = producers.append(bytes, at)
    if (aborted !== undefined) segment.addAborted(aborted)
    this.#state.nextOffset = segment.nextOffset
  }
}

/** A refusal unless the bytes are whole and valid batches (the last may be cut off) that follow the end of the log. */
function checkContinues({ nextOffset, epochs }: LogState, batches: Buffer): Refusal | undefined {
  let leaderEpoch = epochs.latestEpoch
  let expectedOffset = nextOffset
  let at = 0
  // A run ends before an epoch that began in a gap. What to do about that is the caller's: all that is appended is checked.
  for (;;) {
    const run = checkBatchRun(batches.subarray(at), {
      nextOffset: expectedOffset,
      maxLeaderEpoch: Number.POSITIVE_INFINITY,
    })
    if (run.type === 'broken') return refuse(run.errorCode, run.reason)
    if (run.batchCount === 0) break
    for (const end = at + run.sizeBytes; at < end; at += readBatchSize(batches, at)) {
      if (storedLeaderEpoch(batches, at) < leaderEpoch && !isLegacy(batches, at)) {
        return refuse(ErrorCode.fencedLeaderEpoch, 'the batch is of an older leader epoch than the log')
      }
      leaderEpoch = Math.max(leaderEpoch, storedLeaderEpoch(batches, at))
    }
    expectedOffset = run.lastOffset + 1
  }
  return at === 0 && batches.length > 0 ? refuse(ErrorCode.corruptMessage, 'the batch is cut off') : undefined
}
