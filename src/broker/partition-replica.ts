import { AssertionFailure, unreachable } from '../base/assert.ts'
import type { PartitionLog } from '../core/log/partition-log.ts'
import type { IsrUpdateOutcome, ReplicationEffect, ReplicationEvent } from '../core/replication/events.ts'
import { Replication } from '../core/replication/replication.ts'
import type { BrokersView, PartitionMetadata } from '../core/replication/views.ts'
import type { Clock } from '../io/clock.ts'
import { expectDiskError, type FileRange } from '../io/disk.ts'

/** What concerns other brokers or the controller: requests to them, answers to them, and what an operator must know. */
export type PeerEffect = ReplicationEffect & {
  readonly type: 'alterPartition' | 'fetch' | 'listOffset' | 'offsetForLeaderEpoch' | 'answerFetch' | 'committedLost'
}

/**
 * Carries a replica's requests to other brokers and to the controller, and wakes it when its time has come. Answers come back
 * through `PartitionReplica.handle`, in a later turn.
 */
export interface ReplicaPeers {
  carryOut(replica: PartitionReplica, effect: PeerEffect): void
  /** Monotonic time at which to handle a `tick`, instead of the one said before; undefined: none. */
  wakeAt(replica: PartitionReplica, deadlineMs: number | undefined): void
}

export interface ReplicaHost {
  readonly clock: Clock
  readonly nodeId: number
  /** `millrace.flush=ack`: only what is synced counts. */
  readonly flushBeforeAck: boolean
  readonly replicaLagTimeMaxMs: number
  readonly replicaFetchBackoffMs: number
  readonly brokers: BrokersView
  /** A broker that is alone in its cluster has none: it has no followers, and follows nobody. */
  readonly peers?: ReplicaPeers
  /** For metrics: what became of a change of the in-sync replicas. */
  isrUpdated(outcome: IsrUpdateOutcome): void
}

/** Told of what replication decides for the partition. */
export interface ReplicaOwner {
  highWatermarkMoved(): void
  leadershipBegan(): void
  leadershipEnded(): void
}

/** How long a leader waits before it asks the controller again. */
const alterBackoffMs = 50

const logMoved: ReplicationEvent = { type: 'logMoved' }
const appendFailed: ReplicationEvent = { type: 'appendFailed' }

/** Replication of one partition on this broker: what it decides is carried out on the log, or by the peers. */
export class PartitionReplica {
  readonly log: PartitionLog<FileRange>
  readonly #host: ReplicaHost
  readonly #owner: ReplicaOwner
  readonly #replication: Replication
  /** Events that came of carrying out effects: they wait until all of these are carried out. */
  readonly #events: ReplicationEvent[] = []
  #isHandling = false
  #minInsyncReplicas: number

  constructor(log: PartitionLog<FileRange>, owner: ReplicaOwner, host: ReplicaHost, minInsyncReplicas: number) {
    const { nodeId, replicaLagTimeMaxMs, replicaFetchBackoffMs, flushBeforeAck, brokers } = host
    this.log = log
    this.#owner = owner
    this.#host = host
    this.#minInsyncReplicas = minInsyncReplicas
    this.#replication = new Replication({
      config: {
        nodeId,
        replicaLagTimeMaxMs,
        fetchBackoffMs: replicaFetchBackoffMs,
        alterBackoffMs,
        flushBeforeAck,
        // Whether all replicas keep the promise of flush=ack, and no operator chose otherwise, is not known here.
        onCommittedLoss: 'report',
      },
      log,
      brokers,
      minInsyncReplicas,
    })
  }

  get isLeader(): boolean {
    return this.#replication.isLeader
  }

  /** Whether a write with acks=all may be taken now. */
  get hasEnoughReplicas(): boolean {
    return this.#replication.hasEnoughReplicas
  }

  update(partition: PartitionMetadata, minInsyncReplicas: number): void {
    if (minInsyncReplicas !== this.#minInsyncReplicas) {
      this.#minInsyncReplicas = minInsyncReplicas
      this.handle({ type: 'configured', minInsyncReplicas })
    }
    this.handle({ type: 'metadata', partition })
  }

  /** Writes have completed or, with flush=ack, a sync has: what this replica itself holds ends at `end`. */
  ownEndMoved(end: number): void {
    if (!this.#replication.isLeader) {
      this.handle(logMoved)
      return
    }
    const highWatermark = this.#replication.localEndMoved(end)
    if (highWatermark > this.log.highWatermark) this.#moveHighWatermark(highWatermark)
  }

  appendsFailed(): void {
    this.handle(appendFailed)
  }

  handle(event: ReplicationEvent): void {
    this.#events.push(event)
    if (this.#isHandling) return
    this.#isHandling = true
    for (let next = this.#events.shift(); next !== undefined; next = this.#events.shift()) {
      for (const effect of this.#replication.handle(next, this.#host.clock.now())) this.#carryOut(effect)
    }
    this.#isHandling = false
    this.#host.peers?.wakeAt(this, this.#replication.nextDeadlineMs())
  }

  #carryOut(effect: ReplicationEffect): void {
    const { log } = this
    switch (effect.type) {
      case 'becameLeader':
        log.assignLeaderEpoch(effect.leaderEpoch)
        this.#owner.leadershipBegan()
        break
      case 'lostLeadership':
        this.#owner.leadershipEnded()
        break
      case 'highWatermark':
        this.#moveHighWatermark(effect.offset)
        break
      case 'flush':
        log.requestFlush()
        break
      case 'append':
        if (log.appendAsFollower(effect.records.bytes, this.#host.clock.now()) !== undefined) this.appendsFailed()
        break
      case 'truncate':
        this.#change(log.truncate({ endOffset: effect.endOffset }))
        break
      case 'truncateFully':
        this.#change(log.truncateFullyAndStartAt(effect.startOffset))
        break
      case 'moveLogStart':
        this.#change(log.moveLogStart(effect.offset))
        break
      case 'assignEpochs':
        this.#change(log.assignEpochs(effect.epochs))
        break
      case 'alterPartition':
      case 'fetch':
      case 'listOffset':
      case 'offsetForLeaderEpoch':
      case 'answerFetch':
      case 'committedLost':
        this.#host.peers?.carryOut(this, effect)
        break
      case 'isrUpdate':
        this.#host.isrUpdated(effect.outcome)
        break
      case 'halt':
        throw new AssertionFailure(effect.reason)
      default:
        unreachable(effect)
    }
  }

  #moveHighWatermark(offset: number): void {
    this.log.moveHighWatermark(offset)
    this.#owner.highWatermarkMoved()
  }

  /** A change that fails takes the directory offline, and the replica is done. */
  #change(change: Promise<void>): void {
    const done = () => this.handle({ type: this.log.isOffline ? 'closed' : 'logChanged' })
    void change.then(done, error => {
      expectDiskError(error)
      done()
    })
  }
}
