/** An append in the loop that took longer means that the kernel holds writers back: it has too many dirty pages. */
const STALL_MS = 20
/** A write in the pool that took less, hand-over included, means that it does not any more. */
const FAST_MS = 4

/**
 * Whether appends of one disk are made in the loop, which is cheapest, or in the thread pool, where a stall hurts nobody
 * else. The kernel throttles a device, not a file: one file's stall tells for all.
 */
export class AppendPace {
  #isSlow = false
  readonly #stalled: (ms: number) => void

  /** `stalled` is told each time the loop has been held up, with for how long. */
  constructor(stalled: (ms: number) => void) {
    this.#stalled = stalled
  }

  get isSlow(): boolean {
    return this.#isSlow
  }

  tookInLoop(ms: number): void {
    if (ms <= STALL_MS) return
    this.#isSlow = true
    this.#stalled(ms)
  }

  tookInPool(ms: number): void {
    if (ms < FAST_MS) this.#isSlow = false
  }
}
