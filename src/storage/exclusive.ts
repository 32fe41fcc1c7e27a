/** Runs one action at a time, in the order in which they were asked for. */
export class Exclusive {
  #last: Promise<unknown> = Promise.resolve()
  #running = 0

  /** No action runs, and none waits. */
  get isIdle(): boolean {
    return this.#running === 0
  }

  /** Settles as the action does. */
  run<T>(act: () => Promise<T>): Promise<T> {
    this.#running++
    const done = this.#last.then(act)
    this.#last = done
      .catch(() => undefined)
      .then(() => {
        this.#running--
      })
    return done
  }
}
