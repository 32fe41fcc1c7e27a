import type { Clock } from '../io/clock.ts'

const rememberedMs = 5000
const maxNames = 1000

/** Names of topics that were deleted a moment ago. Of very many the last thousand are known. */
export class RecentDeletions {
  readonly #clock: Clock
  /** When each was deleted, in monotonic ms, the oldest first. */
  readonly #deletedAt = new Map<string, number>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  add(name: string): void {
    this.#deletedAt.delete(name)
    this.#deletedAt.set(name, this.#clock.now().monotonicMs)
    this.#forget()
  }

  has(name: string): boolean {
    this.#forget()
    return this.#deletedAt.has(name)
  }

  #forget(): void {
    const { monotonicMs } = this.#clock.now()
    for (const [name, at] of this.#deletedAt) {
      if (monotonicMs - at < rememberedMs && this.#deletedAt.size <= maxNames) return
      this.#deletedAt.delete(name)
    }
  }
}
