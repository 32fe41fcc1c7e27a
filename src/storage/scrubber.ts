import { expectDiskError } from '../io/disk.ts'
import type { LogDirectory } from './log-directory.ts'
import type { ScrubCursor } from './log-scrub.ts'
import type { SegmentedLog } from './segmented-log.ts'

const stepBytes = 256 * 1024
const pauseMs = 86_400_000

/** Reads all logs of one directory again and again, so slowly that nobody notices, and no pass within a day of the last. */
export class Scrubber {
  readonly #directory: LogDirectory
  readonly #bytesPerSecond: number
  readonly #logs: () => readonly SegmentedLog[]
  #pass: SegmentedLog[] = []
  #cursor: ScrubCursor | undefined

  constructor(directory: LogDirectory, bytesPerSecond: number, logs: () => readonly SegmentedLog[]) {
    this.#directory = directory
    this.#bytesPerSecond = bytesPerSecond
    this.#logs = logs
  }

  start(): void {
    if (this.#bytesPerSecond > 0) this.#directory.after(pauseMs, () => this.#step())
  }

  async #step(): Promise<void> {
    if (this.#directory.isOffline) return
    if (this.#pass.length === 0) this.#pass = [...this.#logs()]
    const bytes = await this.#read()
    const isOver = this.#pass.length === 0
    const delayMs = isOver ? pauseMs : Math.max(1, (bytes / this.#bytesPerSecond) * 1000)
    this.#directory.after(delayMs, () => this.#step())
  }

  async #read(): Promise<number> {
    const log = this.#pass[0]
    if (log === undefined) return 0
    try {
      const { next, bytes } = log.isOffline ? { next: undefined, bytes: 0 } : await log.scrub(this.#cursor, stepBytes)
      this.#cursor = next
      if (next === undefined) this.#pass.shift()
      return bytes
    } catch (error) {
      expectDiskError(error)
      if (!log.isOffline) this.#directory.readFailed(error)
      this.#cursor = undefined
      this.#pass.shift()
      return 0
    }
  }
}
