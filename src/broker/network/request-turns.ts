import { ApiKey } from '../../protocol/apis.ts'

/** What the requests of one turn may cost together, in bytes of encoded answers: some milliseconds. */
const turnCost = 64 * 1024
/** After a turn that took longer than this, whatever the requests were thought to cost, the next one takes no more than one of each. */
const longTurnMs = 5
/** What a request costs besides its answer. */
const requestCost = 1024
/** From here on a request or its answer is large: it takes its turn among the others, and waits while memory is short. */
const largeBytes = 4096
/** How much of a large answer is still expected of the next one. */
const persistence = 7 / 8
const maxApiKeys = 128

export interface Asked {
  readonly apiKey: number
  /** Of the request. */
  readonly bytes: number
  /** The client has sent it behind no other that was worked on in this turn. */
  readonly isFirst: boolean
  /** The client has taken all answers that it was given, and has sent nothing behind this request: it waits for the answer. */
  readonly isAwaited: boolean
}

/** A connection that has a request which waits. */
export interface TurnTaker {
  /** The request may be offered again, once. */
  turnCame(): void
}

export interface RequestTurnsOptions {
  /** As `Clock.nextTurn`. */
  readonly nextTurn: (callback: () => void) => void
  /** Monotonic time. */
  readonly nowMs: () => number
  /** No large answer is to be made now. */
  readonly isMemoryShort: () => boolean
  /** Nor even for those who read what they are answered. */
  readonly isMemoryUsedUp: () => boolean
}

/**
 * Decides when requests are worked on that could hold others up: those whose answers are large, as far as is known from the
 * last ones of their API, and all that a client sends behind another without waiting. They share what one turn of the
 * event loop has for them, first come first served, one request each; and large answers are not made while unsent ones
 * use up their part of the memory. Clients that wait for the answer before they ask for more have a queue of their own, which
 * has its share of each turn however many others there are, and some memory that others leave. A small request is worked on at once, and so is every Produce: thousands of clients that
 * ask for much cost the others a few milliseconds.
 */
export class RequestTurns {
  readonly #options: RequestTurnsOptions
  readonly #encodedBytes = new Float64Array(maxApiKeys)
  readonly #memoryBytes = new Float64Array(maxApiKeys)
  /** Each in the order in which they came. */
  readonly #awaited = new Set<TurnTaker>()
  readonly #large = new Set<TurnTaker>()
  readonly #small = new Set<TurnTaker>()
  /** Whose turn it is now. */
  #current: TurnTaker | undefined
  #spent = 0
  #isPlanned = false
  /** When the present turn was planned. */
  #plannedAtMs = 0

  constructor(options: RequestTurnsOptions) {
    this.#options = options
  }

  /** Requests with large answers that wait, for memory or for their turn. */
  get largeWaitingCount(): number {
    return this.#awaited.size + this.#large.size
  }

  /** Whether the request may be worked on now. If not, `turnCame` is called when it may. */
  admits(taker: TurnTaker, { apiKey, bytes, isFirst, isAwaited }: Asked): boolean {
    if (apiKey === ApiKey.produce) return true
    const isCurrent = this.#current === taker
    this.#current = undefined
    const mayBegin =
      bytes >= largeBytes || this.#isLarge(apiKey)
        ? this.#takeLarge(taker, isAwaited, isCurrent)
        : isFirst || this.#take(taker, this.#small, isCurrent, true)
    if (!mayBegin) return false
    // It may have waited as another kind: its client has read meanwhile, or the answers of its API have changed.
    this.forget(taker)
    // Its answer may stand later only: what is to be expected of it is spent now.
    this.#spend(requestCost + bytes + this.#usual(apiKey))
    return true
  }

  /** A request was answered: what this has cost, and what is to be expected of the next. */
  answered(apiKey: number, encodedBytes: number, otherBytes: number): void {
    if (apiKey === ApiKey.produce) return
    const more = encodedBytes - this.#encodedBytes[apiKey]
    if (more > 0) this.#spend(more)
    this.#encodedBytes[apiKey] = Math.max(encodedBytes, persistence * this.#encodedBytes[apiKey])
    this.#memoryBytes[apiKey] = Math.max(encodedBytes + otherBytes, persistence * this.#memoryBytes[apiKey])
  }

  /** There is memory again for large answers. */
  roomAgain(): void {
    if (this.largeWaitingCount > 0) this.#plan()
  }

  /** The connection has gone, or waits no more. */
  forget(taker: TurnTaker): void {
    this.#awaited.delete(taker)
    this.#large.delete(taker)
    this.#small.delete(taker)
  }

  #usual(apiKey: number): number {
    return isKey(apiKey) ? this.#encodedBytes[apiKey] : 0
  }

  #isLarge(apiKey: number): boolean {
    if (!isKey(apiKey)) return false
    if (this.#encodedBytes[apiKey] >= largeBytes) return true
    return this.#memoryBytes[apiKey] >= largeBytes && (this.largeWaitingCount > 0 || this.#options.isMemoryShort())
  }

  #takeLarge(taker: TurnTaker, isAwaited: boolean, isCurrent: boolean): boolean {
    const { isMemoryShort, isMemoryUsedUp } = this.#options
    return isAwaited
      ? this.#take(taker, this.#awaited, isCurrent, !isMemoryUsedUp())
      : this.#take(taker, this.#large, isCurrent, !isMemoryShort())
  }

  #take(taker: TurnTaker, queue: Set<TurnTaker>, isCurrent: boolean, hasMemory: boolean): boolean {
    // Whose turn has come is not sent back for what another queue has spent of it: each has one a turn at least.
    if (hasMemory && (isCurrent || (this.#spent < turnCost && queue.size === 0))) return true
    queue.add(taker)
    if (hasMemory) this.#plan()
    return false
  }

  #spend(cost: number): void {
    this.#spent += cost
    // What a turn has left over may be spent in the next: so most turns need not be told apart.
    if (this.#spent >= turnCost / 2) this.#plan()
  }

  #plan(): void {
    if (this.#isPlanned) return
    this.#isPlanned = true
    this.#plannedAtMs = this.#options.nowMs()
    this.#options.nextTurn(() => this.#serve())
  }

  #serve(): void {
    this.#isPlanned = false
    const wasLong = this.#options.nowMs() - this.#plannedAtMs > longTurnMs
    this.#spent = 0
    let hasMore: boolean
    do {
      hasMore = this.#next(this.#small)
      if (this.#awaited.size > 0 && !this.#options.isMemoryUsedUp()) hasMore = this.#next(this.#awaited) || hasMore
      if (this.#large.size > 0 && !this.#options.isMemoryShort()) hasMore = this.#next(this.#large) || hasMore
    } while (hasMore && !wasLong && this.#spent < turnCost)
    if (!hasMore) return
    if (wasLong) this.#spent = Math.max(this.#spent, turnCost)
    this.#plan()
  }

  #next(queue: Set<TurnTaker>): boolean {
    for (const taker of queue) {
      queue.delete(taker)
      this.#current = taker
      taker.turnCame()
      this.#current = undefined
      return true
    }
    return false
  }
}

/** What a frame has for one may be anything. */
function isKey(apiKey: number): boolean {
  return apiKey >= 0 && apiKey < maxApiKeys
}
