import type { Clock, Timer } from '../../io/clock.ts'

/** Something that ends once, such as a client. Those who wait for other things ask it to wake them. */
export class Closing {
  #isClosed = false
  readonly #callbacks = new Set<() => void>()

  get isClosed(): boolean {
    return this.#isClosed
  }

  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    for (const callback of [...this.#callbacks]) callback()
    this.#callbacks.clear()
  }

  /** Calls back at the end, at once if that has been. Returns what takes the callback away. */
  onClose(callback: () => void): () => void {
    if (this.#isClosed) {
      callback()
      return () => undefined
    }
    this.#callbacks.add(callback)
    return () => void this.#callbacks.delete(callback)
  }
}

/** Resolves after this time, or when `closing` ends. */
export function sleep(clock: Clock, ms: number, closing: Closing): Promise<void> {
  return new Promise(resolve => {
    const wake = () => {
      timer.cancel()
      forget()
      resolve()
    }
    const timer = clock.after(ms, wake)
    const forget = closing.onClose(() => queueMicrotask(wake))
  })
}

/** Those who wait for something to change. Each looks for himself whether it is what he waits for. */
export class WakeUps {
  readonly #clock: Clock
  #waiters: (() => void)[] = []

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Resolves with the next `wake`, or after so much time. */
  next(timeoutMs: number): Promise<void> {
    return new Promise(resolve => {
      const timer = Number.isFinite(timeoutMs) ? this.#clock.after(timeoutMs, resolve) : undefined
      this.#waiters.push(() => {
        timer?.cancel()
        resolve()
      })
    })
  }

  wake(): void {
    const waiters = this.#waiters
    this.#waiters = []
    for (const wake of waiters) wake()
  }
}

/** The promise, unless it takes longer than `ms`: then rejects with what `late` makes. The promise itself goes on. */
export function within<T>(clock: Clock, ms: number, promise: Promise<T>, late: () => Error): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = clock.after(ms, () => reject(late()))
    promise.then(
      value => {
        timer.cancel()
        resolve(value)
      },
      error => {
        timer.cancel()
        reject(error)
      },
    )
  })
}

/**
 * Tries one candidate after the other, each as soon as the one before has failed or has not answered for `patienceMs`:
 * a dead one holds nobody up. The first to succeed wins; when all have failed, rejects with the last failure.
 */
export function firstToSucceed<C, T>(
  clock: Clock,
  candidates: readonly C[],
  patienceMs: number,
  attempt: (candidate: C) => Promise<T>,
): Promise<T> {
  return new Promise((resolve, reject) => {
    let next = 0
    let failed = 0
    let timer: Timer | undefined
    const startNext = () => {
      timer?.cancel()
      if (next === candidates.length) return
      attempt(candidates[next++]).then(
        value => {
          timer?.cancel()
          next = candidates.length
          resolve(value)
        },
        error => {
          failed++
          if (failed === candidates.length) reject(error)
          else startNext()
        },
      )
      if (next < candidates.length) timer = clock.after(patienceMs, startNext)
    }
    startNext()
  })
}
