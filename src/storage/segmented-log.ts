import { assert } from '../base/assert.ts'
import { ErrorCode } from '../base/error-code.ts'
import type { Uuid } from '../base/uuid.ts'
import type { EpochStart } from '../core/log/leader-epochs.ts'
import type {
  Duplicate,
  EpochEndOffset,
  LogConfig,
  NeedsPacking,
  NeedsUnpacking,
  PartitionLog,
  PartitionLogListener,
  ReadIsolation,
  ReadRefusal,
  ReadRequest,
  Refusal,
  Reservation,
  ReserveRequest,
} from '../core/log/partition-log.ts'
import type { ProducerEntry } from '../core/log/producer-entry.ts'
import { expectDiskError, type FileRange } from '../io/disk.ts'
import type { CleanEnd } from './clean-ends.ts'
import { LogCompaction } from './compaction/log-compaction.ts'
import { LogAppender } from './log-appender.ts'
import type { DirectoryOfLog } from './log-directory.ts'
import { LogFlusher } from './log-flusher.ts'
import { findHoles } from './log-holes.ts'
import { LogReader, type ReadResult } from './log-reader.ts'
import { type ScrubCursor, type ScrubStep, scrub } from './log-scrub.ts'
import { type LoadedLog, LogState } from './log-state.ts'
import { LogTrimmer } from './log-trimmer.ts'
import type { StorageContext } from './storage-context.ts'
import { findByTimestamp, findMaxTimestamp, type SearchResult } from './timestamp-search.ts'

export interface LogInspection {
  readonly producers: readonly (readonly [number, ProducerEntry])[]
  readonly epochs: readonly EpochStart[]
  readonly segments: readonly { readonly baseOffset: number; readonly nextOffset: number; readonly sizeBytes: number }[]
  readonly recoveryPoint: number
}

const maxSearches = 8

/** A log in Kafka's files: segments, their indexes, producer snapshots and the leader epoch checkpoint, in one directory. */
export class SegmentedLog implements PartitionLog<FileRange> {
  readonly topicId: Uuid
  readonly topic: string
  readonly partition: number
  readonly #state: LogState
  readonly #reader: LogReader
  readonly #flusher: LogFlusher
  readonly #appender: LogAppender
  readonly #trimmer: LogTrimmer
  readonly compaction: LogCompaction

