import type { Now } from '../base/time.ts'

export interface Timer {
  /** The callback will not run any more. Harmless when it has run or was cancelled already. */
  cancel(): void
}

/**
 * Time and turns. A *turn* is what runs between two visits to the event queue: one batch of ready sockets, timers or
 * completions, and all their microtasks.
 */
export interface Clock {
  now(): Now
  /** Calls back once, in a later turn, not before `delayMs` of monotonic time have passed. Zero and less mean "soon", Infinity never. */
  after(delayMs: number, callback: () => void): Timer
  /**
   * Calls back once, after the I/O callbacks of the present turn and before the next ones: the place to write what a
   * turn has gathered. Callbacks run in the order in which they were given; one given meanwhile runs in the turn after.
   */
  nextTurn(callback: () => void): void
  /** The same as a promise, for long work that must let others run. */
  yieldTurn(): Promise<void>
}
