import { assert } from '../../base/assert.ts'
import type { Now } from '../../base/time.ts'
import type { Clock, Timer } from '../clock.ts'
import type { TurnQueue } from './turn-queue.ts'

/** The longest delay that Node's timers know; a longer one would run at once. */
const LONGEST_DELAY_MS = 2 ** 31 - 1

const never: Timer = Object.freeze({ cancel() {} })

export class NodeClock implements Clock {
  readonly #turns: TurnQueue

  constructor(turns: TurnQueue) {
    this.#turns = turns
  }

  now(): Now {
    return { monotonicMs: performance.now(), wallMs: Date.now() }
  }

  after(delayMs: number, callback: () => void): Timer {
    assert(!Number.isNaN(delayMs), 'a delay is a number')
    if (delayMs === Number.POSITIVE_INFINITY) return never
    return new NodeTimer(delayMs, () => this.#turns.call(callback))
  }

  nextTurn(callback: () => void): void {
    this.#turns.next(callback)
  }

  yieldTurn(): Promise<void> {
    return new Promise(resolve => this.#turns.next(resolve))
  }
}

class NodeTimer implements Timer {
  readonly #deadlineMs: number
  readonly #callback: () => void
  readonly #wake = () => this.#runWhenDue()
  #timeout: NodeJS.Timeout

  constructor(delayMs: number, callback: () => void) {
    this.#deadlineMs = performance.now() + delayMs
    this.#callback = callback
    this.#timeout = setTimeout(this.#wake, clampDelay(delayMs))
  }

  cancel(): void {
    clearTimeout(this.#timeout)
  }

  #runWhenDue(): void {
    // Node counts whole milliseconds and may come up to one early.
    const leftMs = this.#deadlineMs - performance.now()
    if (leftMs > 0) this.#timeout = setTimeout(this.#wake, clampDelay(leftMs))
    else this.#callback()
  }
}

function clampDelay(delayMs: number): number {
  return Math.min(Math.max(Math.ceil(delayMs), 0), LONGEST_DELAY_MS)
}
