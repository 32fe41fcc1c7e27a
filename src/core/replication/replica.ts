import { assert } from '../../base/assert.ts'
import type { Now } from '../../base/time.ts'
import type { ReplicationConfig } from './config.ts'
import type { ReplicationEffect } from './events.ts'
import { Leader, type LeaderState } from './leader.ts'
import type { Follower, Role } from './roles.ts'
import type { BrokersView, PartitionMetadata, ReplicaLogView } from './views.ts'

const idle: Role = { type: 'idle' }

/** A change of the log that takes time: until it is done the log is neither extended nor fetched for. */
export interface LogChange {
  readonly type: 'truncate' | 'truncateFully' | 'moveLogStart' | 'assignEpochs'
  /** What the log was when the change began: a cut that changes nothing is not repeated at once. */
  readonly endOffset: number
  readonly latestEpoch: number
}

/**
 * The state of one replica, and the only place where its role and its high watermark change. The files around it decide;
 * they get here through `becomeX`, each of which asserts that the move is legal.
 */
export class Replica implements LeaderState {
  readonly config: ReplicationConfig
  readonly log: ReplicaLogView
  readonly brokers: BrokersView
  readonly lagTimeMaxMs: number
  /** Of the last turn, or of this one. */
  nowMs = Number.NEGATIVE_INFINITY
  minInsyncReplicas: number
  /** The newest that the metadata has said; the role may lag behind it while the log is busy. */
  metadata: PartitionMetadata | undefined
  logChange: LogChange | undefined
  /** A leader: where its own log ends, or the synced part of it with flush=ack. */
  ownEnd = 0
  readonly effects: ReplicationEffect[] = []
  isClosed = false

  #role: Role = idle
  #highWatermark: number
  #requests = 0

  constructor(parts: {
    config: ReplicationConfig
    log: ReplicaLogView
    brokers: BrokersView
    minInsyncReplicas: number
  }) {
    this.config = parts.config
    this.log = parts.log
    this.brokers = parts.brokers
    this.lagTimeMaxMs = parts.config.replicaLagTimeMaxMs
    this.minInsyncReplicas = parts.minInsyncReplicas
    this.#highWatermark = parts.log.highWatermark
  }

  get role(): Role {
    return this.#role
  }
  get highWatermark(): number {
    return this.#highWatermark
  }
  get logEndOffset(): number {
    return this.log.logEndOffset
  }
  /** How far this broker itself holds what it leads, in the sense of its flush mode. */
  get ownEndInLog(): number {
    return this.config.flushBeforeAck ? this.log.flushedOffset : this.log.logEndOffset
  }
  /** Whether the end of the log is certain: nothing is on its way into it or out of it. */
  get isLogSettled(): boolean {
    return this.logChange === undefined && this.log.nextOffset === this.log.logEndOffset
  }

  /** The log must be settled unless this broker led until now: then what is in flight is its own, and stays. */
  becomeLeader(partition: PartitionMetadata): void {
    const from = this.#role
    assert(partition.leader === this.config.nodeId, 'a broker leads what it was elected for')
    assert(from.type === 'idle' || partition.leaderEpoch > from.leaderEpoch, 'leader epochs grow')
    assert(from.type === 'leader' || this.isLogSettled, 'a new leader knows where its log ends')
    const { minInsyncReplicas, nowMs } = this
    const { nodeId } = this.config
    const epochStartOffset = this.log.nextOffset
    this.#move(new Leader({ nodeId, partition, minInsyncReplicas, epochStartOffset, nowMs }))
    this.ownEnd = this.ownEndInLog
    this.effects.push({ type: 'becameLeader', leaderEpoch: partition.leaderEpoch })
    if (this.ownEnd < this.log.logEndOffset) this.effects.push({ type: 'flush' })
  }

  becomeFollower({ leader, leaderEpoch, replicas }: PartitionMetadata): void {
    const from = this.#role
    assert(leader >= 0 && leader !== this.config.nodeId, 'nobody follows itself')
    assert(replicas.includes(this.config.nodeId), 'who follows holds a replica')
    assert(from.type === 'idle' || leaderEpoch > from.leaderEpoch, 'leader epochs grow')
    const follower: Follower = {
      type: 'follower',
      leader,
      leaderEpoch,
      request: undefined,
      retryMs: Number.NEGATIVE_INFINITY,
      isFenced: false,
      outOfRange: undefined,
      heldRecords: undefined,
      epochSearch: undefined,
      appendEndOffset: undefined,
      flushEndOffset: -1,
      leaderHighWatermark: -1,
      leaderLogStartOffset: -1,
    }
    this.#move(follower)
  }

  becomeIdle(): void {
    assert(this.#role.type !== 'idle', 'who is idle stays so')
    this.#move(idle)
  }

  #move(role: Role): void {
    const from = this.#role
    this.#role = role
    if (from.type === 'leader') this.effects.push({ type: 'lostLeadership', leaderEpoch: from.leaderEpoch })
  }

  /** A leader's sum, or what a follower hears from its leader. */
  raiseHighWatermark(offset: number): void {
    if (offset === this.#highWatermark) return
    this.moveHighWatermark(offset)
    this.effects.push({ type: 'highWatermark', offset })
  }

  /** As `raiseHighWatermark`, for a caller that tells the shell itself. */
  moveHighWatermark(offset: number): void {
    assert(offset >= this.#highWatermark, 'the high watermark never falls')
    assert(offset <= this.log.logEndOffset, 'the high watermark is within the log')
    this.#highWatermark = offset
  }

  /** The log is cut there, or begins anew there. A leader's never is. */
  resetHighWatermark(offset: number): void {
    assert(this.#role.type !== 'leader', 'only followers cut their log')
    this.#highWatermark = offset
  }

  nextRequestId(): number {
    return ++this.#requests
  }

  takeEffects(): ReplicationEffect[] {
    return this.effects.splice(0)
  }

  close(): void {
    if (this.#role.type !== 'idle') this.becomeIdle()
    this.isClosed = true
  }

  /** Nothing goes on: what held so far cannot be relied on. */
  halt(reason: string): void {
    this.isClosed = true
    this.effects.length = 0
    this.effects.push({ type: 'halt', reason })
  }

  setTime({ monotonicMs }: Now): void {
    assert(monotonicMs >= this.nowMs, 'monotonic time does not go back')
    this.nowMs = monotonicMs
  }
}
