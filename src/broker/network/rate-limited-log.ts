import type { Clock, Timer } from '../../io/clock.ts'
import type { LogSink } from '../../io/log-sink.ts'

const periodMs = 1000
const maxSubjects = 100
const maxAddresses = 3

class Suppressed {
  count = 0
  readonly addresses = new Set<string>()

  add(address: string): void {
    this.count++
    if (this.addresses.size < maxAddresses) this.addresses.add(address)
  }

  get text(): string {
    return `${this.count} more within a second, from ${[...this.addresses].join(', ')}`
  }
}

/**
 * Says the same thing at most once a second, however often it happens: the first time at once, then how many more
 * there were, and from where. Of more than a hundred different things within a second the rest is only counted.
 */
export class RateLimitedLog {
  readonly #clock: Clock
  readonly #log: LogSink
  readonly #suppressed = new Map<string, Suppressed>()
  /** What came when there was no room for one more thing to say. */
  #unnamed = new Suppressed()
  #timer: Timer | undefined

  constructor(clock: Clock, log: LogSink) {
    this.#clock = clock
    this.#log = log
  }

  /** `kind`: what is counted as the same, where messages differ in figures. */
  warn(message: string, address: string, kind = message): void {
    const known = this.#suppressed.get(kind)
    if (known !== undefined) known.add(address)
    else if (this.#suppressed.size >= maxSubjects) this.#unnamed.add(address)
    else {
      this.#suppressed.set(kind, new Suppressed())
      this.#log.write('warn', `${address}: ${message}`, { address })
      this.#timer ??= this.#clock.after(periodMs, () => this.#sayRest())
    }
  }

  close(): void {
    this.#timer?.cancel()
    this.#timer = undefined
  }

  #sayRest(): void {
    this.#timer = undefined
    for (const [kind, rest] of this.#suppressed) {
      if (rest.count > 0) this.#log.write('warn', `${kind}: ${rest.text}`, { count: rest.count })
    }
    const unnamed = this.#unnamed
    if (unnamed.count > 0)
      this.#log.write('warn', `connections closed or refused for other reasons: ${unnamed.text}`, {
        count: unnamed.count,
      })
    this.#suppressed.clear()
    this.#unnamed = new Suppressed()
  }
}
