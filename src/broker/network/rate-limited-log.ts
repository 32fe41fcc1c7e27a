import type { Clock, Timer } from '../../io/clock.ts'
import type { LogSink } from '../../io/log-sink.ts'

const periodMs = 1000
const maxSubjects = 100

interface Suppressed {
  count: number
  readonly addresses: Set<string>
}

/**
 * Says the same thing at most once a second, however often it happens: the first time at once, then how many more
 * there were, and from where.
 */
export class RateLimitedLog {
  readonly #clock: Clock
  readonly #log: LogSink
  readonly #suppressed = new Map<string, Suppressed>()
  #timer: Timer | undefined

  constructor(clock: Clock, log: LogSink) {
    this.#clock = clock
    this.#log = log
  }

  warn(message: string, address: string): void {
    const known = this.#suppressed.get(message)
    if (known === undefined) {
      if (this.#suppressed.size >= maxSubjects) return
      this.#suppressed.set(message, { count: 0, addresses: new Set() })
      this.#log.write('warn', `${address}: ${message}`, { address })
      this.#timer ??= this.#clock.after(periodMs, () => this.#sayRest())
      return
    }
    known.count++
    if (known.addresses.size < 3) known.addresses.add(address)
  }

  close(): void {
    this.#timer?.cancel()
    this.#timer = undefined
  }

  #sayRest(): void {
    this.#timer = undefined
    for (const [message, { count, addresses }] of this.#suppressed) {
      if (count > 0)
        this.#log.write('warn', `${message}: ${count} more within a second, from ${[...addresses].join(', ')}`, {
          count,
        })
    }
    this.#suppressed.clear()
  }
}
