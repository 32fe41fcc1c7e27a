import type { Clock } from '../../io/clock.ts'

/** No wait is asked for that is shorter: timers are not finer. */
const minWaitMs = 1
/** Bytes may be taken this much ahead of their time, so that work is not cut in crumbs. */
const burstMs = 50

/** Bounds the bytes a second of everything that compaction reads and writes, of all logs together. */
export class IoThrottle {
  readonly #clock: Clock
  readonly #bytesPerSecond: () => number
  /** Until when what has been taken is paid for. Monotonic. */
  #paidUntilMs = 0

  /** The rate may change; Infinity is no bound. */
  constructor(clock: Clock, bytesPerSecond: () => number) {
    this.#clock = clock
    this.#bytesPerSecond = bytesPerSecond
  }

  /** How long whoever has read or written so many bytes must rest before it goes on. */
  take(byteLength: number): number {
    const rate = this.#bytesPerSecond()
    if (!(rate < Number.MAX_SAFE_INTEGER) || rate <= 0) return 0
    const { monotonicMs } = this.#clock.now()
    this.#paidUntilMs = Math.max(this.#paidUntilMs, monotonicMs) + (byteLength / rate) * 1000
    const restMs = this.#paidUntilMs - monotonicMs - burstMs
    return restMs < minWaitMs ? 0 : restMs
  }
}
