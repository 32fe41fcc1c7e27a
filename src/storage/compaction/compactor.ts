import { assert } from '../../base/assert.ts'
import { byUrgency, type CompactionNeed } from '../../core/log/compaction.ts'
import type { Clock, Timer } from '../../io/clock.ts'
import type { Compute } from '../../io/compute.ts'
import { expectDiskError } from '../../io/disk.ts'
import { OffsetMapMemory } from '../../records/compaction/offset-map-memory.ts'
import type { SegmentedLog } from '../segmented-log.ts'
import type { CompactionTools } from './compaction-pass.ts'
import { IoThrottle } from './io-throttle.ts'
import type { FailedPass, PassStats, UncleanablePass } from './pass-end.ts'

/** The settings that hold at this moment. */
export interface CompactorSettings {
  /** `log.cleaner.threads`: passes at a time; 0 when there are to be none. */
  readonly threads: number
  /** `log.cleaner.backoff.ms`: between two looks when there was nothing to do. */
  readonly backoffMs: number
  /** `log.cleaner.io.max.bytes.per.second`. */
  readonly ioMaxBytesPerSecond: number
  /** `log.cleaner.dedupe.buffer.size`, of all passes together. */
  readonly dedupeBufferBytes: number
  /** `log.cleaner.io.buffer.size`. */
  readonly ioBufferBytes: number
  /** `log.cleaner.io.buffer.load.factor`. */
  readonly loadFactor: number
  /** `millrace.max.uncompressed.batch.bytes`. */
  readonly maxUncompressedBytes: number
}

/** Told of what an operator must hear. */
export interface CompactionListener {
  /** A pass has come through. */
  compacted(log: SegmentedLog, stats: PassStats): void
  /** The log is left alone until it or its settings change, the broker starts anew, or the time that is named has gone. */
  uncleanable(log: SegmentedLog, pass: Omit<UncleanablePass, 'type'>): void
  /** There is no room for a new segment beside the old ones; it is tried again. Told once, until a pass has come through. */
  noRoom(log: SegmentedLog, neededBytes: number): void
  /** Something else was in the way; it is tried again. Told once, too. */
  delayed(log: SegmentedLog, reason: string): void
}

export interface CompactorOptions {
  readonly clock: Clock
  readonly compute: Compute
  readonly logs: () => Iterable<SegmentedLog>
  readonly settings: () => CompactorSettings
  readonly listener: CompactionListener
}

/** For metrics: sums since the start, and the figures of the latest pass of each that may run at a time. */
export interface CompactorFigures {
  readonly passes: number
  readonly readBytes: number
  readonly writtenBytes: number
  readonly durationMs: number
  readonly latest: readonly PassStats[]
  /** Of the log that was dirtiest at the last look, from 0 to 1. */
  readonly maxDirtyRatio: number
  /** Since the last look. */
  readonly sinceLastLookMs: number
  /** By how much the log of the last pass was late. */
  readonly maxOverdueMs: number
}

interface WaitingLog {
  /** Those that failed since the last pass that came through; a pass that was stopped says nothing. */
  readonly attempts: number
  /** What came of the last of them. */
  readonly told: FailedPass['type'] | undefined
  /** Monotonic. */
  readonly notBeforeMs: number
  /** When it was last looked at. */
  readonly dirtyRatio: number
}

interface LogInNeed {
  readonly log: SegmentedLog
  readonly need: CompactionNeed
}

/** Kafka's bounds of what its settings leave open. */
const minIoBufferBytes = 4096
const maxMapBytes = 0x7fff_ffff
const minMapBytes = 1024 * 1024
const minLoadFactor = 0.01
/** Positions in an index are int32. */
const maxSegmentBytes = 0x7fff_ffff
/** Passes over a log that do not come through follow one another ever later, up to this many times the backoff. */
const maxBackoffs = 16
/** A look at many logs lets others run after this long. */
const yieldAfterMs = 5

