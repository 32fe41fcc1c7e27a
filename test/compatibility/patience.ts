const everyMs = 250
/** The most that counts of the time between two looks: between them this process may not have run. */
const maxStepMs = 2 * everyMs

/**
 * A limit for waiting that counts only time in which this process ran. One that was stopped for a minute, together with
 * what it waits for, or that got no processor, has not waited for a minute: it first has to look what has come meanwhile.
 */
export class Patience implements Disposable {
  /** Resolves when the limit is reached. */
  readonly over: Promise<void>
  #isOver = false
  readonly #timer: NodeJS.Timeout

  constructor(limitMs: number) {
    const over = Promise.withResolvers<void>()
    this.over = over.promise
    let leftMs = limitMs
    let lookedMs = performance.now()
    this.#timer = setInterval(() => {
      const nowMs = performance.now()
      leftMs -= Math.min(nowMs - lookedMs, maxStepMs)
      lookedMs = nowMs
      if (leftMs > 0) return
      this.#isOver = true
      clearInterval(this.#timer)
      over.resolve()
    }, everyMs)
  }

  get isOver(): boolean {
    return this.#isOver
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer)
  }
}

/** What the promise gives, or an error that names what was waited for in vain. */
export async function withPatience<T>(what: string, promise: Promise<T>, limitMs: number): Promise<T> {
  using patience = new Patience(limitMs)
  const inVain = patience.over.then(() => {
    throw new Error(`waited ${limitMs} ms in vain for ${what}`)
  })
  return await Promise.race([promise, inVain])
}
