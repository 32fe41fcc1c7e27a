import { assert } from '../../base/assert.ts'
import { type CompactedSegment, type CompactionNeed, compactionNeed, groupSegments } from '../../core/log/compaction.ts'
import { parseSegmentFileName } from '../../core/log/file-names.ts'
import { DiskError, expectDiskError } from '../../io/disk.ts'
import { batchHeaderBytes } from '../../records/batch.ts'
import type { LogFlusher } from '../log-flusher.ts'
import type { LogReader } from '../log-reader.ts'
import type { LogState, RunningCompaction } from '../log-state.ts'
import type { Segment } from '../segment.ts'
import { storedMaxTimestamp } from '../stored-batch.ts'
import { largestTimestamp } from '../timestamp-search.ts'
import { CompactionPass, type CompactionTools } from './compaction-pass.ts'
import type { FailedPass, PassEnd, PassResult, UncleanablePass } from './pass-end.ts'

/** A log on which jobs fail so often, one pass after the other, is probably the reason for it. */
const maxFailedJobs = 3
/** Or the machine had no memory for that long: such a log is tried again after this time. */
const retryAfterFailedJobsMs = 3_600_000

/** Compaction of one log: how dirty it is, and one pass at a time. */
export class LogCompaction implements RunningCompaction {
  readonly #state: LogState
  readonly #reader: LogReader
  readonly #flusher: LogFlusher
  readonly #roll: () => void
  /** The log cannot be compacted as it is: the layout of its segments. */
  #uncleanableLayout: number | undefined
  /** Until when, monotonic. */
  #uncleanableUntilMs = 0
  /** Passes of late, one after the other, in which a job has failed. */
  #failedJobs = 0
  #stopReason: string | undefined
  #pass: CompactionPass | undefined
  #ended: Promise<unknown> = Promise.resolve()

  constructor(state: LogState, reader: LogReader, flusher: LogFlusher, roll: () => void) {
    this.#state = state
    this.#roll = roll
    this.#reader = reader
    this.#flusher = flusher
  }

  get isRunning(): boolean {
    return this.#state.compaction !== undefined
  }

  /**
   * The last pass met something that the next one would meet again: until the log or its settings change, the broker starts
   * anew or, where jobs have failed, an hour has gone.
   */
  get isUncleanable(): boolean {
    const { segments, context } = this.#state
    if (this.#uncleanableLayout !== segments.layout) return false
    return context.clock.now().monotonicMs < this.#uncleanableUntilMs
  }

  /** The settings of the log have changed: who changed them may have mended what was in the way. */
  reconfigured(): void {
    this.#uncleanableLayout = undefined
    this.#failedJobs = 0
  }

  /** Rejects with `DiskError`. */
  async need(wallMs: number): Promise<CompactionNeed> {
    await this.#loadFacts()
    this.#rollOverdue(wallMs)
    // A segment that ended without a batch after it.
    if (this.#state.isWritable) await this.#flusher.finishSealed()
    return this.#needNow(wallMs)
  }

  /** How much is dirty, as far as it is known without asking the disk. */
  get dirtyBytes(): number {
    return this.#needNow(this.#state.context.clock.now().wallMs).cleanableBytes
  }

  /** The pass that runs, if there is one, leaves the log as it is, as soon as it can. */
  stop(reason: string): void {
    this.#stopReason ??= reason
    this.#pass?.stop(reason)
  }

  /** The broker shuts down: a pass stops, and a swap that cannot be completed now is left to the next start. */
  leave(): void {
    this.#state.isLeaving = true
    this.stop('the broker shuts down')
  }

  /** Resolves when no pass runs. */
  async whenEnded(): Promise<void> {
    await this.#ended
  }

  /** One pass, if there is anything to compact. */
  run(tools: CompactionTools): Promise<PassResult> {
    assert(!this.isRunning, 'a log is compacted once at a time')
    this.#state.compaction = this
    this.#stopReason = undefined
    const pass = this.#run(tools).finally(() => {
      this.#pass = undefined
      this.#state.compaction = undefined
    })
    this.#ended = pass
    return pass
  }

