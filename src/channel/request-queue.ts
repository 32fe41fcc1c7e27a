import { assert } from '../base/assert.ts'

/** What the queue needs to know of a request; the channel hangs its own things on it. */
export interface QueuedRequest {
  readonly correlationId: number
  /** Monotonic. */
  readonly deadlineMs: number
  /** Produce with acks=0 gets no answer: the request has ended when its bytes have left. */
  readonly expectsAnswer: boolean
}

/**
 * The requests of one connection: those that wait to be sent, then those that are on the wire, in the order in which their
 * answers must come.
 */
export class RequestQueue<R extends QueuedRequest> {
  readonly #maxInFlight: number
  readonly #maxWaiting: number
  readonly #waiting: R[] = []
  readonly #inFlight: R[] = []

  constructor(limits: { readonly maxInFlight: number; readonly maxWaiting: number }) {
    assert(limits.maxInFlight > 0, 'a channel may have at least one request in flight')
    this.#maxInFlight = limits.maxInFlight
    this.#maxWaiting = limits.maxWaiting
  }

  get inFlightCount(): number {
    return this.#inFlight.length
  }

  get waitingCount(): number {
    return this.#waiting.length
  }

  get isEmpty(): boolean {
    return this.#waiting.length === 0 && this.#inFlight.length === 0
  }

  /** False when so many wait already that this one is refused. */
  add(request: R): boolean {
    if (this.#waiting.length >= this.#maxWaiting) return false
    this.#waiting.push(request)
    return true
  }

  /** The next request to send, which is in flight from now on; undefined when none may be sent now. */
  takeNext(): R | undefined {
    if (this.#inFlight.length >= this.#maxInFlight) return undefined
    const request = this.#waiting.shift()
    if (request?.expectsAnswer) this.#inFlight.push(request)
    return request
  }

  /** The request that an answer is for; undefined when the answer is not the one whose turn it is. */
  answered(correlationId: number): R | undefined {
    if (this.#inFlight[0]?.correlationId !== correlationId) return undefined
    return this.#inFlight.shift()
  }

  /** Removes the waiting requests whose time is over: nothing of them was sent. */
  expireWaiting(monotonicMs: number): R[] {
    const expired = this.#waiting.filter(({ deadlineMs }) => deadlineMs <= monotonicMs)
    for (const request of expired) this.#waiting.splice(this.#waiting.indexOf(request), 1)
    return expired
  }

  /** A request on the wire whose time is over: its answer may still come, so the connection is of no use any more. */
  overdue(monotonicMs: number): R | undefined {
    return this.#inFlight.find(({ deadlineMs }) => deadlineMs <= monotonicMs)
  }

  nextDeadlineMs(): number {
    let next = Number.POSITIVE_INFINITY
    for (const { deadlineMs } of this.#inFlight) if (deadlineMs < next) next = deadlineMs
    for (const { deadlineMs } of this.#waiting) if (deadlineMs < next) next = deadlineMs
    return next
  }

  /** Empties the queue, for a connection that has ended. */
  takeAll(): { readonly sent: R[]; readonly unsent: R[] } {
    return { sent: this.#inFlight.splice(0), unsent: this.#waiting.splice(0) }
  }
}
