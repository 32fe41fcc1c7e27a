import { expectDiskError } from '../io/disk.ts'
import type { LogDirectory } from './log-directory.ts'
import type { SegmentedLog } from './segmented-log.ts'

/** Looking at a segment takes some reads: after each one this long is left to others. */
const pausePerSegmentMs = 5
const retryMs = 1000
/** Logs of one segment each, which need no read, that are passed in one go. */
const maxAtOnce = 500

/** Looks once, behind the start, whether segments are missing from the logs of a directory. */
export class HoleSearch {
  readonly #directory: LogDirectory
  readonly #logs: SegmentedLog[]

  constructor(directory: LogDirectory, logs: readonly SegmentedLog[]) {
    this.#directory = directory
    this.#logs = [...logs]
  }

  start(): void {
    if (this.#logs.length > 0) this.#directory.after(pausePerSegmentMs, () => this.#step())
  }

  async #step(): Promise<void> {
    let pauseMs = 0
    for (let passed = 0; pauseMs === 0 && passed < maxAtOnce && !this.#directory.isOffline; passed++) {
      const log = this.#logs.pop()
      if (log === undefined) return
      pauseMs = await this.#look(log)
    }
    if (!this.#directory.isOffline) this.#directory.after(Math.max(1, pauseMs), () => this.#step())
  }

  /** Answers how long others are to have the disk after it. */
  async #look(log: SegmentedLog): Promise<number> {
    try {
      return log.isOffline ? 0 : (await log.findHoles()) * pausePerSegmentMs
    } catch (error) {
      expectDiskError(error)
      if (error.code === 'tooManyOpenFiles') this.#logs.push(log)
      else if (!this.#directory.isOffline) this.#directory.readFailed(error)
      return retryMs
    }
  }
}