  async #run(tools: CompactionTools): Promise<PassResult> {
    const { segments } = this.#state
    const { layout } = segments
    try {
      await this.#flusher.finishSealed()
      await this.#loadFacts()
      // What is planned while the log is being cut, or after that, is of another log.
      const pass = await this.#state.changes.run(async () => this.#plan(tools))
      if (!(pass instanceof CompactionPass)) return pass
      this.#pass = pass
      // Asked for since the plan was made.
      if (this.#stopReason !== undefined) pass.stop(this.#stopReason)
      return this.#noteEnd(await pass.run())
    } catch (error) {
      expectDiskError(error)
      if (error.code === 'notFound' && layout !== segments.layout) return stopped('segments were removed')
      return this.failed(error)
    }
  }

  #noteEnd(end: PassEnd): PassResult {
    if (end.type === 'compacted') this.#failedJobs = 0
    if (end.type === 'jobFailed') {
      const { path, position, reason } = end
      const count = ++this.#failedJobs
      if (count < maxFailedJobs) return { type: 'delayed', reason }
      const obstacle = { type: 'failedJobs', count } as const
      return this.#uncleanable({ obstacle, path, position, reason, retryAfterMs: retryAfterFailedJobsMs })
    }
    return end.type === 'uncleanable' ? this.#uncleanable(end) : end
  }

  #uncleanable(pass: Omit<UncleanablePass, 'type'>): FailedPass {
    const { monotonicMs } = this.#state.context.clock.now()
    this.#uncleanableLayout = this.#state.segments.layout
    this.#uncleanableUntilMs = monotonicMs + (pass.retryAfterMs ?? Number.POSITIVE_INFINITY)
    return { ...pass, type: 'uncleanable' }
  }

  #plan(tools: CompactionTools): CompactionPass | PassResult {
    const state = this.#state
    if (this.#stopReason !== undefined) return stopped(this.#stopReason)
    if (!state.isUsable || !state.config.isCompacted) return stopped('the log is not compacted')
    const { firstDirtyOffset, firstUncleanableOffset } = this.#needNow(state.context.clock.now().wallMs)
    if (firstDirtyOffset >= firstUncleanableOffset) return stopped('nothing is dirty')
    const groupsOf = (segments: readonly Segment[]) => this.#groupsOf(segments, firstUncleanableOffset)
    const largestGroupBytes = this.#largestGroupBytes(firstUncleanableOffset)
    const range = { firstDirtyOffset, firstUncleanableOffset, groupsOf, largestGroupBytes }
    try {
      return new CompactionPass({ state, reader: this.#reader, flusher: this.#flusher }, tools, range)
    } catch (error) {
      if (!(error instanceof RangeError)) throw error
      return { type: 'delayed', reason: `there is no memory for the keys: ${error.message}` }
    }
  }

  /**
   * What an error makes of a pass, or of `need`. A file of the log that cannot be read is as good as damaged, whatever the
   * reason; one that cannot be opened because too many are open can be later. What cannot be written is the directory's fault.
   */
  failed(error: DiskError): FailedPass {
    const state = this.#state
    if (!state.isUsable) return stopped(error.message)
    if (error.code === 'tooManyOpenFiles') return { type: 'delayed', reason: error.message }
    if (isReadOfSegment(error)) {
      const { path, message: reason } = error
      return this.#uncleanable({ obstacle: { type: 'disk', error }, path, position: 0, reason })
    }
    state.failed(error)
    return stopped(error.message)
  }

  /**
   * `max.compaction.lag.ms` also counts where nothing is appended any more: the active segment ends. Records that were old when
   * they came have waited since they did, or a log that old ones are copied to would have a new segment, and be compacted, at
   * every look. Not while the log is being cut: who cuts counts on it that nothing is appended, and has the active segment open
   * for that. It is looked at again soon.
   */
  #rollOverdue(wallMs: number): void {
    const { segments, config, isUsable, changes } = this.#state
    if (!changes.isIdle) return
    const firstMs = firstTimestampMs(segments.active)
    if (!isUsable || firstMs === undefined) return
    const { isUnprepared, createdWallMs } = segments.active
    // When those came that lay there at the start is not known.
    const sinceMs = isUnprepared ? firstMs : Math.max(firstMs, createdWallMs)
    if (wallMs - sinceMs > config.maxCompactionLagMs) this.#roll()
  }

  #needNow(wallMs: number): CompactionNeed {
    const { segments, producers, highWatermark, logStartOffset, logEnd, cleanedOffset, config } = this.#state
    const unfinished = segments.all.find(segment => !isAtRest(segment)) ?? segments.active
    const firstUnstableOffset = producers.firstUnstableOffset(highWatermark)
    return compactionNeed(
      {
        segments: segments.all.map(segment => factsOf(segment)),
        logStartOffset,
        logEndOffset: logEnd.offset,
        // What is not written and synced yet stays as it is, too.
        lastStableOffset: Math.min(highWatermark, firstUnstableOffset, unfinished.baseOffset),
        checkpointOffset: cleanedOffset,
        config,
      },
      wallMs,
    )
  }

  /** What the lags of compaction are measured by, of segments that were not looked at in this process. */
  async #loadFacts(): Promise<void> {
    const { segments, context, config, cleanedOffset = 0 } = this.#state
    const { minCompactionLagMs, maxCompactionLagMs } = config
    if (minCompactionLagMs <= 0 && maxCompactionLagMs >= Number.MAX_SAFE_INTEGER) return
    for (const segment of [...segments.all]) {
      if (!this.#state.isUsable) return
      if (segment.isGone || segment.nextOffset <= cleanedOffset || segment.sizeBytes === 0) continue
      const { cuts } = segment
      try {
        if (segment.isSealed && segment.largestTimestampMs === undefined) {
          const isTimed = (await largestTimestamp(this.#state, segment)) >= 0n
          const status = isTimed ? undefined : context.disk.status(segment.filePath)
          if (status !== undefined) segment.noteModified(status.modifiedWallMs)
        }
        if (segment.firstTimestamp === undefined && !segment.isGone) await this.#loadFirstTimestamp(segment)
      } catch (error) {
        if (!(error instanceof DiskError) || !(segment.isGone || segment.cuts !== cuts)) throw error
      }
    }
  }

  async #loadFirstTimestamp(segment: Segment): Promise<void> {
    const header = await this.#state.context.openFiles.use(segment).read(0, batchHeaderBytes)
    if (header.length === batchHeaderBytes) segment.firstTimestamp = storedMaxTimestamp(header, 0)
  }

  #largestGroupBytes(firstUncleanableOffset: number): number {
    const { segments, config } = this.#state
    const old = segments.all.filter(({ baseOffset }) => baseOffset < firstUncleanableOffset)
    const groups = groupSegments(old.map(factsOf), config, firstUncleanableOffset)
    const sizes = groups.map(group => group.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0))
    return sizes.reduce((most, size) => Math.max(most, size), 0)
  }

  #groupsOf(segments: readonly Segment[], firstUncleanableOffset: number): (readonly Segment[])[] {
    const { config, context } = this.#state
    const sizeOf = (segment: Segment, kind: 'index' | 'timeindex') =>
      context.disk.status(segment.pathOf(kind))?.sizeBytes ?? 0
    const sized = segments.map(segment => {
      const indexBytes = { offsetIndexBytes: sizeOf(segment, 'index'), timeIndexBytes: sizeOf(segment, 'timeindex') }
      return { segment, ...factsOf(segment), ...indexBytes }
    })
    return groupSegments(sized, config, firstUncleanableOffset).map(group => group.map(({ segment }) => segment))
  }
}

