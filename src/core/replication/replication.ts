import { assert, unreachable } from '../../base/assert.ts'
import type { Now } from '../../base/time.ts'
import type { ReplicationConfig } from './config.ts'
import type { ReplicationEffect, ReplicationEvent } from './events.ts'
import { followerDeadlineMs, pollFollower } from './follower.ts'
import {
  handleAppendFailed,
  handleEpochEndListed,
  handleFetched,
  handleLogChanged,
  handleOffsetListed,
  handleRequestFailed,
} from './follower-answers.ts'
import { handleFetch } from './follower-fetches.ts'
import { inspect } from './inspect.ts'
import { handleAlterPartitionAnswer, handleAlterPartitionFailed, leaderDeadlineMs, pollLeader } from './isr-changes.ts'
import { adoptMetadata, settleRole } from './metadata.ts'
import { Replica } from './replica.ts'
import type { Role } from './roles.ts'
import type { BrokersView, ReplicaLogView } from './views.ts'

export interface ReplicationOptions {
  readonly config: ReplicationConfig
  readonly log: ReplicaLogView
  readonly brokers: BrokersView
  /** `min.insync.replicas` of the topic. */
  readonly minInsyncReplicas: number
}

/**
 * The replication of one partition on one broker: as its leader the in-sync replicas and the high watermark, as a follower
 * the way to a log that equals the leader's. Pure and synchronous: `handle(event, now)` returns what to do,
 * `ReplicationEffect` says in which order and what it may rely on. It begins idle; the first `metadata` gives it a role.
 *
 * An assertion that fails in here is a broken invariant: the shell stops the node as for `halt`.
 */
export class Replication {
  readonly #replica: Replica

  constructor({ config, log, brokers, minInsyncReplicas }: ReplicationOptions) {
    this.#replica = new Replica({ config, log, brokers, minInsyncReplicas })
  }

  handle(event: ReplicationEvent, now: Now): ReplicationEffect[] {
    const replica = this.#replica
    if (replica.isClosed) return []
    replica.setTime(now)
    this.#dispatch(event)
    this.#finishTurn()
    return replica.takeEffects()
  }

  /**
   * A leader's own log has grown to `end`, or, with flush=ack, is synced up to it. Returns the high watermark after that;
   * telling the log of it is the caller's. The hot path: nothing is allocated.
   */
  localEndMoved(end: number): number {
    const replica = this.#replica
    const { role } = replica
    assert(role.type === 'leader', 'only the end of a leader is a matter of the high watermark')
    assert(end >= replica.ownEnd, 'the log of a leader is not cut')
    replica.ownEnd = end
    const committedEnd = role.committedEnd(replica)
    if (committedEnd > replica.highWatermark) replica.moveHighWatermark(committedEnd)
    return replica.highWatermark
  }

  /** When to call `handle({ type: 'tick' })` next (monotonic ms); undefined when only other events matter. */
  nextDeadlineMs(): number | undefined {
    const { role } = this.#replica
    if (this.#replica.isClosed || role.type === 'idle') return undefined
    return role.type === 'leader' ? leaderDeadlineMs(this.#replica, role) : followerDeadlineMs(this.#replica, role)
  }

  get role(): Role['type'] {
    return this.#replica.role.type
  }
  get isLeader(): boolean {
    return this.#replica.role.type === 'leader'
  }
  /** The newest that the metadata told of; -1 before. */
  get leaderEpoch(): number {
    return this.#replica.metadata?.leaderEpoch ?? -1
  }
  get highWatermark(): number {
    return this.#replica.highWatermark
  }
  /** The in-sync replicas that the controller has confirmed, as far as this broker knows. */
  get isr(): readonly number[] {
    const { role, metadata } = this.#replica
    return role.type === 'leader' ? role.isr.committed : (metadata?.isr ?? [])
  }
  /** Of the state that this broker knows; -1 before. */
  get partitionEpoch(): number {
    const { role, metadata } = this.#replica
    return role.type === 'leader' ? role.isr.partitionEpoch : (metadata?.partitionEpoch ?? -1)
  }
  /** Whether a write with acks=all may be taken: this broker leads, and enough replicas are in sync. */
  get hasEnoughReplicas(): boolean {
    const { role } = this.#replica
    return role.type === 'leader' && role.hasEnoughReplicas
  }
  /**
   * Whether the high watermark is that of the partition. A leader that was just elected may know less than the one before had
   * committed, until all in-sync replicas have reached the beginning of its epoch: the latest offset is not available.
   */
  get isHighWatermarkCurrent(): boolean {
    const { role, highWatermark } = this.#replica
    return role.type === 'leader' && highWatermark >= role.epochStartOffset
  }

  inspect(): string {
    return inspect(this.#replica)
  }

  #dispatch(event: ReplicationEvent): void {
    const replica = this.#replica
    switch (event.type) {
      case 'tick':
      case 'brokersChanged':
      case 'logMoved':
        break
      case 'metadata':
        adoptMetadata(replica, event.partition)
        break
      case 'configured':
        replica.minInsyncReplicas = event.minInsyncReplicas
        if (replica.role.type === 'leader') replica.role.minInsyncReplicas = event.minInsyncReplicas
        break
      case 'closed':
        replica.close()
        break
      case 'logChanged':
        handleLogChanged(replica)
        break
      case 'appendFailed':
        if (replica.role.type === 'leader') replica.role.appendFailed(replica.log.nextOffset)
        else handleAppendFailed(replica)
        break
      case 'fetch':
        handleFetch(replica, event)
        break
      case 'partitionAltered':
        handleAlterPartitionAnswer(replica, event.attemptId, event.answer)
        break
      case 'alterPartitionFailed':
        handleAlterPartitionFailed(replica, event.attemptId)
        break
      case 'fetched':
        handleFetched(replica, event.correlationId, event.answer)
        break
      case 'offsetListed':
        handleOffsetListed(replica, event.correlationId, event.answer)
        break
      case 'epochEndListed':
        handleEpochEndListed(replica, event.correlationId, event.answer)
        break
      case 'requestFailed':
        handleRequestFailed(replica, event.correlationId)
        break
      default:
        unreachable(event)
    }
  }

  /** Everything that is due follows from the state: the same code runs after every event. */
  #finishTurn(): void {
    const replica = this.#replica
    if (replica.isClosed) return
    settleRole(replica)
    const { role } = replica
    switch (role.type) {
      case 'idle':
        break
      case 'leader':
        replica.ownEnd = replica.ownEndInLog
        pollLeader(replica, role)
        replica.raiseHighWatermark(role.committedEnd(replica))
        break
      case 'follower':
        pollFollower(replica, role)
        break
      default:
        unreachable(role)
    }
  }
}
