/** An append in the loop that took longer means that the kernel holds writers back: it has too many dirty pages. */
const STALL_MS = 20
/** The copy itself takes time too; never as long as this. */
const COPY_MS_PER_BYTE = 4 / 2 ** 20
/** A write in the pool that took less, with the way there and back, would not have held up the loop for long either. */
const FAST_MS = 10
/** Stalls come in floods; they are reported once in this time. */
const REPORT_MS = 10_000

/**
 * Whether appends of one disk are made in the loop, which is cheapest, or in the thread pool, where a stall hurts nobody
 * else. The kernel throttles a device, not a file: one file's stall tells for all.
 */
export class AppendPace {
  #isSlow = false
  #stalls = 0
  #nextReportMs = 0
  readonly #report: (stalls: { count: number; lastMs: number }) => void

  constructor(report: (stalls: { count: number; lastMs: number }) => void) {
    this.#report = report
  }

  get isSlow(): boolean {
    return this.#isSlow
  }

  tookInLoop(ms: number, bytes: number, nowMs: number): void {
    if (ms <= STALL_MS + bytes * COPY_MS_PER_BYTE) return
    this.#isSlow = true
    this.#stalls++
    if (nowMs < this.#nextReportMs) return
    this.#nextReportMs = nowMs + REPORT_MS
    this.#report({ count: this.#stalls, lastMs: ms })
    this.#stalls = 0
  }

  tookInPool(ms: number, bytes: number): void {
    if (ms < FAST_MS + bytes * COPY_MS_PER_BYTE) this.#isSlow = false
  }
}