/** Compacts the logs of a broker, the dirtiest first, some at a time. */
export class Compactor {
  readonly #options: CompactorOptions
  readonly #throttle: IoThrottle
  readonly #maps = new OffsetMapMemory()
  readonly #running = new Set<Promise<void>>()
  /** Logs whose last passes did not come through. */
  readonly #waiting = new WeakMap<SegmentedLog, WaitingLog>()
  readonly #sums = { passes: 0, readBytes: 0, writtenBytes: 0, durationMs: 0 }
  readonly #latest: PassStats[] = []
  /** Set while logs are looked at. */
  #looking: Promise<void> | undefined
  #mustLookAgain = false
  #timer: Timer | undefined
  #isStarted = false
  #isClosed = false
  #maxDirtyRatio = 0
  #maxOverdueMs = 0
  #lastLookMs: number

  constructor(options: CompactorOptions) {
    this.#options = options
    this.#throttle = new IoThrottle(options.clock, () => options.settings().ioMaxBytesPerSecond)
    this.#lastLookMs = options.clock.now().monotonicMs
  }

  start(): void {
    assert(!this.#isStarted, 'compaction is started once')
    this.#isStarted = true
    this.#lookLater()
  }

  get figures(): CompactorFigures {
    return {
      ...this.#sums,
      latest: this.#latest,
      maxDirtyRatio: this.#maxDirtyRatio,
      sinceLastLookMs: this.#options.clock.now().monotonicMs - this.#lastLookMs,
      maxOverdueMs: this.#maxOverdueMs,
    }
  }

  /** Settings have changed: what they say holds from the next look on, which comes at once. */
  reconfigured(): void {
    this.#throttle.reconfigured()
    if (this.#isStarted && !this.#isClosed) this.#lookNow()
  }

  /** Ends what runs. Resolves when it has ended; nothing is compacted any more. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#timer?.cancel()
    for (const log of this.#options.logs()) log.compaction.leave()
    await this.#looking
    await Promise.all(this.#running)
  }

  #lookLater(): void {
    if (this.#running.size === 0) this.#maps.release()
    this.#timer?.cancel()
    this.#timer = this.#options.clock.after(this.#options.settings().backoffMs, () => this.#lookNow())
  }

  #lookNow(): void {
    if (this.#looking !== undefined) {
      this.#mustLookAgain = true
      return
    }
    this.#looking = this.#look().finally(() => {
      this.#looking = undefined
      if (this.#isClosed) return
      if (this.#mustLookAgain) {
        this.#mustLookAgain = false
        this.#lookNow()
      } else this.#lookLater()
    })
  }

  /** Begins passes until as many run as may, or nothing is due. */
  async #look(): Promise<void> {
    const { clock, settings } = this.#options
    while (!this.#isClosed && this.#running.size < settings().threads) {
      this.#lastLookMs = clock.now().monotonicMs
      const due = await this.#findDirtiest()
      if (due === undefined || this.#isClosed) return
      const pass = this.#compact(due.log, due.need).finally(() => {
        this.#running.delete(pass)
      })
      this.#running.add(pass)
      void pass.then(() => {
        if (!this.#isClosed) this.#lookNow()
      })
    }
  }

  async #findDirtiest(): Promise<LogInNeed | undefined> {
    const { clock } = this.#options
    let dirtiest: LogInNeed | undefined
    let maxDirtyRatio = 0
    let startMs = clock.now().monotonicMs
    for (const log of [...this.#options.logs()]) {
      if (!this.#mayCompact(log)) {
        maxDirtyRatio = Math.max(maxDirtyRatio, this.#waitingRatio(log))
        continue
      }
      const need = await this.#needOf(log)
      if (need === undefined) continue
      maxDirtyRatio = Math.max(maxDirtyRatio, need.dirtyRatio)
      const isFirst = dirtiest === undefined || byUrgency(need, dirtiest.need) < 0
      if (need.isDue && isFirst) dirtiest = { log, need }
      if (clock.now().monotonicMs - startMs < yieldAfterMs) continue
      await clock.yieldTurn()
      startMs = clock.now().monotonicMs
    }
    this.#maxDirtyRatio = maxDirtyRatio
    return dirtiest !== undefined && this.#mayCompact(dirtiest.log) ? dirtiest : undefined
  }

  #mayCompact(log: SegmentedLog): boolean {
    const { config, compaction, isOffline, directory } = log
    if (!config.isCompacted || isOffline || !directory.isWritable) return false
    if (compaction.isRunning || compaction.isUncleanable) return false
    const notBeforeMs = this.#waiting.get(log)?.notBeforeMs ?? 0
    return this.#options.clock.now().monotonicMs >= notBeforeMs
  }

  /** What waits, for room say, is dirty all the while, though it is passed over. */
  #waitingRatio(log: SegmentedLog): number {
    const { config, compaction } = log
    if (!config.isCompacted || compaction.isRunning || compaction.isUncleanable) return 0
    return this.#waiting.get(log)?.dirtyRatio ?? 0
  }

