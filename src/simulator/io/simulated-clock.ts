import { assert } from '../../base/assert.ts'
import type { Now } from '../../base/time.ts'
import type { Clock, Timer } from '../../io/clock.ts'
import type { Life } from './life.ts'

/** Where every world's wall clocks start: 1 January 2026. */
const EPOCH_WALL_MS = 1_767_225_600_000

/** Timers come late by up to this, as real ones do. */
const MAX_TIMER_LATENESS_US = 1000

/** The two clocks of one host. They outlive its processes, and the wall clock may be set. */
export class HostClock {
  /** Monotonic milliseconds that pass in one millisecond of the world. */
  readonly rate: number
  /** How far the wall clock is ahead. A step changes it. */
  wallOffsetMs = 0

  constructor(rate: number) {
    this.rate = rate
  }

  read(timeUs: number): Now {
    const monotonicMs = (timeUs * this.rate) / 1000
    return { monotonicMs, wallMs: EPOCH_WALL_MS + Math.floor(monotonicMs + this.wallOffsetMs) }
  }
}

const never: Timer = Object.freeze({ cancel() {} })

export class SimulatedClock implements Clock {
  readonly #life: Life
  readonly #host: HostClock

  constructor(life: Life, host: HostClock) {
    this.#life = life
    this.#host = host
  }

  now(): Now {
    return this.#host.read(this.#life.scheduler.timeUs)
  }

  after(delayMs: number, callback: () => void): Timer {
    assert(!Number.isNaN(delayMs), 'a delay is a number')
    if (delayMs === Number.POSITIVE_INFINITY) return never
    const delayUs = (Math.max(0, delayMs) * 1000) / this.#host.rate
    // One more, so that rounding never makes a timer early.
    const latenessUs = 1 + this.#life.random.below(MAX_TIMER_LATENESS_US)
    return this.#life.schedule('timer', delayUs + latenessUs, callback)
  }

  nextTurn(callback: () => void): void {
    this.#life.nextTurn(callback)
  }

  yieldTurn(): Promise<void> {
    return new Promise(resolve => this.#life.nextTurn(resolve))
  }
}
