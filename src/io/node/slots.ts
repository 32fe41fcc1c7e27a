/** Lets a limited number of jobs run at a time, first come first served. */
export class Slots {
  #free: number
  readonly #waiting: (() => void)[] = []

  constructor(limit: number) {
    this.#free = limit
  }

  /** Starts `job` now or when its time has come. `job` gets a function to call exactly once at its end. */
  run(job: (end: () => void) => void): void {
    const start = () => job(() => this.#end())
    if (this.#free === 0) this.#waiting.push(start)
    else {
      this.#free--
      start()
    }
  }

  #end(): void {
    const next = this.#waiting.shift()
    if (next === undefined) this.#free++
    else next()
  }
}

/**
 * How many jobs of each kind may be in Node's thread pool at once. From eight threads up they leave one free at least, so
 * that no kind keeps the others, or name look-ups and removals, from running.
 */
export interface PoolLimits {
  readonly reads: number
  readonly syncs: number
  readonly appends: number
  readonly computing: number
}

/** `threads` is the size of the pool: UV_THREADPOOL_SIZE, which must be set before the process starts; 4 when it is not. */
export function poolLimits(threads: number, cores: number): PoolLimits {
  const quarter = Math.max(1, Math.floor(threads / 4))
  const eighth = Math.max(1, Math.floor(threads / 8))
  return { reads: quarter, syncs: quarter, appends: eighth, computing: Math.min(quarter, Math.max(1, cores)) }
}
