import { assert } from '../base/assert.ts'
import { partitionMetadataFileName, segmentFileName } from '../core/log/file-names.ts'
import { encodeProducerSnapshot } from '../core/log/producer-snapshot.ts'
import { encodeTransactionIndex } from '../core/log/transaction-index.ts'
import { DiskError, replaceFile } from '../io/disk.ts'
import type { SegmentIndexes } from './index-entries.ts'
import { namesakeFileName } from './log-loader.ts'
import type { LogState } from './log-state.ts'
import type { Segment } from './segment.ts'
import { rebuildIndexes } from './segment-indexes.ts'
import type { LogPosition } from './segment-list.ts'

interface Waiter {
  /** Not above what is written: a cut lowers it. */
  offset: number
  readonly resolve: () => void
  readonly reject: (error: DiskError) => void
}

/**
 * Makes one log durable: one sync in flight at a time, the next covers all that came since. Files of sealed segments are
 * completed in the background; the recovery point moves past a segment only then.
 */
export class LogFlusher {
  readonly #state: LogState
  readonly #waiters: Waiter[] = []
  /** Until this offset somebody wants the log synced. */
  #wantedOffset = 0
  /** How often the log was cut: a sync that began before may have been of what is not there any more. */
  #cuts = 0
  /** While the log is being cut: where. Of what lies behind it nothing is said that could be saved. */
  #cutOffset = Number.POSITIVE_INFINITY
  #isRunning = false
  #running: Promise<void> = Promise.resolve()
  #finishing: Promise<void> | undefined
  /** Why the last attempt has left sealed segments without their files. */
  #finishFailure: DiskError | undefined

  constructor(state: LogState) {
    this.#state = state
  }

