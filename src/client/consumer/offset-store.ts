import { ErrorCode, needsMetadata } from '../../base/error-code.ts'
import type { Cluster } from '../cluster/cluster.ts'
import type { Coordinators } from '../cluster/coordinators.ts'
import { type Committer, commitOffsets, fetchOffsets, type OffsetToCommit } from '../cluster/group-offsets.ts'
import type { TopicPartition } from '../cluster/leader-requests.ts'
import type { Closing } from '../cluster/waiting.ts'
import { MillraceError, toMillraceError } from '../millrace-error.ts'
import type { Position } from './assigned-partition.ts'

export interface OffsetStoreOptions {
  readonly cluster: Cluster
  readonly coordinators: Coordinators
  readonly closing: Closing
  readonly groupId: string
  readonly lane: string
  /** In whose name to commit: it changes with each generation of the group. */
  readonly committer: () => Committer
  readonly isOurs: (partition: TopicPartition) => boolean
  /** A commit was refused with this code. */
  readonly refused: (errorCode: ErrorCode) => void
}

/** The committed offsets of a consumer's group, as the group's coordinator has them. */
export class OffsetStore {
  readonly #options: OffsetStoreOptions

  constructor(options: OffsetStoreOptions) {
    this.#options = options
  }

  /** Tried until it succeeds or time is over. Rejects with the first failure. */
  async commit(offsets: readonly OffsetToCommit[], timeoutMs: number): Promise<void> {
    if (offsets.length === 0) return
    const { cluster, groupId, committer, closing } = this.#options
    let left = offsets
    await cluster.retry(
      `committing offsets for group ${groupId}`,
      timeoutMs,
      async leftMs => {
        const lost = left.find(one => !this.#options.isOurs(one))
        if (lost !== undefined) throw notOurs(lost)
        const outcomes = await this.#withCoordinator(leftMs, where => commitOffsets(cluster, committer(), left, where))
        const failed = left.filter((_, i) => outcomes[i] !== undefined)
        const errors = outcomes.filter(error => error !== undefined)
        left = failed
        const worst = errors.find(({ retriable }) => !retriable) ?? errors[0]
        if (worst !== undefined) this.#throw(worst)
      },
      closing,
    )
  }

  /** Tried once. Rejects when any of them cannot be known now. undefined: none is committed. */
  async committed(partitions: readonly TopicPartition[], timeoutMs: number): Promise<(Position | undefined)[]> {
    const { cluster, groupId } = this.#options
    const found = await this.#withCoordinator(timeoutMs, where =>
      fetchOffsets(cluster, groupId, partitions, { ...where, requireStable: true }),
    )
    return partitions.map(({ topic, partition }) => {
      const one = found.find(offset => offset.topic === topic && offset.partition === partition)
      if (one?.error !== undefined) this.#throw(one.error)
      if (one === undefined || one.offset < 0) return undefined
      return { offset: one.offset, leaderEpoch: one.leaderEpoch }
    })
  }

  async #withCoordinator<T>(
    timeoutMs: number,
    ask: (where: { nodeId: number; lane: string; timeoutMs: number }) => Promise<T>,
  ): Promise<T> {
    const { cluster, coordinators, groupId, lane } = this.#options
    try {
      const nodeId = await coordinators.find(groupId, timeoutMs)
      return await ask({ nodeId, lane, timeoutMs: Math.min(timeoutMs, cluster.config.requestTimeoutMs) })
    } catch (thrown) {
      const error = toMillraceError(thrown)
      coordinators.note(groupId, error)
      throw error
    }
  }

  #throw(error: MillraceError): never {
    const { cluster, coordinators, groupId, refused } = this.#options
    const { errorCode } = error
    coordinators.note(groupId, error)
    if (errorCode !== undefined) refused(errorCode)
    if (errorCode !== undefined && needsMetadata(errorCode)) cluster.requestRefresh()
    // The group is sharing out anew. What this member keeps can be committed afterwards.
    if (errorCode !== ErrorCode.rebalanceInProgress) throw error
    throw new MillraceError(error.code, error.message, { cause: error, errorCode, retriable: true })
  }
}

export function notOurs({ topic, partition }: TopicPartition): MillraceError {
  return new MillraceError('NOT_ASSIGNED', `${topic}-${partition} is not assigned to this consumer (any more)`)
}
