/**
 * Something that many ask for and that may run once for all of them: one run at a time, and the next one serves everybody who
 * asked meanwhile.
 */
export class SharedTask {
  readonly #act: () => Promise<void>
  #running: Promise<void> | undefined
  #next: Promise<void> | undefined

  constructor(act: () => Promise<void>) {
    this.#act = act
  }

  /** Settles as a run does that began after this call. */
  run(): Promise<void> {
    // The next run may be about to begin although none is running: it is not begun beside another.
    if (this.#next !== undefined) return this.#next
    if (this.#running === undefined) return this.#start()
    this.#next = this.#running
      .catch(() => undefined)
      .then(() => {
        this.#next = undefined
        return this.#start()
      })
    return this.#next
  }

  /** Resolves when no run is under way, and nobody waits for one. */
  async whenIdle(): Promise<void> {
    for (let last = this.#next ?? this.#running; last !== undefined; last = this.#next ?? this.#running) {
      await last.catch(() => undefined)
    }
  }

  #start(): Promise<void> {
    this.#running = this.#act().finally(() => {
      this.#running = undefined
    })
    return this.#running
  }
}
