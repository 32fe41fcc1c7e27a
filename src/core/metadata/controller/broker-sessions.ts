/** What is known of a broker by its heartbeats, and is not in the log. */
interface BrokerSession {
  readonly contactMs: number
  /** How far the broker has read the metadata log. */
  readonly metadataOffset: number
  /** Once every active broker has read up to here, a broker that is shutting down may go. */
  readonly shutdownOffset: number | undefined
}

export type SessionChange =
  | { readonly type: 'contact'; readonly brokerId: number; readonly atMs: number; readonly metadataOffset: number }
  | { readonly type: 'shutdown'; readonly brokerId: number; readonly offset: number }
  /** A new life of a broker, or the end of one. */
  | { readonly type: 'fresh'; readonly brokerId: number }
  /** The controller was held up itself: nobody is blamed for it. */
  | { readonly type: 'extend'; readonly atMs: number }

/** Sessions of brokers that are in service. Times are monotonic. */
export class BrokerSessions {
  readonly #timeoutMs: number
  readonly #sessions = new Map<number, BrokerSession>()

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs
  }

  apply(change: SessionChange): void {
    switch (change.type) {
      case 'contact': {
        const before = this.#sessions.get(change.brokerId)
        const { atMs: contactMs, metadataOffset } = change
        this.#sessions.set(change.brokerId, { contactMs, metadataOffset, shutdownOffset: before?.shutdownOffset })
        break
      }
      case 'shutdown': {
        const before = this.#sessions.get(change.brokerId)
        if (before) this.#sessions.set(change.brokerId, { ...before, shutdownOffset: change.offset })
        break
      }
      case 'fresh':
        this.#sessions.delete(change.brokerId)
        break
      case 'extend':
        for (const [id, session] of this.#sessions) this.#sessions.set(id, { ...session, contactMs: change.atMs })
        break
    }
  }

  /** The controller has just taken over: every broker in service gets a whole session to be heard of. */
  start(brokerIds: Iterable<number>, atMs: number): void {
    for (const brokerId of brokerIds) this.apply({ type: 'contact', brokerId, atMs, metadataOffset: -1 })
  }

  /** Whether this controller has had a heartbeat of it. */
  isHeardOf(brokerId: number): boolean {
    return this.metadataOffset(brokerId) >= 0
  }

  isValid(brokerId: number, nowMs: number): boolean {
    const session = this.#sessions.get(brokerId)
    return session !== undefined && nowMs < session.contactMs + this.#timeoutMs
  }

  shutdownOffset(brokerId: number): number | undefined {
    return this.#sessions.get(brokerId)?.shutdownOffset
  }

  metadataOffset(brokerId: number): number {
    return this.#sessions.get(brokerId)?.metadataOffset ?? -1
  }

  /** When the first of these brokers' sessions ends; undefined if none has one. */
  earliestEndMs(brokerIds: Iterable<number>): number | undefined {
    let earliest: number | undefined
    for (const id of brokerIds) {
      const session = this.#sessions.get(id)
      const endMs = session && session.contactMs + this.#timeoutMs
      if (endMs !== undefined && (earliest === undefined || endMs < earliest)) earliest = endMs
    }
    return earliest
  }

  inspect(): unknown {
    return [...this.#sessions].sort(([one], [other]) => one - other)
  }
}