  /** Writes have completed up to here. The log end follows at once, unless `flush.messages` asks for a sync first. */
  writeCompleted(position: LogPosition): void {
    const state = this.#state
    assert(position.offset >= state.written.offset, 'writes complete in order')
    state.written = position
    const { flushMessages, flushMs } = state.config
    const mustSync = position.offset - state.flushedOffset >= flushMessages
    if (mustSync) this.#wantedOffset = Math.max(this.#wantedOffset, position.offset)
    else this.#moveLogEnd(position)
    if (flushMs < Number.MAX_SAFE_INTEGER) state.unflushedSinceMs ??= state.context.clock.now().monotonicMs
    if (this.#wantedOffset > state.flushedOffset) this.#start()
    if (state.segments.all.length > 1) void this.finishSealed()
  }

  /** Somebody wants everything that is appended by now to be durable; the listener is told when it is. */
  request(): void {
    this.#wantedOffset = Math.max(this.#wantedOffset, this.#state.nextOffset)
    if (this.#state.written.offset > this.#state.flushedOffset) this.#start()
  }

  /** Resolves when everything written by now is durable; rejects when that has failed. */
  flush(): Promise<void> {
    const { written, flushedOffset, isNameSynced } = this.#state
    if (written.offset <= flushedOffset && isNameSynced) return Promise.resolve()
    const done = new Promise<void>((resolve, reject) => this.#waiters.push({ offset: written.offset, resolve, reject }))
    this.#start()
    return done
  }

  /** `flush.ms`: what has been written for this long is synced. */
  flushOlderThan(monotonicMs: number): void {
    const { unflushedSinceMs, config } = this.#state
    if (unflushedSinceMs !== undefined && monotonicMs - unflushedSinceMs >= config.flushMs) this.request()
  }

  /** Writes and syncs the files of sealed segments, oldest first. Resolves when none is left, also after a failure. */
  finishSealed(): Promise<void> {
    this.#finishing ??= this.#finishAll().finally(() => {
      this.#finishing = undefined
    })
    return this.#finishing
  }

  /** Resolves when no sync is under way. */
  async whenIdle(): Promise<void> {
    while (this.#isRunning) await this.#running
  }

  /** The log is about to be cut there. A sync that is under way may still end, and be of all that it has. */
  cutBegins(endOffset: number): void {
    this.#cutOffset = Math.min(this.#cutOffset, endOffset)
    this.#state.recoveryPoint = Math.min(this.#state.recoveryPoint, endOffset)
  }

  /** What was cut is no longer synced, and whoever waits for it waits for what is left: it is written no more. */
  cut(endOffset: number): void {
    const state = this.#state
    this.#cuts++
    state.flushedOffset = Math.min(state.flushedOffset, endOffset)
    state.recoveryPoint = Math.min(state.recoveryPoint, endOffset)
    this.#wantedOffset = Math.min(this.#wantedOffset, endOffset)
    for (const waiter of this.#waiters) waiter.offset = Math.min(waiter.offset, endOffset)
  }

  /** What the cut has left is on the disk, and so is the name of the file in which the log goes on. */
  cutIsOver(): void {
    this.#cutOffset = Number.POSITIVE_INFINITY
  }

  #moveLogEnd(position: LogPosition): void {
    const state = this.#state
    if (position.offset <= state.logEnd.offset) return
    state.logEnd = position
    state.producers.complete(position.offset)
    state.hints.add(position)
    state.listener.logEndOffsetMoved()
  }

  #start(): void {
    if (this.#isRunning) return
    this.#isRunning = true
    this.#running = this.#run()
  }

  /** Something is wanted that has been written and is not synced. */
  get #hasWork(): boolean {
    const { written, flushedOffset, hasFiles } = this.#state
    return hasFiles && (this.#waiters.length > 0 || Math.min(this.#wantedOffset, written.offset) > flushedOffset)
  }

  async #run(): Promise<void> {
    const state = this.#state
    try {
      do {
        if (!state.hasFiles) break
        const target = state.written
        const cuts = this.#cuts
        await this.#syncUpTo(target)
        // Once a sync has failed in the directory, nothing of it is claimed any more, not even what another has made sure of.
        if (cuts === this.#cuts && !state.directory.isOffline) this.#synced(target)
      } while (this.#hasWork)
      if (!state.hasFiles) this.#giveUp(new DiskError('notFound', 'sync', state.home.path))
    } catch (error) {
      this.#giveUp(state.failed(error))
    } finally {
      this.#isRunning = false
    }
  }

  async #syncUpTo(target: LogPosition): Promise<void> {
    const { segments } = this.#state
    if (!this.#state.isNameSynced) await this.#syncNames()
    for (const segment of [...segments.all]) {
      if (segment.isGone) continue
      // Compaction may have put another in the place of the target: then all is synced, and what is in flight does not count.
      const end = segment === target.segment ? target.position : segment.writtenBytes
      if (segment.syncedBytes < end) await this.#syncSegment(segment, end)
      if (segment === target.segment) break
    }
  }

  #giveUp(error: DiskError): void {
    for (const waiter of this.#waiters.splice(0)) waiter.reject(error)
  }

  /** A file that is not in a synced directory is lost with the power, however often it was synced itself. */
  async #syncNames(): Promise<void> {
    const { disk } = this.#state.context
    const { nameChanges } = this.#state
    if (!this.#state.isMetadataSynced) await disk.syncFile(`${this.#state.home.path}/${partitionMetadataFileName}`)
    this.#state.isMetadataSynced = true
    if (this.#state.hasNamesake) await this.#outliveNamesake()
    await this.#state.epochFile.sync()
    await disk.syncDirectory(this.#state.home.path)
    await this.#state.directory.syncNames()
    this.#state.syncedNameChanges = nameChanges
  }

  /** Nothing of the log counts as synced before the checkpoints speak of it, and of no other. */
  async #outliveNamesake(): Promise<void> {
    const { context, directory, home } = this.#state
    await directory.saveCheckpoints()
    await context.disk.remove(`${home.path}/${namesakeFileName}`)
    this.#state.hasNamesake = false
  }

  async #syncSegment(segment: Segment, end: number): Promise<void> {
    const file = this.#state.context.openFiles.use(segment)
    file.retain()
    try {
      const { cuts } = segment
      await file.sync()
      // Since a cut something else may lie there, which is in flight.
      if (cuts !== segment.cuts) return
      segment.syncedBytes = Math.max(segment.syncedBytes, Math.min(end, segment.sizeBytes))
      if (segment.syncedBytes === segment.sizeBytes) segment.hasUnsyncedWrites = false
    } finally {
      file.release()
    }
    this.#state.context.openFiles.mayClose(segment)
  }

  /** What a failed append had left behind the last batch was cut off at once. No power cut is to bring it back. */
  async #syncCutOff(segment: Segment): Promise<void> {
    if (segment.hasUnsyncedWrites) await this.#syncSegment(segment, segment.writtenBytes)
  }

  #synced(target: LogPosition): void {
    const state = this.#state
    const hasMoved = target.offset > state.flushedOffset
    state.flushedOffset = Math.max(state.flushedOffset, target.offset)
    if (state.flushedOffset === state.written.offset) state.unflushedSinceMs = undefined
    this.#moveRecoveryPoint()
    if (state.logEnd.offset < target.offset) this.#moveLogEnd(target)
    const isDone = (waiter: Waiter) => waiter.offset <= state.flushedOffset
    const done = this.#waiters.filter(isDone)
    if (done.length > 0)
      this.#waiters.splice(0, this.#waiters.length, ...this.#waiters.filter(waiter => !isDone(waiter)))
    for (const waiter of done) waiter.resolve()
    if (hasMoved) state.listener.flushedOffsetMoved()
  }

  #moveRecoveryPoint(): void {
    const state = this.#state
    if (state.segments.all.every(segment => segment.isFinished))
      state.recoveryPoint = Math.min(state.flushedOffset, this.#cutOffset)
  }

  async #finishAll(): Promise<void> {
    const state = this.#state
    this.#finishFailure = undefined
    try {
      for (;;) {
        const segment = state.segments.all.find(one => one.isSealed && !one.isFinished)
        if (segment === undefined || !state.hasFiles) return
        // Its last write has not completed; the next completion comes back here.
        if (segment.appendsInFlight > 0 || state.written.offset < segment.nextOffset) return
        await this.flush()
        if (!state.hasFiles) return
        await this.#syncCutOff(segment)
        if (state.segments.includes(segment) && segment.isSealed) await this.#finish(segment)
      }
    } catch (error) {
      this.#finishFailure = state.failed(error)
    }
  }

