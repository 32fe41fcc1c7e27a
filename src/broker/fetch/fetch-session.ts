import { assert } from '../../base/assert.ts'
import { ErrorCode } from '../../base/error-code.ts'
import { type Link, LinkedList } from '../../base/linked-list.ts'
import type { Random } from '../../base/random.ts'
import type { Uuid } from '../../base/uuid.ts'

/** What a client asks of one partition. In a session it is remembered until it is changed or forgotten. */
export interface FetchPartition {
  readonly topicId: Uuid
  /** Empty where the client names topics by id. */
  readonly topic: string
  readonly index: number
  currentLeaderEpoch: number
  fetchOffset: number
  lastFetchedEpoch: number
  logStartOffset: number
  maxBytes: number
  /** What the last answer said, so that the next one need not repeat it. -1: nothing was said yet. */
  sentHighWatermark: number
  sentLogStartOffset: number
}

export interface FetchSessionRequest {
  readonly sessionId: number
  readonly sessionEpoch: number
  readonly usesTopicIds: boolean
  readonly isReplica: boolean
  readonly partitions: readonly FetchPartition[]
  readonly forgotten: readonly { readonly topicId: Uuid; readonly topic: string; readonly index: number }[]
}

/** How a request is to be answered. */
export type FetchContext =
  /** Every partition, without a session. */
  | { readonly type: 'full'; readonly partitions: FetchPartition[]; readonly startsSession: boolean }
  /** Only what has changed. */
  | { readonly type: 'incremental'; readonly session: FetchSession }
  | { readonly type: 'error'; readonly errorCode: ErrorCode }

function keyOf(
  partition: { readonly topicId: Uuid; readonly topic: string; readonly index: number },
  byId: boolean,
): string {
  return `${byId ? partition.topicId : partition.topic}/${partition.index}`
}

export class FetchSession {
  readonly id: number
  readonly usesTopicIds: boolean
  readonly isReplica: boolean
  readonly #partitions = new Map<string, Link<FetchPartition>>()
  /** In the order in which they are served: what returned data goes to the end, so that none is starved. */
  readonly #order = new LinkedList<FetchPartition>()
  /** The epoch that the next request must carry. */
  epoch = 1
  lastUsedMs: number
  readonly createdMs: number

  constructor(id: number, request: FetchSessionRequest, nowMs: number) {
    this.id = id
    this.usesTopicIds = request.usesTopicIds
    this.isReplica = request.isReplica
    this.createdMs = nowMs
    this.lastUsedMs = nowMs
    for (const partition of request.partitions) this.#add(keyOf(partition, this.usesTopicIds), partition)
  }

  get partitionCount(): number {
    return this.#partitions.size
  }

  partitions(): FetchPartition[] {
    return [...this.#order]
  }

  update(request: FetchSessionRequest): void {
    for (const partition of request.partitions) {
      const key = keyOf(partition, this.usesTopicIds)
      const known = this.#partitions.get(key)?.value
      if (known === undefined) {
        this.#add(key, partition)
        continue
      }
      known.currentLeaderEpoch = partition.currentLeaderEpoch
      known.fetchOffset = partition.fetchOffset
      known.lastFetchedEpoch = partition.lastFetchedEpoch
      known.logStartOffset = partition.logStartOffset
      known.maxBytes = partition.maxBytes
    }
    for (const partition of request.forgotten) this.#forget(keyOf(partition, this.usesTopicIds))
  }

  /** Behind all others in the next answer. */
  moveToEnd(partition: FetchPartition): void {
    const link = this.#partitions.get(keyOf(partition, this.usesTopicIds))
    if (link !== undefined) this.#order.moveToEnd(link)
  }

  advanceEpoch(): void {
    this.epoch = this.epoch === 0x7fff_ffff ? 1 : this.epoch + 1
  }

  #add(key: string, partition: FetchPartition): void {
    this.#forget(key)
    this.#partitions.set(key, this.#order.add(partition))
  }

  #forget(key: string): void {
    const link = this.#partitions.get(key)
    if (link === undefined) return
    this.#order.remove(link)
    this.#partitions.delete(key)
  }
}

