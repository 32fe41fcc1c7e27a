import type { Clock } from '../../io/clock.ts'

/** How long a scrape may hold the event loop. */
const sliceMs = 5

/** Long work is done in slices, so that others run between them. */
export class Slices {
  readonly #clock: Clock
  #endMs: number

  constructor(clock: Clock) {
    this.#clock = clock
    this.#endMs = clock.now().monotonicMs + sliceMs
  }

  get isOver(): boolean {
    return this.#clock.now().monotonicMs >= this.#endMs
  }

  /** Resolves when the next one has begun. */
  async next(): Promise<void> {
    await this.#clock.yieldTurn()
    this.#endMs = this.#clock.now().monotonicMs + sliceMs
  }
}
