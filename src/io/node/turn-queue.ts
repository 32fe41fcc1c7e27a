/**
 * What is put off to the end of the present turn, in two steps: first callbacks, in their order, then what wants to run
 * after all of them (a connection that sends in one write what they gave it). One `setImmediate` a turn, whatever the number.
 */
export class TurnQueue {
  readonly #uncaught: ((error: unknown) => void) | undefined
  #callbacks: (() => void)[] = []
  #lasts: (() => void)[] = []
  #isScheduled = false
  #isRunning = false
  readonly #run = () => this.#runTurn()

  /** `uncaught` is told what a callback throws. Without it the error is the process's. */
  constructor(uncaught?: (error: unknown) => void) {
    this.#uncaught = uncaught
  }

  /** Runs a callback of whoever uses this world: what it throws is a broken invariant of theirs. */
  call(callback: () => void): void {
    if (this.#uncaught === undefined) return callback()
    try {
      callback()
    } catch (error) {
      this.#uncaught(error)
    }
  }

  /** Runs after the I/O callbacks of this turn; given by such a callback, after those of the next. */
  next(callback: () => void): void {
    this.#callbacks.push(callback)
    this.#schedule()
  }

  /** Runs when the callbacks of this turn have run. */
  last(callback: () => void): void {
    this.#lasts.push(callback)
    if (!this.#isRunning) this.#schedule()
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(this.#run)
  }

  #runTurn(): void {
    this.#isScheduled = false
    this.#isRunning = true
    const callbacks = this.#callbacks
    this.#callbacks = []
    let lasts: (() => void)[] = []
    try {
      this.#runAll(callbacks)
      lasts = this.#lasts
      this.#lasts = []
      this.#runAll(lasts)
    } finally {
      this.#isRunning = false
      // After a throw the others still have their turn, in case somebody catches it and goes on.
      if (callbacks.length > 0) this.#callbacks.unshift(...callbacks)
      if (lasts.length > 0) this.#lasts.unshift(...lasts)
      if (this.#callbacks.length > 0 || this.#lasts.length > 0) this.#schedule()
    }
  }

  /** Leaves in the list what did not run, which is something only after a throw. */
  #runAll(list: (() => void)[]): void {
    let ran = 0
    try {
      while (ran < list.length) this.call(list[ran++]!)
    } finally {
      list.splice(0, ran)
    }
  }
}
