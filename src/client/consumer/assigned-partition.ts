import { assert } from '../../base/assert.ts'
import type { Uuid } from '../../base/uuid.ts'
import type { Record } from '../../records/record.ts'
import type { OffsetSpec } from '../cluster/list-offsets.ts'
import type { ChunkFault, FetchedChunk } from './fetched-chunk.ts'

/** An offset, and the leader epoch of the record before it: -1 if unknown. */
export interface Position {
  readonly offset: number
  readonly leaderEpoch: number
}

/**
 * What a partition waits for. `unpositioned`: nobody knows yet where to begin. `resetting`: an offset is to be looked up.
 * `validating`: the leader has changed, and may not have what was read. `fetching`: records.
 */
export type PartitionPhase = 'unpositioned' | 'resetting' | 'validating' | 'fetching'

interface Buffered {
  readonly chunk: FetchedChunk
  isReady: boolean
}

/**
 * A partition that a consumer reads: where it is, and what was fetched ahead. Three offsets follow one another:
 * `confirmed` (the application is done with all below), `position` (handed out below) and `fetchOffset` (fetched below).
 * Whatever moves the position by hand makes a new `version`: answers that were asked for before are then of no use.
 */
export class AssignedPartition {
  readonly topic: string
  readonly partition: number
  phase: PartitionPhase = 'unpositioned'
  version = 0
  isPaused = false
  /** It is about to be given up: nothing more of it is handed out. */
  isHeld = false
  /** It was taken away: nothing of it may be committed any more. */
  isLost = false
  /** A request that will change the phase is under way. */
  isBusy = false
  /** Nothing is to be asked before. Monotonic. */
  notBeforeMs = Number.NEGATIVE_INFINITY
  failures = 0
  /** The fetch that is under way; undefined when none is. */
  fetch: { readonly nodeId: number } | undefined
  /** Where to look the offset up while resetting. */
  resetTo: OffsetSpec | undefined
  /** The topic that the position is in, at the latest from the first fetch on: another one may get its name. */
  topicId: Uuid | undefined
  /** The leader epoch for which the position was found good. */
  validatedEpoch = -1
  /** A replica that is closer than the leader, until it is time to ask the leader again. */
  preferredReplica: { readonly nodeId: number; readonly untilMs: number } | undefined
  /** -1 as long as nothing was fetched. */
  highWatermark = -1
  lastStableOffset = -1
  logStartOffset = -1
  /** What is committed for the group, as far as this consumer knows. */
  committedOffset = -1
  /** Which of this consumer's commits has done that, counted as they were asked for; 0 for none. */
  committedBy = 0
  #position: Position | undefined
  #confirmed: Position | undefined
  #fetched: Position | undefined
  #buffer: Buffered[] = []

  constructor(topic: string, partition: number) {
    this.topic = topic
    this.partition = partition
  }

  get name(): string {
    return `${this.topic}-${this.partition}`
  }

  /** The next offset that will be handed out. */
  get position(): Position | undefined {
    return this.#position
  }

  /** What may be committed. */
  get confirmed(): Position | undefined {
    return this.#confirmed
  }

  get fetched(): Position | undefined {
    return this.#fetched
  }

  get bufferedBytes(): number {
    let bytes = 0
    for (const { chunk } of this.#buffer) bytes += chunk.sizeBytes
    return bytes
  }

  /** Whether `take` would give something, or move the position. */
  get hasReady(): boolean {
    return this.phase === 'fetching' && this.#buffer[0]?.isReady === true
  }

  /** `topicId`: the topic that this is a position in, where that is known. */
  seek(position: Position, topicId?: Uuid): void {
    assert(position.offset >= 0, 'a position is an offset')
    this.#moved()
    this.phase = 'fetching'
    this.#position = position
    this.#confirmed = position
    this.#fetched = position
    this.topicId = topicId
    this.validatedEpoch = -1
  }

  /** The offset is to be looked up. */
  reset(to: OffsetSpec): void {
    this.#moved()
    this.phase = 'resetting'
    this.resetTo = to
    this.topicId = undefined
    this.#position = undefined
    this.#confirmed = undefined
    this.#fetched = undefined
  }

  /** Drops what was fetched ahead, and fetches again from the position. */
  dropBuffer(): void {
    assert(this.#position !== undefined, 'only a partition with a position has something fetched ahead')
    this.#moved()
    this.#fetched = this.#position
  }

  #moved(): void {
    this.version++
    this.#buffer = []
    this.fetch = undefined
    this.isBusy = false
    this.preferredReplica = undefined
    this.notBeforeMs = Number.NEGATIVE_INFINITY
    this.failures = 0
  }

  /** A fetch has brought batches. They can be taken once `ready` was called. */
  add(chunk: FetchedChunk): { ready(): void } {
    const buffered: Buffered = { chunk, isReady: false }
    this.#buffer.push(buffered)
    this.#fetched = { offset: chunk.nextOffset, leaderEpoch: chunk.lastLeaderEpoch }
    return {
      ready() {
        buffered.isReady = true
      },
    }
  }

  /** Up to so many records, in order; moves the position behind them, and over what is not for applications. */
  take(maxRecords: number): Record[] | ChunkFault {
    assert(this.#position !== undefined, 'records are taken from a position')
    const records: Record[] = []
    const isConfirmed = this.#confirmed?.offset === this.#position.offset
    while (records.length < maxRecords && this.hasReady) {
      const { chunk } = this.#buffer[0]
      const taken = chunk.take(this.#position.offset, maxRecords - records.length)
      // Records in front of a fault come first; the fault stays.
      if (!Array.isArray(taken)) {
        if (records.length > 0) break
        return taken
      }
      for (const record of taken) records.push(record)
      // A chunk may begin before the position: a batch is fetched whole.
      if (chunk.position > this.#position.offset) {
        this.#position = { offset: chunk.position, leaderEpoch: chunk.leaderEpoch }
      }
      if (chunk.isExhausted) this.#buffer.shift()
    }
    // Transaction markers and the like are nothing that an application could be done with.
    if (records.length === 0 && isConfirmed) this.#confirmed = this.#position
    return records
  }

  /** The application is done with everything below. */
  confirm(position: Position, version: number): void {
    if (version === this.version && !this.isLost) this.#confirmed = position
  }

  /** A commit has succeeded. */
  committed(offset: number, order: number): void {
    assert(order >= this.committedBy, 'commits take effect in the order in which they were asked for')
    this.committedOffset = offset
    this.committedBy = order
  }

  /** Asks again later. */
  failed(nowMs: number, delayMs: (failures: number) => number): void {
    this.failures++
    this.notBeforeMs = nowMs + delayMs(this.failures)
  }
}