  async #finish(segment: Segment): Promise<void> {
    const { disk, indexCache } = this.#state.context
    const next = this.#state.segments.after(segment) as Segment
    // A clean shutdown or an earlier life has left it here. It says that the index files are whole, and that batches before it
    // may have been compacted away: until there is another there is no moment at which that is not so, or not said.
    const isThere = next.snapshotBefore !== undefined && disk.status(next.pathOf('snapshot')) !== undefined
    const write = isThere
      ? (path: string, bytes: Buffer) => replaceFile(disk, path, bytes)
      : async (path: string, bytes: Buffer) => {
          disk.writeSmallFile(path, bytes)
          await disk.syncFile(path)
        }
    await this.#writeIndexes(segment, write)
    // Another log may have the name by now, and would take the producers for its own.
    if (!this.#state.hasFiles) return
    if (next.snapshotBefore !== undefined) await write(next.pathOf('snapshot'), next.snapshotBefore)
    await this.#state.epochFile.save()
    await disk.syncDirectory(this.#state.home.path)
    next.snapshotBefore = undefined
    if (!this.#state.segments.includes(segment) || !segment.isSealed) return
    segment.isFinished = true
    this.#moveRecoveryPoint()
    if (segment.indexes !== undefined) indexCache.touch(segment)
  }

  /** Kafka's index files of a segment that ends. */
  async #writeIndexes(segment: Segment, write: (path: string, bytes: Buffer) => Promise<void>): Promise<void> {
    const indexes = await this.#wholeIndexes(segment)
    await write(segment.pathOf('index'), indexes.offsets.encode())
    await write(segment.pathOf('timeindex'), indexes.times.encode())
    const { disk } = this.#state.context
    const path = segment.pathOf('txnindex')
    if (segment.hasTransactionIndex) await write(path, encodeTransactionIndex(indexes.aborted))
    // Of an abort that has been cut off since: what lies there now would be hidden, and compacted away.
    else if (disk.status(path) !== undefined) await disk.remove(path)
  }

  #wholeIndexes(segment: Segment): SegmentIndexes | Promise<SegmentIndexes> {
    return segment.indexes ?? rebuildIndexes(this.#state.context, this.#state.segments, segment)
  }

  /** What the last clean shutdown has left at the end of the log is not of its end any more. */
  async removeEndSnapshot(): Promise<void> {
    const { endSnapshot, segments, context, home } = this.#state
    this.#state.endSnapshot = undefined
    if (endSnapshot === undefined || segments.all.some(({ baseOffset }) => baseOffset === endSnapshot)) return
    await context.disk.remove(`${home.path}/${segmentFileName(endSnapshot, 'snapshot')}`)
  }

  /**
   * The files that let the log be opened again without reading a batch. Nothing is appended any more. Those that would tell
   * when the power had taken a part of them are not synced: then the batches are read instead. Rejects with `DiskError`.
   */
  async close(): Promise<void> {
    const state = this.#state
    const { active } = state.segments
    const { disk } = state.context
    await this.finishSealed()
    // The snapshot that is written here could be taken for the one that says that the files of a sealed segment are whole.
    if (this.#finishFailure !== undefined) throw this.#finishFailure
    if (state.isChanged) {
      if (!active.isOnDisk) state.context.openFiles.use(active)
      if (active.isPrepared) {
        active.endTimeIndex()
        await this.#writeIndexes(active, (path, bytes) => disk.writeFile(path, bytes))
        await disk.syncFile(active.pathOf('timeindex'))
        if (active.hasTransactionIndex) await disk.syncFile(active.pathOf('txnindex'))
      }
      const snapshot = `${state.home.path}/${segmentFileName(state.nextOffset, 'snapshot')}`
      await disk.writeFile(snapshot, encodeProducerSnapshot(state.producers.entries))
      if (state.endSnapshot !== state.nextOffset) await this.removeEndSnapshot()
      await state.epochFile.save()
      state.nameChanges++
    }
    await this.flush()
    await this.#syncCutOff(active)
  }
}
