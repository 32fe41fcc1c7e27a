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

/**
 * The requests that wait for an answer: at most one per API and destination, each with a deadline, and a pause after
 * one that failed. A change of role forgets them all: what comes back afterwards answers a question nobody asks.
 */
export class OpenRequests {
  readonly #open = new Map<number, OpenRequest>()
  /** By slot: not before this time (monotonic ms). */
  readonly #pausedUntilMs = new Map<string, number>()
  #nextCorrelationId = 1

  open(request: Omit<OpenRequest, 'correlationId'>): OpenRequest {
    const opened = { ...request, correlationId: this.#nextCorrelationId++ }
    this.#open.set(opened.correlationId, opened)
    this.#pausedUntilMs.delete(slotOf(request.api, request.to))
    return opened
  }

  /** Whether a request of this kind may go there now. */
  isFree(api: RaftApi, to: Destination, nowMs: number): boolean {
    const slot = slotOf(api, to)
    if ((this.#pausedUntilMs.get(slot) ?? 0) > nowMs) return false
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

  /** No request of this kind goes there before `untilMs`. */
  pause({ api, to }: OpenRequest, untilMs: number): void {
    this.#pausedUntilMs.set(slotOf(api, to), untilMs)
  }

  /** Takes out the requests whose deadline has passed. */
  expired(nowMs: number): OpenRequest[] {
    const late = this.#list().filter(request => request.deadlineMs <= nowMs)
    for (const request of late) this.#open.delete(request.correlationId)
    return late
  }

  forgetAll(): void {
    this.#open.clear()
    this.#pausedUntilMs.clear()
  }

  nextDeadlineMs(nowMs: number): number {
    let next = Number.POSITIVE_INFINITY
    for (const request of this.#open.values()) next = Math.min(next, request.deadlineMs)
    for (const untilMs of this.#pausedUntilMs.values()) if (untilMs > nowMs) next = Math.min(next, untilMs)
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
