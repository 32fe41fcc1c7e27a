import type { Clock, Timer } from '../../io/clock.ts'

/** No wait is asked for that is shorter: timers are not finer. */
const minWaitMs = 1
/** Bytes may be taken this much ahead of their time, so that work is not cut in crumbs. */
const burstMs = 50

/** A rest that somebody may end. */
export interface Rest {
  /** Resolves when the rest is over, or was ended. */
  readonly over: Promise<void>
  end(): void
}

/** Bounds the bytes a second of everything that compaction reads and writes, of all logs together. */
export class IoThrottle {
  readonly #clock: Clock
  readonly #bytesPerSecond: () => number
  /** Bytes since the start: those that were taken, and of these how many their time has paid for. */
  #takenBytes = 0
  #paidBytes = 0
  #paidAtMs: number
  /** What holds since then. */
  #rate: number
  readonly #resting = new Set<() => void>()

  /** The rate may change, which `reconfigured` tells; Infinity is no bound. */
  constructor(clock: Clock, bytesPerSecond: () => number) {
    this.#clock = clock
    this.#bytesPerSecond = bytesPerSecond
    this.#paidAtMs = clock.now().monotonicMs
    this.#rate = bytesPerSecond()
  }

  /**
   * The rest of whoever has read or written so many bytes, before it goes on; undefined when it need not. What holds when the
   * rate changes is the new one, also for those who rest already.
   */
  take(byteLength: number): Rest | undefined {
    this.#pay()
    this.#takenBytes += byteLength
    const untilBytes = this.#takenBytes
    if (this.#restMs(untilBytes) === 0) return undefined
    return this.#rest(untilBytes)
  }

  /** The rate has changed. */
  reconfigured(): void {
    this.#pay()
    for (const look of [...this.#resting]) look()
  }

  #rest(untilBytes: number): Rest {
    let timer: Timer | undefined
    let end = () => {}
    const over = new Promise<void>(resolve => {
      const look = () => {
        timer?.cancel()
        const restMs = this.#restMs(untilBytes)
        if (restMs === 0) end()
        else timer = this.#clock.after(restMs, look)
      }
      end = () => {
        timer?.cancel()
        this.#resting.delete(look)
        resolve()
      }
      this.#resting.add(look)
      look()
    })
    return { over, end: () => end() }
  }

  #restMs(untilBytes: number): number {
    this.#pay()
    if (!isBound(this.#rate)) return 0
    const restMs = ((untilBytes - this.#paidBytes) / this.#rate) * 1000 - burstMs
    return restMs < minWaitMs ? 0 : restMs
  }

  /** The time until now pays at the rate that held, what comes does at the one that holds. */
  #pay(): void {
    const { monotonicMs } = this.#clock.now()
    const paidBytes = isBound(this.#rate)
      ? this.#paidBytes + ((monotonicMs - this.#paidAtMs) / 1000) * this.#rate
      : this.#takenBytes
    this.#paidBytes = Math.min(this.#takenBytes, paidBytes)
    this.#paidAtMs = monotonicMs
    this.#rate = this.#bytesPerSecond()
  }
}

function isBound(rate: number): boolean {
  return rate < Number.MAX_SAFE_INTEGER && rate > 0
}
