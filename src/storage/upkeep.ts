import type { Timer } from '../io/clock.ts'
import { expectDiskError } from '../io/disk.ts'
import { HoleSearch } from './hole-search.ts'
import type { LogDirectory } from './log-directory.ts'
import { Scrubber } from './scrubber.ts'
import type { SegmentedLog } from './segmented-log.ts'
import type { StorageContext } from './storage-context.ts'

export interface StorageIntervals {
  /** `log.flush.offset.checkpoint.interval.ms`. */
  readonly recoveryPointCheckpointMs: number
  /** `log.flush.start.offset.checkpoint.interval.ms`. */
  readonly logStartCheckpointMs: number
  /** `replica.high.watermark.checkpoint.interval.ms`. */
  readonly highWatermarkCheckpointMs: number
  /** `log.retention.check.interval.ms`. */
  readonly retentionCheckMs: number
  /** `producer.id.expiration.check.interval.ms`. */
  readonly producerExpiryCheckMs: number
}

const defaultIntervals: StorageIntervals = {
  recoveryPointCheckpointMs: 60_000,
  logStartCheckpointMs: 60_000,
  highWatermarkCheckpointMs: 5_000,
  retentionCheckMs: 300_000,
  producerExpiryCheckMs: 600_000,
}

/** How often `flush.ms` is looked at. */
const flushCheckMs = 1000
const yieldAfterMs = 5

/** What is done for all logs time and again: checkpoints, retention, expiry, flushes by age, scrubbing. */
export class Upkeep {
  readonly #context: StorageContext
  readonly #directories: readonly LogDirectory[]
  readonly #logsOf: (directory: LogDirectory) => SegmentedLog[]
  readonly #timers = new Set<Timer>()
  #isEnded = false

  constructor(
    context: StorageContext,
    directories: readonly LogDirectory[],
    logsOf: (directory: LogDirectory) => SegmentedLog[],
  ) {
    this.#context = context
    this.#directories = directories
    this.#logsOf = logsOf
  }

  start(given: Partial<StorageIntervals> = {}): void {
    const intervals = { ...defaultIntervals, ...given }
    this.#every(intervals.recoveryPointCheckpointMs, directory => directory.saveRecoveryPoints())
    this.#every(intervals.logStartCheckpointMs, directory => directory.saveLogStarts())
    this.#every(intervals.highWatermarkCheckpointMs, directory => directory.saveHighWatermarks())
    this.#every(intervals.retentionCheckMs, directory => this.#applyRetention(directory))
    this.#every(intervals.producerExpiryCheckMs, directory => this.#expireProducers(directory))
    this.#every(flushCheckMs, directory => this.#flushOld(directory))
    for (const directory of this.#directories) {
      const { scrubBytesPerSecond } = this.#context.limits
      new Scrubber(directory, scrubBytesPerSecond, () => this.#logsOf(directory)).start()
      new HoleSearch(directory, this.#logsOf(directory)).start()
    }
  }

  /** What is under way goes on to its end; nothing begins any more. */
  end(): void {
    this.#isEnded = true
    for (const timer of this.#timers) timer.cancel()
  }

  async #applyRetention(directory: LogDirectory): Promise<void> {
    const { clock } = this.#context
    let startMs = clock.now().monotonicMs
    for (const log of this.#logsOf(directory)) {
      // On a full disk the swap of a compacted segment waits for the room that the other logs make: this one has its turn later.
      if (log.isChanging) continue
      await log.applyRetention(clock.now().wallMs)
      if (clock.now().monotonicMs - startMs < yieldAfterMs) continue
      await clock.yieldTurn()
      startMs = clock.now().monotonicMs
    }
  }

  async #expireProducers(directory: LogDirectory): Promise<void> {
    const { wallMs } = this.#context.clock.now()
    for (const log of this.#logsOf(directory)) log.expireProducers(wallMs)
  }

  async #flushOld(directory: LogDirectory): Promise<void> {
    const { monotonicMs } = this.#context.clock.now()
    for (const log of this.#logsOf(directory)) log.flushOlderThan(monotonicMs)
  }

  #every(intervalMs: number, act: (directory: LogDirectory) => Promise<void>): void {
    this.#after(intervalMs, async () => {
      for (const directory of this.#directories) {
        if (!directory.isOffline) await act(directory).catch(error => this.#failed(directory, error))
      }
      if (!this.#isEnded) this.#every(intervalMs, act)
    })
  }

  #failed(directory: LogDirectory, error: unknown): void {
    expectDiskError(error)
    directory.writeFailed(error)
  }

  #after(delayMs: number, act: () => Promise<void>): void {
    const timer = this.#context.clock.after(delayMs, () => {
      this.#timers.delete(timer)
      void act()
    })
    this.#timers.add(timer)
  }
}
