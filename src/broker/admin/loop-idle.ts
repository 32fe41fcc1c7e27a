import { type EventLoopUtilization, performance } from 'node:perf_hooks'
import type { Clock } from '../../io/clock.ts'

const windowMs = 60_000
/** At most one sample is kept of each. */
const sampleMs = 1000

/** How much of the last minute the event loop had nothing to do, as far as it was asked often enough: since the start otherwise. */
export class LoopIdle {
  readonly #clock: Clock
  readonly #samples: { readonly atMs: number; readonly utilization: EventLoopUtilization }[]

  constructor(clock: Clock) {
    this.#clock = clock
    this.#samples = [{ atMs: clock.now().monotonicMs, utilization: performance.eventLoopUtilization() }]
  }

  /** 0 to 1. */
  value(): number {
    const nowMs = this.#clock.now().monotonicMs
    const samples = this.#samples
    while (samples.length > 1 && samples[1].atMs <= nowMs - windowMs) samples.shift()
    const { utilization } = performance.eventLoopUtilization(samples[0].utilization)
    if (nowMs - samples[samples.length - 1].atMs >= sampleMs) {
      samples.push({ atMs: nowMs, utilization: performance.eventLoopUtilization() })
    }
    return Number.isNaN(utilization) ? 1 : 1 - utilization
  }
}
