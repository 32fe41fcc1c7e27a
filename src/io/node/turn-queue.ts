/**
 * What is put off to the end of the present turn, in two steps: first callbacks, in their order, then what wants to run
 * after all of them and after the promises that they settled (a connection that sends in one write what they gave it). Two
 * `setImmediate` a turn, whatever the number: Node settles promises between them, but not between our callbacks.
 */
export class TurnQueue {
  readonly #uncaught: ((error: unknown) => void) | undefined
  #callbacks: (() => void)[] = []
  #lasts: (() => void)[] = []
  /** The callbacks' step of a turn is planned and has not begun. */
  #isPlanned = false
  /** Second steps that are planned and have not begun. */
  #plannedLasts = 0
  /** Callbacks of this turn are left over after a throw: what is last waits for them. */
  #isHeldUp = false
  readonly #runFirst = () => {
    this.#isPlanned = false
    this.#runCallbacks()
  }
  readonly #runSecond = () => {
    this.#plannedLasts--
    this.#runLasts()
  }

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
    if (this.#plannedLasts === 0) this.#schedule()
  }

  #schedule(): void {
    if (this.#isPlanned) return
    this.#isPlanned = true
    this.#plannedLasts++
    setImmediate(this.#runFirst)
    setImmediate(this.#runSecond)
  }

  #runCallbacks(): void {
    const callbacks = this.#callbacks
    this.#callbacks = []
    this.#isHeldUp = false
    try {
      this.#runAll(callbacks)
    } finally {
      // After a throw the others still have their turn, in case somebody catches it and goes on.
      if (callbacks.length > 0) {
        this.#isHeldUp = true
        this.#callbacks.unshift(...callbacks)
        this.#schedule()
      }
    }
  }

  #runLasts(): void {
    if (this.#isHeldUp) return
    const lasts = this.#lasts
    this.#lasts = []
    try {
      this.#runAll(lasts)
    } finally {
      if (lasts.length > 0) {
        this.#lasts.unshift(...lasts)
        this.#schedule()
      }
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