  async #needOf(log: SegmentedLog): Promise<CompactionNeed | undefined> {
    const { wallMs } = this.#options.clock.now()
    try {
      return await log.compaction.need(wallMs)
    } catch (error) {
      expectDiskError(error)
      this.#failed(log, log.compaction.failed(error))
      return undefined
    }
  }

  async #compact(log: SegmentedLog, { dirtyRatio, overdueMs }: CompactionNeed): Promise<void> {
    const result = await log.compaction.run(this.#tools())
    if (result.type === 'compacted') {
      this.#waiting.delete(log)
      this.#note(result.stats)
      this.#maxOverdueMs = overdueMs
      this.#options.listener.compacted(log, result.stats)
    } else this.#failed(log, result, dirtyRatio)
  }

  #failed(log: SegmentedLog, result: FailedPass, knownRatio?: number): void {
    const { clock, settings, listener } = this.#options
    const { attempts = 0, told, dirtyRatio = 0 } = this.#waiting.get(log) ?? {}
    const isStopped = result.type === 'stopped'
    const delayMs = settings().backoffMs * (isStopped ? 1 : Math.min(2 ** attempts, maxBackoffs))
    const notBeforeMs = clock.now().monotonicMs + delayMs
    const waiting = isStopped ? { attempts, told } : { attempts: attempts + 1, told: result.type }
    this.#waiting.set(log, { ...waiting, notBeforeMs, dirtyRatio: knownRatio ?? dirtyRatio })
    // Whatever was found in one place is found again there.
    if (result.type === 'uncleanable') listener.uncleanable(log, result)
    if (result.type === told) return
    if (result.type === 'noRoom') listener.noRoom(log, result.neededBytes)
    if (result.type === 'delayed') listener.delayed(log, result.reason)
  }

  #note(stats: PassStats): void {
    const sums = this.#sums
    sums.passes++
    sums.readBytes += stats.indexedBytes + stats.filteredBytes
    sums.writtenBytes += stats.writtenBytes
    sums.durationMs += stats.durationMs
    this.#latest.push(stats)
    while (this.#latest.length > Math.max(1, this.#options.settings().threads)) this.#latest.shift()
  }

  #tools(): CompactionTools {
    const { threads, dedupeBufferBytes, ioBufferBytes, loadFactor, maxUncompressedBytes } = this.#options.settings()
    const share = Math.floor(dedupeBufferBytes / Math.max(1, threads))
    return {
      compute: this.#options.compute,
      maps: this.#maps,
      throttle: this.#throttle,
      ioBufferBytes: Math.max(minIoBufferBytes, ioBufferBytes),
      mapBytes: Math.min(maxMapBytes, Math.max(minMapBytes, share)),
      loadFactor: Math.min(1, Math.max(minLoadFactor, loadFactor)),
      maxUncompressedBytes,
      maxSegmentBytes,
    }
  }
}
