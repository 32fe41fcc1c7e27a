import type { Backoff } from '../../base/backoff.ts'
import type { Clock, Timer } from '../../io/clock.ts'
import type { Closing } from './waiting.ts'

/** Someone who waits for an update that began after he asked. */
interface Waiter {
  readonly afterRound: number
  readonly resolve: () => void
}

/**
 * Decides when to ask for metadata: at once when somebody wants it, again when it gets old, never twice at the same time,
 * never sooner after the last time than the backoff says.
 */
export class MetadataRefresher {
  readonly #clock: Clock
  readonly #backoff: Backoff
  readonly #maxAgeMs: number
  readonly #closing: Closing
  readonly #fetch: () => Promise<boolean>
  #round = 0
  #isRunning = false
  #failures = 0
  /** Answers in a row that lacked something. */
  #gaps = 0
  #notBeforeMs = Number.NEGATIVE_INFINITY
  #isWanted = false
  #isDue = false
  #timer: Timer | undefined
  #waiters: Waiter[] = []
  /** Why the last attempt failed; undefined when it did not. */
  lastError: unknown

  constructor(options: {
    readonly clock: Clock
    readonly backoff: Backoff
    readonly maxAgeMs: number
    readonly closing: Closing
    /** Resolves with whether all is known that somebody wants to know; otherwise it is repeated soon. */
    readonly fetch: () => Promise<boolean>
  }) {
    this.#clock = options.clock
    this.#backoff = options.backoff
    this.#maxAgeMs = options.maxAgeMs
    this.#closing = options.closing
    this.#fetch = options.fetch
    this.#closing.onClose(() => this.#stop())
  }

  /** There should be an update soon. */
  request(): void {
    this.#isWanted = true
    this.#schedule()
  }

  /** Resolves with the next update that begins after this call, or when the client is closed; failed ones are repeated. */
  update(): Promise<void> {
    if (this.#closing.isClosed) return Promise.resolve()
    return new Promise(resolve => {
      this.#waiters.push({ afterRound: this.#round, resolve })
      this.request()
    })
  }

  #schedule(): void {
    if (this.#isRunning || this.#isDue || this.#closing.isClosed) return
    this.#timer?.cancel()
    const nowMs = this.#clock.now().monotonicMs
    if (this.#notBeforeMs > nowMs) {
      this.#timer = this.#clock.after(this.#notBeforeMs - nowMs, () => void this.#run())
      return
    }
    // At the end of the turn: those who come meanwhile, with other topics, are served together.
    this.#isDue = true
    this.#clock.nextTurn(() => void this.#run())
  }

  async #run(): Promise<void> {
    this.#isDue = false
    if (this.#isRunning || this.#closing.isClosed) return
    this.#timer?.cancel()
    this.#isRunning = true
    this.#isWanted = false
    this.#round++
    try {
      this.#gaps = (await this.#fetch()) ? 0 : this.#gaps + 1
      this.#failures = 0
      this.lastError = undefined
    } catch (error) {
      this.#failures++
      this.#isWanted = true
      this.lastError = error
    }
    this.#isRunning = false
    if (this.#closing.isClosed) return
    const nowMs = this.#clock.now().monotonicMs
    this.#notBeforeMs = nowMs + this.#backoff.delayMs(Math.max(1, this.#failures))
    if (this.#failures === 0) this.#wake()
    if (this.#isWanted || this.#waiters.length > 0) this.#schedule()
    else this.#timer = this.#clock.after(this.#restMs, () => this.request())
  }

  /** How long the last answer will do. What is missing may come any moment. */
  get #restMs(): number {
    return this.#gaps === 0 ? this.#maxAgeMs : Math.min(this.#maxAgeMs, this.#backoff.delayMs(this.#gaps))
  }

  #wake(): void {
    const served = this.#waiters.filter(({ afterRound }) => afterRound < this.#round)
    this.#waiters = this.#waiters.filter(({ afterRound }) => afterRound >= this.#round)
    for (const { resolve } of served) resolve()
  }

  #stop(): void {
    this.#timer?.cancel()
    const waiters = this.#waiters
    this.#waiters = []
    for (const { resolve } of waiters) resolve()
  }
}
