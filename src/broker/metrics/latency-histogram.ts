/** Eight steps for each doubling, from 1 µs to about 17 minutes: quantiles are right within 9 %. */
const stepsPerDoubling = 8
const doublings = 30

/** Counts durations in buckets of constant relative width. Recording costs a logarithm and no memory. */
export class LatencyHistogram {
  readonly #counts = new Uint32Array(stepsPerDoubling * doublings)
  count = 0
  sumMs = 0
  maxMs = 0

  record(ms: number): void {
    this.count++
    this.sumMs += ms
    if (ms > this.maxMs) this.maxMs = ms
    const microseconds = ms * 1000
    const index = microseconds <= 1 ? 0 : Math.floor(Math.log2(microseconds) * stepsPerDoubling)
    this.#counts[Math.min(index, this.#counts.length - 1)]++
  }

  /** The duration in milliseconds that the given part (0 to 1) of all was not longer than. 0 when there was none. */
  quantile(part: number): number {
    if (this.count === 0) return 0
    const wanted = Math.ceil(part * this.count)
    let seen = 0
    for (let i = 0; i < this.#counts.length; i++) {
      seen += this.#counts[i]
      if (seen >= wanted) return Math.min(this.maxMs, 2 ** ((i + 1) / stepsPerDoubling) / 1000)
    }
    return this.maxMs
  }
}
