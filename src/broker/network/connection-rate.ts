/** How often something may begin: as often in one go as in a second, and from then on at even distances. */
export class ConnectionRate {
  /** When all that has begun would have begun at even distances. */
  #dueMs = Number.NEGATIVE_INFINITY

  /** How long until another may begin, in milliseconds. `perSecond` may change; below 1 it is 1, and Infinity is no limit. */
  waitMs(nowMs: number, perSecond: number): number {
    const intervalMs = intervalOf(perSecond)
    const waitMs = this.#dueMs - (1000 - intervalMs) - nowMs
    // Sums of intervals are not exact.
    return waitMs < 1e-3 ? 0 : waitMs
  }

  begun(nowMs: number, perSecond: number): void {
    this.#dueMs = Math.max(this.#dueMs, nowMs) + intervalOf(perSecond)
  }
}

function intervalOf(perSecond: number): number {
  return 1000 / Math.max(1, perSecond)
}
