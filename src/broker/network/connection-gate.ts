import type { Clock, Timer } from '../../io/clock.ts'
import type { ClientConnection } from './client-connection.ts'
import type { ConnectionRate } from './connection-rate.ts'

/** A rate that connections keep, and what it is now. */
export interface RateLimit {
  readonly rate: ConnectionRate
  readonly perSecond: number
}

export interface ConnectionGateOptions {
  readonly clock: Clock
  /** All of them are kept; they may change. */
  readonly limits: () => readonly RateLimit[]
  readonly admitted: (connection: ClientConnection) => void
}

/** Rates that are raised are seen after this long at the latest. */
const longestWaitMs = 1000

/**
 * Where connections of one listener wait when more come than may in a second (`max.connection.creation.rate`): they are
 * open, and nothing is read of them. How many may wait, and for how long, is bounded by what bounds all connections.
 */
export class ConnectionGate {
  readonly #options: ConnectionGateOptions
  /** In the order in which they came. */
  readonly #waiting = new Set<ClientConnection>()
  #timer: Timer | undefined

  constructor(options: ConnectionGateOptions) {
    this.#options = options
  }

  /** Lets the connection in at once or later. Answers whether it has to wait. */
  enter(connection: ClientConnection): boolean {
    if (this.#waiting.size === 0 && this.#takeTurn()) {
      this.#options.admitted(connection)
      return false
    }
    this.#waiting.add(connection)
    this.#arm()
    return true
  }

  holds(connection: ClientConnection): boolean {
    return this.#waiting.has(connection)
  }

  /** Ends a connection that waits. */
  drop(connection: ClientConnection, reason: string): void {
    if (!this.#waiting.delete(connection)) return
    connection.destroy(reason)
    // Whoever is started hears of the end.
    connection.start()
  }

  /** Ends all that wait. */
  close(): void {
    this.#timer?.cancel()
    this.#timer = undefined
    for (const connection of [...this.#waiting]) this.drop(connection, 'the broker stops')
  }

  #takeTurn(): boolean {
    const nowMs = this.#options.clock.now().monotonicMs
    const limits = this.#options.limits()
    if (limits.some(({ rate, perSecond }) => rate.waitMs(nowMs, perSecond) > 0)) return false
    for (const { rate, perSecond } of limits) rate.begun(nowMs, perSecond)
    return true
  }

  #arm(): void {
    const { clock, limits } = this.#options
    const nowMs = clock.now().monotonicMs
    const waitsMs = limits().map(({ rate, perSecond }) => rate.waitMs(nowMs, perSecond))
    this.#timer ??= clock.after(Math.min(longestWaitMs, Math.max(...waitsMs)), () => this.#letIn())
  }

  #letIn(): void {
    this.#timer = undefined
    for (const connection of this.#waiting) {
      if (!this.#takeTurn()) break
      this.#waiting.delete(connection)
      this.#options.admitted(connection)
    }
    if (this.#waiting.size > 0) this.#arm()
  }
}
