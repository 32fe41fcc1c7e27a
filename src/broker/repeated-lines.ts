import type { Clock } from '../io/clock.ts'

const repeatMs = 60_000
const maxLines = 100

/**
 * Which lines of the log were told within the last minute: what clients ask for again and again fails again and again. Of many
 * different ones a hundred are told.
 */
export class RepeatedLines {
  readonly #clock: Clock
  readonly #told = new Set<string>()
  #sinceMs = Number.NEGATIVE_INFINITY

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Whether the line is to be told; it is taken as told then. */
  isNew(line: string): boolean {
    const { monotonicMs } = this.#clock.now()
    if (monotonicMs - this.#sinceMs >= repeatMs) {
      this.#sinceMs = monotonicMs
      this.#told.clear()
    }
    if (this.#told.has(line) || this.#told.size >= maxLines) return false
    this.#told.add(line)
    return true
  }
}
