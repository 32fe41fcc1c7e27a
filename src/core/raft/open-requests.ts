import type { Destination } from './events.ts'
import type { RaftApi } from './messages.ts'

export interface OpenRequest {
  readonly correlationId: number
  readonly api: RaftApi
  readonly to: Destination
  readonly deadlineMs: number
  /** Of a Fetch: where it asked to start. An answer counts only while that is still the end of the log. */
  readonly fetchOffset: number
}

/** Pauses grow to so many times the first one. */
const maxPauseFactor = 25

/**
 * The requests that wait for an answer: at most one per API and destination, each with a deadline, and a pause after
 * one that failed, twice as long after each failure in a row. A change of role forgets them all: what comes back
 * afterwards answers a question nobody asks.
 */
export class OpenRequests {
  readonly #open = new Map<number, OpenRequest>()
  /** By slot: not before this time (monotonic ms), after so many failures in a row. */
  readonly #paused = new Map<string, { readonly untilMs: number; readonly failures: number }>()
  readonly #firstPauseMs: number
  #nextCorrelationId = 1

  constructor(firstPauseMs: number) {
    this.#firstPauseMs = firstPauseMs
  }

  open(request: Omit<OpenRequest, 'correlationId'>): OpenRequest {
    const opened = { ...request, correlationId: this.#nextCorrelationId++ }
    this.#open.set(opened.correlationId, opened)
    return opened
  }

  /** Whether a request of this kind may go there now. */
  isFree(api: RaftApi, to: Destination, nowMs: number): boolean {
    const slot = slotOf(api, to)
    if ((this.#paused.get(slot)?.untilMs ?? 0) > nowMs) return false
    return !this.#list().some(request => slotOf(request.api, request.to) === slot)
  }

  /** Whether any of these waits for an answer, wherever it went. */
  isWaitingFor(...apis: RaftApi[]): boolean {
    return this.#list().some(request => apis.includes(request.api))
  }

  /** The request that this answers; undefined when it was forgotten meanwhile. */
  close(correlationId: number): OpenRequest | undefined {
    const request = this.#open.get(correlationId)
    this.#open.delete(correlationId)
    return request
  }

  /** It brought nothing: no request of this kind goes there for a while. */
  failed({ api, to }: OpenRequest, nowMs: number): void {
    const slot = slotOf(api, to)
    const failures = (this.#paused.get(slot)?.failures ?? 0) + 1
    const pauseMs = this.#firstPauseMs * Math.min(maxPauseFactor, 2 ** (failures - 1))
    this.#paused.set(slot, { untilMs: nowMs + pauseMs, failures })
  }

  /** It brought what was asked for. */
  succeeded({ api, to }: OpenRequest): void {
    this.#paused.delete(slotOf(api, to))
  }

  /** Takes out the requests whose deadline has passed. */
  expired(nowMs: number): OpenRequest[] {
    const late = this.#list().filter(request => request.deadlineMs <= nowMs)
    for (const request of late) this.#open.delete(request.correlationId)
    return late
  }

  forgetAll(): void {
    this.#open.clear()
    this.#paused.clear()
  }

  nextDeadlineMs(nowMs: number): number {
    let next = Number.POSITIVE_INFINITY
    for (const request of this.#open.values()) next = Math.min(next, request.deadlineMs)
    for (const { untilMs } of this.#paused.values()) if (untilMs > nowMs) next = Math.min(next, untilMs)
    return next
  }

  inspect(): string[] {
    return this.#list().map(({ api, to }) => `${api} to ${to.type === 'node' ? to.id : `bootstrap ${to.index}`}`)
  }

  #list(): OpenRequest[] {
    return [...this.#open.values()]
  }
}

function slotOf(api: RaftApi, to: Destination): string {
  return to.type === 'node' ? `${api}:${to.id}` : `${api}:bootstrap`
}
