import type { Random } from './random.ts'

/** How long to wait after so many failures in a row: doubled each time, up to a limit, and varied by a fifth. */
export class Backoff {
  readonly #random: Random
  readonly #firstMs: number
  readonly #maxMs: number

  constructor(random: Random, limits: { readonly firstMs: number; readonly maxMs: number }) {
    this.#random = random
    this.#firstMs = limits.firstMs
    this.#maxMs = Math.max(limits.firstMs, limits.maxMs)
  }

  /** `failures` counts from 1. */
  delayMs(failures: number): number {
    const delayMs = Math.min(this.#maxMs, this.#firstMs * 2 ** Math.min(30, failures - 1))
    return delayMs * (0.8 + this.#random.below(401) / 1000)
  }
}