/** The files that a pass makes have other names; the active segment's is opened for writing, too. */
function isReadOfSegment({ operation, path, code }: DiskError): boolean {
  const isRead = code !== 'readOnly' && (operation === 'read' || operation === 'open' || operation === 'status')
  const file = parseSegmentFileName(path.slice(path.lastIndexOf('/') + 1))
  return isRead && file !== undefined && file.suffix === undefined
}

function stopped(reason: string): FailedPass {
  return { type: 'stopped', reason }
}

/** Its files are whole and synced. */
function isAtRest({ isSealed, isFinished, syncedBytes, sizeBytes }: Segment): boolean {
  return isSealed && isFinished && syncedBytes === sizeBytes
}

/** Without the sizes of its indexes, which only grouping asks for. */
function factsOf(segment: Segment): CompactedSegment {
  return {
    baseOffset: segment.baseOffset,
    sizeBytes: segment.sizeBytes,
    offsetIndexBytes: 0,
    timeIndexBytes: 0,
    largestTimestamp: segment.largestTimestampMs,
    firstTimestamp: firstTimestampMs(segment),
  }
}

/** Batches without a time count as if there were none. */
function firstTimestampMs({ firstTimestamp }: Segment): number | undefined {
  return firstTimestamp !== undefined && firstTimestamp > 0n ? Number(firstTimestamp) : undefined
}