export interface FetchSessionsOptions {
  /** `max.incremental.fetch.session.cache.slots` */
  readonly maxSessions: number
  /** Kafka's min.incremental.fetch.session.eviction.ms, which is not a setting there either. */
  readonly evictionMs: number
  readonly random: Random
}

/**
 * The incremental fetch sessions of one broker (KIP-227). When all slots are taken a newcomer replaces one that has not
 * been used for the eviction time, or one that is lower in rank: consumers before replicas, fewer partitions before more. One that
 * is younger than the eviction time gives way to replicas only: many clients that start together do not push one another out.
 */
export class FetchSessions {
  readonly #options: FetchSessionsOptions
  readonly #sessions = new Map<number, FetchSession>()
  evictionsTotal = 0

  constructor(options: FetchSessionsOptions) {
    this.#options = options
  }

  get count(): number {
    return this.#sessions.size
  }

  contextFor(request: FetchSessionRequest, nowMs: number): FetchContext {
    const { sessionId, sessionEpoch } = request
    if (sessionEpoch === 0 || sessionEpoch === -1) {
      if (sessionId !== 0) this.#sessions.delete(sessionId)
      return { type: 'full', partitions: [...request.partitions], startsSession: sessionEpoch === 0 }
    }
    const session = this.#sessions.get(sessionId)
    if (session === undefined) return { type: 'error', errorCode: ErrorCode.fetchSessionIdNotFound }
    if (session.epoch !== sessionEpoch) return { type: 'error', errorCode: ErrorCode.invalidFetchSessionEpoch }
    if (session.usesTopicIds !== request.usesTopicIds)
      return { type: 'error', errorCode: ErrorCode.fetchSessionTopicIdError }
    session.update(request)
    session.lastUsedMs = nowMs
    if (session.partitionCount === 0) {
      this.#sessions.delete(sessionId)
      return { type: 'full', partitions: [], startsSession: false }
    }
    session.advanceEpoch()
    return { type: 'incremental', session }
  }

  /** Opens a session for a request that was answered in full; 0 when there is no slot for it. */
  open(request: FetchSessionRequest, nowMs: number): number {
    if (this.#options.maxSessions === 0) return 0
    if (this.#sessions.size >= this.#options.maxSessions && !this.#makeRoom(request, nowMs)) return 0
    const session = new FetchSession(this.#newId(), request, nowMs)
    this.#sessions.set(session.id, session)
    return session.id
  }

  #makeRoom(request: FetchSessionRequest, nowMs: number): boolean {
    let oldest: FetchSession | undefined
    let lowest: FetchSession | undefined
    for (const session of this.#sessions.values()) {
      if (oldest === undefined || session.lastUsedMs < oldest.lastUsedMs) oldest = session
      const isProtected =
        nowMs - session.createdMs <= this.#options.evictionMs && (session.isReplica || !request.isReplica)
      if (!isProtected && (lowest === undefined || ranksBelow(session, lowest))) lowest = session
    }
    assert(oldest !== undefined, 'a full cache has a session')
    const isStale = nowMs - oldest.lastUsedMs > this.#options.evictionMs
    const victim = isStale ? oldest : lowest
    if (victim === undefined || !(isStale || isOutrankedBy(victim, request))) return false
    this.#sessions.delete(victim.id)
    this.evictionsTotal++
    return true
  }

  #newId(): number {
    for (;;) {
      const id = 1 + this.#options.random.below(0x7fff_fffe)
      if (!this.#sessions.has(id)) return id
    }
  }
}

function isOutrankedBy(session: FetchSession, newcomer: FetchSessionRequest): boolean {
  if (session.isReplica !== newcomer.isReplica) return newcomer.isReplica
  return session.partitionCount < newcomer.partitions.length
}

function ranksBelow(a: FetchSession, b: FetchSession): boolean {
  if (a.isReplica !== b.isReplica) return b.isReplica
  return a.partitionCount === b.partitionCount ? a.lastUsedMs < b.lastUsedMs : a.partitionCount < b.partitionCount
}
