import type { Timer } from '../../io/clock.ts'
import type { Cluster } from '../cluster/cluster.ts'
import type { OffsetToCommit } from '../cluster/group-offsets.ts'
import type { TopicPartition } from '../cluster/leader-requests.ts'
import { within } from '../cluster/waiting.ts'
import { MillraceError, toMillraceError } from '../millrace-error.ts'
import type { AssignedPartition, Position } from './assigned-partition.ts'
import type { Assignment } from './assignment.ts'
import type { OffsetStore } from './offset-store.ts'

/** Commits what the application is done with: when it asks for it, and on its own once in a while. */
export class Commits {
  readonly #cluster: Cluster
  readonly #assignment: Assignment
  readonly #store: OffsetStore
  /** undefined: only when asked. */
  readonly #intervalMs: number | undefined
  #timer: Timer | undefined
  #isStopped = false

  constructor(cluster: Cluster, assignment: Assignment, store: OffsetStore, intervalMs: number | undefined) {
    this.#cluster = cluster
    this.#assignment = assignment
    this.#store = store
    this.#intervalMs = intervalMs
    this.#armTimer()
  }

  stop(): void {
    this.#isStopped = true
    this.#timer?.cancel()
  }

  /** These offsets, of partitions that are ours. */
  async commit(offsets: readonly OffsetToCommit[]): Promise<void> {
    await this.#store.commit(offsets, this.#cluster.config.apiTimeoutMs)
    for (const { topic, partition, offset, leaderEpoch = -1 } of offsets) {
      const assigned = this.#assignment.get(topic, partition)
      if (assigned === undefined) continue
      assigned.committedOffset = offset
      // Whoever commits what was handed out is done with it: no commit of our own accord takes that back.
      const isAhead = offset > (assigned.confirmed?.offset ?? -1) && offset <= (assigned.position?.offset ?? -1)
      if (isAhead) assigned.confirm({ offset, leaderEpoch }, assigned.version)
    }
  }

  /** Everything of these partitions that the application is done with and that is not committed. */
  async commitConfirmed(partitions: Iterable<AssignedPartition>, timeoutMs: number): Promise<void> {
    const dirty = [...partitions].filter(({ confirmed, committedOffset, isLost }) => {
      return !isLost && confirmed !== undefined && confirmed.offset !== committedOffset
    })
    const positions = dirty.map(({ confirmed }) => confirmed as Position)
    const offsets = dirty.map(({ topic, partition }, i) => ({ topic, partition, ...positions[i] }))
    await this.#store.commit(offsets, timeoutMs)
    for (const [i, assigned] of dirty.entries()) assigned.committedOffset = positions[i].offset
  }

  /**
   * The last commit before partitions are given up, unless commits are made only when asked. A failure is logged: records
   * are then read again by whoever gets the partition.
   */
  async commitBeforeGivingUp(partitions: Iterable<AssignedPartition>, timeoutMs: number): Promise<void> {
    if (this.#intervalMs === undefined) return
    const late = () => new MillraceError('TIMED_OUT', `not done within ${Math.ceil(timeoutMs)} ms`)
    try {
      await within(this.#cluster.io.clock, timeoutMs, this.commitConfirmed(partitions, timeoutMs), late)
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
      try {
        await this.commitConfirmed(this.#assignment, this.#cluster.config.apiTimeoutMs)
      } catch (error) {
        if (!this.#isStopped) this.#warn(error)
      }
      this.#armTimer()
    })
  }

  #warn(error: unknown): void {
    this.#cluster.io.log.write('warn', `offsets were not committed: ${toMillraceError(error).message}`)
  }
}
