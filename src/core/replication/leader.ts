import { assert } from '../../base/assert.ts'
import { FollowerProgress } from './follower-progress.ts'
import { Isr } from './isr.ts'
import type { BrokersView, PartitionMetadata } from './views.ts'

/** What a leadership begins with. */
export interface LeadershipStart {
  readonly nodeId: number
  readonly partition: PartitionMetadata
  readonly minInsyncReplicas: number
  /** Where its log ended when it was elected. */
  readonly epochStartOffset: number
  readonly nowMs: number
}

/** What a leader of one epoch knows: its followers, and who of them is in sync. */
export class Leader {
  readonly type = 'leader'
  readonly nodeId: number
  readonly leaderEpoch: number
  readonly isr: Isr
  /** A change of the in-sync replicas was refused: until then none is asked for. Monotonic ms. */
  nextProposalMs = Number.NEGATIVE_INFINITY
  #epochStartOffset: number
  #followers: readonly FollowerProgress[] = []
  #minInsyncReplicas: number
  /** Whether the confirmed in-sync replicas are as many as a write with acks=all needs, and all known. */
  #hasEnoughReplicas = false

  constructor({ nodeId, partition, minInsyncReplicas, epochStartOffset, nowMs }: LeadershipStart) {
    this.nodeId = nodeId
    this.leaderEpoch = partition.leaderEpoch
    this.#epochStartOffset = epochStartOffset
    this.isr = new Isr(partition)
    this.#minInsyncReplicas = minInsyncReplicas
    this.assign(partition.replicas, nowMs)
  }

  /** Who reaches it has all that was committed before: every leader's log holds that. */
  get epochStartOffset(): number {
    return this.#epochStartOffset
  }
  get followers(): readonly FollowerProgress[] {
    return this.#followers
  }
  get hasEnoughReplicas(): boolean {
    return this.#hasEnoughReplicas
  }
  set minInsyncReplicas(count: number) {
    this.#minInsyncReplicas = count
    this.isrChanged()
  }

  follower(replicaId: number): FollowerProgress | undefined {
    return this.#followers.find(follower => follower.replicaId === replicaId)
  }

  /** What was in flight when it was elected is not in the log, which goes on at `nextOffset`. */
  appendFailed(nextOffset: number): void {
    this.#epochStartOffset = Math.min(this.#epochStartOffset, nextOffset)
  }

  /** These are the replicas. Who is in sync gets the whole lag time to be heard of. */
  assign(replicas: readonly number[], nowMs: number): void {
    assert(replicas.includes(this.nodeId), 'a leader is one of the replicas')
    this.#followers = replicas
      .filter(id => id !== this.nodeId)
      .map(id => this.follower(id) ?? new FollowerProgress(id, this.#caughtUpMs(id, nowMs)))
    this.isrChanged()
  }

  #caughtUpMs(replicaId: number, nowMs: number): number {
    return this.isr.committed.includes(replicaId) ? nowMs : Number.NEGATIVE_INFINITY
  }

  /** To be called after every change of `isr`. */
  isrChanged(): void {
    const { committed } = this.isr
    const needed = Math.min(this.#minInsyncReplicas, this.#followers.length + 1)
    // One who is in sync and not assigned, as far as this leader knows, cannot be waited for: nothing is committed then.
    const areKnown = committed.every(id => id === this.nodeId || this.follower(id) !== undefined)
    this.#hasEnoughReplicas = areKnown && committed.length >= needed
    for (const follower of this.#followers) follower.isInMaximalIsr = this.isr.maximalHas(follower.replicaId)
  }

  /**
   * Where what is committed ends: below it every record is on all in-sync replicas. It waits for the confirmed and for the
   * proposed ones, and for those that have caught up and may join: else a follower whose leader is written to all the
   * time could not reach the high watermark, which it must to join. It stands still while the in-sync replicas are too few.
   *
   * Runs for every completed write: no allocation.
   */
  committedEnd(at: LeaderState): number {
    if (!this.#hasEnoughReplicas) return at.highWatermark
    let end = at.ownEnd
    for (const follower of this.#followers) {
      if (follower.endOffset < end && (follower.isInMaximalIsr || this.#awaits(follower, at))) end = follower.endOffset
    }
    return Math.max(end, at.highWatermark)
  }

  #awaits(follower: FollowerProgress, { logEndOffset, nowMs, lagTimeMaxMs, brokers }: LeaderState): boolean {
    return follower.isCaughtUp(logEndOffset, nowMs, lagTimeMaxMs) && isEligible(follower, brokers)
  }
}

/** What of the replica the leader's sums need. */
export interface LeaderState {
  readonly highWatermark: number
  /** Where the own log ends, or its synced part with flush=ack. */
  readonly ownEnd: number
  readonly logEndOffset: number
  readonly nowMs: number
  readonly lagTimeMaxMs: number
  readonly brokers: BrokersView
}

/** May join the in-sync replicas: the broker that fetched is registered in that very life, and in service. */
export function isEligible({ replicaId, brokerEpoch }: FollowerProgress, brokers: BrokersView): boolean {
  const broker = brokers.broker(replicaId)
  return broker !== undefined && broker.epoch === brokerEpoch && !broker.fenced && !broker.inControlledShutdown
}
