/** Runs one action at a time, in the order in which they were asked for. */
export class Exclusive {
  #last: Promise<unknown> = Promise.resolve()

  /** Settles as the action does. */
  run<T>(act: () => Promise<T>): Promise<T> {
    const done = this.#last.then(act)
    this.#last = done.catch(() => undefined)
    return done
  }
}
