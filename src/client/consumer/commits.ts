import type { Timer } from '../../io/clock.ts'
import type { Cluster } from '../cluster/cluster.ts'
import type { OffsetToCommit } from '../cluster/group-offsets.ts'
import type { TopicPartition } from '../cluster/leader-requests.ts'
import { within } from '../cluster/waiting.ts'
import { MillraceError, toMillraceError } from '../millrace-error.ts'
import type { AssignedPartition, Position } from './assigned-partition.ts'
import type { Assignment } from './assignment.ts'
import { notOursYet, type OffsetStore, type PendingOffset, pendingOffset } from './offset-store.ts'

export interface CommitsOptions {
  readonly cluster: Cluster
  readonly assignment: Assignment
  readonly store: OffsetStore
  /** undefined: only when asked. */
  readonly intervalMs: number | undefined
  readonly isRebalancing: () => boolean
}

/** Commits what the application is done with: when it asks for it, and on its own once in a while. */
export class Commits {
  readonly #cluster: Cluster
  readonly #assignment: Assignment
  readonly #store: OffsetStore
  /** undefined: only when asked. */
  readonly #intervalMs: number | undefined
  /** The group is sharing out its partitions anew. */
  readonly #isRebalancing: () => boolean
  #timer: Timer | undefined
  #isStopped = false
  /** Commits of our own accord have failed since then. */
  #failingSinceMs: number | undefined

  constructor({ cluster, assignment, store, intervalMs, isRebalancing }: CommitsOptions) {
    this.#cluster = cluster
    this.#assignment = assignment
    this.#store = store
    this.#intervalMs = intervalMs
    this.#isRebalancing = isRebalancing
    this.#armTimer()
  }

  stop(): void {
    this.#isStopped = true
    this.#timer?.cancel()
  }

  /**
   * These offsets. Rejects with `NOT_ASSIGNED` for partitions that are not ours, and with `REBALANCE_IN_PROGRESS` where that is not
   * settled at present.
   */
  async commit(offsets: readonly OffsetToCommit[]): Promise<void> {
    const pending = offsets.map(offset => pendingOffset(this.#require(offset), offset))
    for (const { assigned, offset } of pending) noteDone(assigned, offset)
    await this.#store.commit(pending, this.#cluster.config.apiTimeoutMs)
  }

  #require(at: TopicPartition): AssignedPartition {
    const assigned = this.#assignment.get(at.topic, at.partition)
    if (assigned === undefined && this.#isRebalancing()) throw notOursYet(at)
    return this.#assignment.require(at)
  }

  /** Everything that the application is done with and that is not committed. */
  async commitConfirmed(): Promise<void> {
    await this.#store.commit(unsaved(this.#assignment), this.#cluster.config.apiTimeoutMs)
  }

  /** What was asked for until now is made, or has failed: while partitions are still ours. Ends in time, also when it is not. */
  async whenCommitted(timeoutMs: number): Promise<void> {
    const late = () => new MillraceError('TIMED_OUT', 'commits that were asked for are not made yet')
    await within(this.#cluster.io.clock, timeoutMs, this.#store.whenCommitted(), late).catch(() => undefined)
  }

  /**
   * The last commit before partitions are given up, unless commits are made only when asked; what was asked for is waited for in
   * either case. A failure is logged: records are then read again by whoever gets the partition.
   */
  async commitBeforeGivingUp(partitions: Iterable<AssignedPartition>, timeoutMs: number): Promise<void> {
    if (this.#intervalMs === undefined) return await this.whenCommitted(timeoutMs)
    const late = () => new MillraceError('TIMED_OUT', `not done within ${Math.ceil(timeoutMs)} ms`)
    try {
      const committing = [this.#store.commitOwned(unsaved(partitions), timeoutMs), this.#store.whenCommitted()]
      await within(this.#cluster.io.clock, timeoutMs, Promise.all(committing), late)
    } catch (error) {
      this.#warn(error)
    }
  }

  async committed(partitions: readonly TopicPartition[]): Promise<readonly (Position | undefined)[]> {
    return this.#cluster.retry('reading committed offsets', this.#cluster.config.apiTimeoutMs, leftMs =>
      this.#store.committed(partitions, leftMs),
    )
  }

  #armTimer(): void {
    if (this.#intervalMs === undefined || this.#isStopped) return
    this.#timer = this.#cluster.io.clock.after(this.#intervalMs, async () => {
      await this.#commitOnce()
      this.#armTimer()
    })
  }

  /** Not tried again: by then there may be more to commit, and the next one comes anyway. */
  async #commitOnce(): Promise<void> {
    const { requestTimeoutMs, apiTimeoutMs } = this.#cluster.config
    const { nowMs } = this.#cluster
    try {
      await this.#store.tryCommitOwned(unsaved(this.#assignment), requestTimeoutMs)
      this.#failingSinceMs = undefined
    } catch (thrown) {
      if (this.#isStopped) return
      this.#failingSinceMs ??= nowMs
      if (toMillraceError(thrown).retriable && nowMs - this.#failingSinceMs < apiTimeoutMs) return
      this.#failingSinceMs = undefined
      this.#warn(thrown)
    }
  }

  #warn(error: unknown): void {
    this.#cluster.io.log.write('warn', `offsets were not committed: ${toMillraceError(error).message}`)
  }
}

/** Whoever commits what was handed out is done with it: no commit of our own accord takes that back. */
function noteDone(assigned: AssignedPartition, { offset, leaderEpoch = -1 }: OffsetToCommit): void {
  const isAhead = offset > (assigned.confirmed?.offset ?? -1) && offset <= (assigned.position?.offset ?? -1)
  if (isAhead) assigned.confirm({ offset, leaderEpoch }, assigned.version)
}

/** What the application is done with and that is not committed. */
function unsaved(partitions: Iterable<AssignedPartition>): PendingOffset[] {
  return [...partitions].flatMap(assigned => {
    const { topic, partition, confirmed, committedOffset, isLost } = assigned
    if (isLost || confirmed === undefined || confirmed.offset === committedOffset) return []
    return [pendingOffset(assigned, { topic, partition, ...confirmed })]
  })
}
