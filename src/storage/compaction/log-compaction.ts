import { assert } from '../../base/assert.ts'
import { DiskError } from '../../io/disk.ts'
import { batchHeaderBytes } from '../../records/batch.ts'
import type { LogFlusher } from '../log-flusher.ts'
import type { LogReader } from '../log-reader.ts'
import type { LogState } from '../log-state.ts'
import type { Segment } from '../segment.ts'
import { loadIndexes } from '../segment-indexes.ts'
import { storedMaxTimestamp } from '../stored-batch.ts'
import { CompactionPass, type CompactionTools, type PassResult } from './compaction-pass.ts'
import { type Dirtiness, dirtinessOf, groupSegments, type SegmentFacts } from './compaction-plan.ts'

/** Compaction of one log: how dirty it is, and one pass at a time. */
export class LogCompaction {
  readonly #state: LogState
  readonly #reader: LogReader
  readonly #flusher: LogFlusher
  /** The log cannot be compacted as it is: how often its segments had changed by then. */
  #uncleanableAt: number | undefined
  #isStarting = false

  constructor(state: LogState, reader: LogReader, flusher: LogFlusher) {
    this.#state = state
    this.#reader = reader
    this.#flusher = flusher
  }

  get isRunning(): boolean {
    return this.#isStarting || this.#state.compaction !== undefined
  }

  /** The last pass met something that the next one would meet again: until the log changes, or the broker starts anew. */
  get isUncleanable(): boolean {
    return this.#uncleanableAt !== undefined && this.#uncleanableAt === this.#state.segments.removals
  }

  /** Rejects with `DiskError`. */
  async dirtiness(wallMs: number): Promise<Dirtiness> {
    await this.#loadFacts()
    return this.#dirtinessNow(wallMs)
  }

  /** One pass, if there is anything to compact. Rejects with `DiskError`; the caller tells the directory. */
  async run(tools: CompactionTools): Promise<PassResult> {
    assert(!this.isRunning, 'a log is compacted once at a time')
    this.#isStarting = true
    try {
      await this.#flusher.finishSealed()
      await this.#loadFacts()
      const state = this.#state
      if (!state.isUsable || !state.config.isCompacted) return { type: 'stopped', reason: 'the log is not compacted' }
      const { firstDirtyOffset, firstUncleanableOffset } = this.#dirtinessNow(state.context.clock.now().wallMs)
      if (firstDirtyOffset >= firstUncleanableOffset) return { type: 'stopped', reason: 'nothing is dirty' }
      const groupsOf = (segments: readonly Segment[]) => this.#groupsOf(segments)
      const pass = new CompactionPass(state, this.#reader, tools, {
        firstDirtyOffset,
        firstUncleanableOffset,
        groupsOf,
      })
      state.compaction = pass
      const result = await pass.run()
      if (result.type === 'damaged') this.#uncleanableAt = state.segments.removals
      return result
    } finally {
      this.#state.compaction = undefined
      this.#isStarting = false
    }
  }

  #dirtinessNow(wallMs: number): Dirtiness {
    const { segments, producers, highWatermark, logStartOffset, logEnd, cleanedOffset, config } = this.#state
    const all = segments.all.map((segment, index): SegmentFacts => {
      return {
        baseOffset: segment.baseOffset,
        endOffset: segments.all[index + 1]?.baseOffset ?? segment.nextOffset,
        sizeBytes: segment.sizeBytes,
        largestTimestampMs: segment.largestTimestampMs,
        firstTimestampMs: firstTimestampMs(segment),
        isFinished: segment.isFinished && segment.isSealed && segment.syncedBytes === segment.sizeBytes,
      }
    })
    const lastStableOffset = Math.min(highWatermark, producers.firstUnstableOffset(highWatermark))
    const facts = { segments: all, logStartOffset, logEndOffset: logEnd.offset, lastStableOffset, cleanedOffset }
    return dirtinessOf(facts, config, wallMs)
  }

  /** What the lags of compaction are measured by, of segments that were not looked at in this process. */
  async #loadFacts(): Promise<void> {
    const { segments, context, config, cleanedOffset = 0 } = this.#state
    const { minCompactionLagMs, maxCompactionLagMs } = config
    if (minCompactionLagMs <= 0 && maxCompactionLagMs >= Number.MAX_SAFE_INTEGER) return
    for (const segment of [...segments.all]) {
      if (!segment.isSealed || segment.isGone || segment.nextOffset <= cleanedOffset || segment.sizeBytes === 0)
        continue
      try {
        if (segment.largestTimestampMs === undefined) {
          const { times } = await loadIndexes(context, segments, segment)
          const status = times.length > 0 ? undefined : context.disk.status(segment.filePath)
          segment.noteLargestTimestamp(times, status?.modifiedWallMs)
        }
        if (segment.firstTimestamp === undefined && !segment.isGone) await this.#loadFirstTimestamp(segment)
      } catch (error) {
        if (!(error instanceof DiskError) || !segment.isGone) throw error
      }
    }
  }

  async #loadFirstTimestamp(segment: Segment): Promise<void> {
    const header = await this.#state.context.openFiles.use(segment).read(0, batchHeaderBytes)
    if (header.length === batchHeaderBytes) segment.firstTimestamp = storedMaxTimestamp(header, 0)
  }

  #groupsOf(segments: readonly Segment[]): (readonly Segment[])[] {
    const { config, context } = this.#state
    const sizeOf = (segment: Segment, kind: 'index' | 'timeindex') =>
      context.disk.status(segment.pathOf(kind))?.sizeBytes ?? 0
    const sized = segments.map(segment => {
      return {
        segment,
        baseOffset: segment.baseOffset,
        endOffset: segment.nextOffset,
        sizeBytes: segment.sizeBytes,
        offsetIndexBytes: sizeOf(segment, 'index'),
        timeIndexBytes: sizeOf(segment, 'timeindex'),
      }
    })
    return groupSegments(sized, config).map(group => group.map(({ segment }) => segment))
  }
}

/** Batches without a time count as if there were none. */
function firstTimestampMs({ firstTimestamp }: Segment): number | undefined {
  return firstTimestamp !== undefined && firstTimestamp > 0n ? Number(firstTimestamp) : undefined
}