  constructor(context: StorageContext, directory: DirectoryOfLog, loaded: LoadedLog) {
    this.topicId = loaded.topicId
    this.topic = loaded.topic
    this.partition = loaded.partition
    this.#state = new LogState(context, directory, loaded)
    this.#reader = new LogReader(this.#state)
    this.#flusher = new LogFlusher(this.#state)
    this.#appender = new LogAppender(this.#state, this.#reader, this.#flusher)
    loaded.home.requestFlush = () => this.#flusher.request()
    this.#trimmer = new LogTrimmer(this.#state, this.#reader, this.#flusher, this.#appender)
    this.compaction = new LogCompaction(this.#state, this.#reader, this.#flusher, () => this.#appender.roll())
  }

  get logStartOffset(): number {
    return this.#state.logStartOffset
  }

  get logEndOffset(): number {
    return this.#state.logEnd.offset
  }

  get nextOffset(): number {
    return this.#state.nextOffset
  }

  get flushedOffset(): number {
    return this.#state.flushedOffset
  }

  get highWatermark(): number {
    return this.#state.highWatermark
  }

  get lastStableOffset(): number {
    const { highWatermark, logStartOffset, producers } = this.#state
    // The beginning of an open transaction may have been deleted.
    return Math.min(highWatermark, Math.max(logStartOffset, producers.firstUnstableOffset(highWatermark)))
  }

  get latestEpoch(): number {
    return this.#state.epochs.latestEpoch
  }

  get isOffline(): boolean {
    return !this.#state.isUsable
  }

  get sizeBytes(): number {
    return this.#state.segments.sizeBytes
  }

  get segmentCount(): number {
    return this.#state.segments.all.length
  }

  get config(): LogConfig {
    return this.#state.config
  }

  get directory(): DirectoryOfLog {
    return this.#state.directory
  }

  /** Where the log's files are. */
  get path(): string {
    return this.#state.home.path
  }

  get isIdentified(): boolean {
    return this.#state.isIdentified
  }

  /** What the log start checkpoint says of this log. */
  get durableLogStart(): number {
    return this.#state.durableLogStart
  }

  /** What the recovery point checkpoint says of this log. */
  get recoveryPoint(): number {
    return this.#state.recoveryPoint
  }

  /** Below it the log is compacted; undefined when it never was. */
  get cleanedOffset(): number | undefined {
    return this.#state.cleanedOffset
  }

  listen(listener: PartitionLogListener): void {
    this.#state.listener = listener
  }

  configure(config: LogConfig): void {
    this.#state.config = config
    this.#state.home.indexIntervalBytes = config.indexIntervalBytes
    this.compaction.reconfigured()
  }

  reserve(request: ReserveRequest): Reservation | Duplicate | Refusal | NeedsUnpacking | NeedsPacking {
    return this.#appender.reserve(request)
  }

  append(reservation: Reservation): void {
    this.#appender.append(reservation)
  }

  appendAsFollower(batches: Buffer): Refusal | undefined {
    return this.#appender.appendAsFollower(batches)
  }

  assignLeaderEpoch(leaderEpoch: number): void {
    this.#trimmer.assignLeaderEpoch(leaderEpoch)
  }

  assignEpochs(epochs: readonly EpochStart[]): Promise<void> {
    return this.#trimmer.assignEpochs(epochs)
  }

  read(request: ReadRequest): ReadResult | Promise<ReadResult> {
    const { isUsable, logStartOffset, logEnd } = this.#state
    if (!isUsable) return refused(ErrorCode.kafkaStorageError)
    if (request.offset < logStartOffset || request.offset > logEnd.offset) return refused(ErrorCode.offsetOutOfRange)
    const limitOffset = this.#limitOf(request.isolation)
    if (request.offset < limitOffset) return this.#reader.read(request, limitOffset)
    const abortedTransactions = request.isolation === 'lastStableOffset' ? [] : undefined
    return { type: 'read', parts: [], byteLength: 0, abortedTransactions }
  }

  moveHighWatermark(offset: number): void {
    assert(offset <= this.#state.logEnd.offset, 'the high watermark is not above the log end')
    this.#state.highWatermark = offset
  }

  moveLogStart(offset: number): Promise<void> {
    return this.#trimmer.moveLogStart(offset)
  }

  truncate({ endOffset }: { endOffset: number }): Promise<void> {
    return this.#trimmer.truncate(endOffset)
  }

  truncateFullyAndStartAt(offset: number): Promise<void> {
    return this.#trimmer.truncateFullyAndStartAt(offset)
  }

  endOffsetForEpoch(leaderEpoch: number): EpochEndOffset {
    return this.#state.epochs.endOffsetFor(leaderEpoch, this.#state.logEnd.offset)
  }

  epochAt(offset: number): number {
    return this.#state.epochs.epochAt(offset)
  }

  findByTimestamp(timestamp: bigint): Promise<SearchResult> {
    return this.#search(() => findByTimestamp(this.#state, timestamp))
  }

  findMaxTimestamp(): Promise<SearchResult> {
    return this.#search(() => findMaxTimestamp(this.#state))
  }

  requestFlush(): void {
    this.#flusher.request()
  }

  flush(): Promise<void> {
    return this.#flusher.flush()
  }

  /** State to be compared and printed: what must be the same live, after a replay, and from a snapshot and a replay. */
  inspect(): LogInspection {
    const { producers, epochs, segments } = this.#state
    return {
      producers: [...producers.entries].sort((a, b) => a[0] - b[0]),
      epochs: epochs.entries,
      segments: segments.all.map(({ baseOffset, nextOffset, sizeBytes }) => ({ baseOffset, nextOffset, sizeBytes })),
      recoveryPoint: this.#state.recoveryPoint,
    }
  }

  /**
   * Whether this process has not checked a stored batch since it began: it does so at its first read, and until then knows
   * nothing of what the disk may have done to it.
   */
  isUnread(filePath: string, { at, size }: { readonly at: number; readonly size: number }): boolean {
    const segment = this.#state.segments.all.find(one => one.filePath.endsWith(filePath))
    return segment !== undefined && at + size <= segment.writtenBytes && !segment.verified.touches(at, at + size)
  }

  /** Begins a new segment, if the active one holds anything. */
  roll(): void {
    this.#appender.roll()
  }

  /** Reads a part of the log again and checks it. Rejects with `DiskError`. */
  scrub(cursor: ScrubCursor | undefined, maxBytes: number): Promise<ScrubStep> {
    return scrub(this.#state, cursor, maxBytes)
  }

  /** Tells of segments that are missing among the others. Answers how many were looked at. Rejects with `DiskError`. */
  findHoles(): Promise<number> {
    return findHoles(this.#state)
  }

  /** What a clean shutdown leaves of the active segment. */
  get cleanEnd(): CleanEnd {
    const { baseOffset, sizeBytes, nextOffset } = this.#state.segments.active
    return { baseOffset, sizeBytes, endOffset: nextOffset }
  }

  /** `flush.ms`: asks for a sync of what has been written for too long. */
  flushOlderThan(monotonicMs: number): void {
    this.#flusher.flushOlderThan(monotonicMs)
  }

  /** `producer.id.expiration.ms`: forgets idempotent producers that have been idle for too long. */
  expireProducers(wallMs: number): void {
    const { producers, context } = this.#state
    producers.expire({ wallMs, expirationMs: context.producerIdExpirationMs() })
  }

  /** Segments are being swapped, cut or removed: who wants to remove others has to wait. */
  get isChanging(): boolean {
    return !this.#state.changes.isIdle
  }

  /** What retention, by time, size and log start, removes at this time. */
  applyRetention(wallMs: number): Promise<void> {
    return this.#trimmer.applyRetention(wallMs)
  }

  /**
   * Nothing is read or appended any more; when this resolves the files are such that the log opens again without reading a
   * batch. Rejects when that failed: the directory must not be marked clean.
   */
  async close(): Promise<void> {
    const state = this.#state
    await this.#appender.whenIdle()
    state.isClosed = true
    this.compaction.stop('the log is closed')
    await this.compaction.whenEnded()
    // Or a cut that is under way would change what the files are to say.
    await state.changes.run(() => Promise.resolve())
    await this.#flusher.close().finally(() => this.#releaseAll())
  }

  /** The log is deleted, or its directory has failed: nothing more is written. Ranges that are being sent stay good. */
  abandon(): void {
    this.#state.isClosed = true
    this.#state.isAbandoned = true
    this.#state.compaction?.stop('the log is deleted')
    this.#appender.abandon()
    this.#releaseAll()
  }

  /** Resolves when nothing of an abandoned log is under way any more. */
  async whenAbandoned(): Promise<void> {
    assert(this.#state.isAbandoned, 'what is waited for comes to an end only when the log is abandoned')
    await this.#appender.whenIdle()
    await this.compaction.whenEnded()
    await this.#flusher.finishSealed()
    await this.#state.changes.run(() => Promise.resolve())
    await this.#flusher.whenIdle()
  }

  /** Its directory has been renamed: another log may have the name before all that is under way here is over. */
  moved(path: string): void {
    this.#state.home.path = path
  }

  async #search(search: () => Promise<SearchResult>): Promise<SearchResult> {
    const { segments, directory } = this.#state
    for (let attempt = 1; this.#state.isUsable; attempt++) {
      const { layout } = segments
      try {
        return await search()
      } catch (error) {
        expectDiskError(error)
        // A file was not found because compaction or retention has put an end to it: what holds now is searched.
        if (layout !== segments.layout && attempt < maxSearches) continue
        if (this.#state.isUsable) directory.readFailed(error)
        return refused(ErrorCode.kafkaStorageError)
      }
    }
    return refused(ErrorCode.kafkaStorageError)
  }

  #releaseAll(): void {
    const { segments, context } = this.#state
    this.#reader.tail?.clear()
    for (const segment of segments.all) {
      // Who is still reading does not open it again: nobody would close it.
      segment.isGone = true
      context.openFiles.close(segment)
      context.indexCache.forget(segment)
    }
  }

  #limitOf(isolation: ReadIsolation): number {
    if (isolation === 'logEndOffset') return this.#state.logEnd.offset
    return isolation === 'highWatermark' ? this.#state.highWatermark : this.lastStableOffset
  }
}

function refused(errorCode: ErrorCode): ReadRefusal {
  return { type: 'refused', errorCode }
}
