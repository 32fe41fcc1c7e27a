import { ErrorCode, errorName, needsMetadata } from '../../base/error-code.ts'
import { type Uuid, zeroUuid } from '../../base/uuid.ts'
import type { Cluster } from '../cluster/cluster.ts'
import type { Coordinators } from '../cluster/coordinators.ts'
import { type Committer, commitOffsets, fetchOffsets, type OffsetToCommit } from '../cluster/group-offsets.ts'
import type { TopicPartition } from '../cluster/leader-requests.ts'
import type { Closing } from '../cluster/waiting.ts'
import { MillraceError, toMillraceError } from '../millrace-error.ts'
import type { AssignedPartition, Position } from './assigned-partition.ts'

export interface OffsetStoreOptions {
  readonly cluster: Cluster
  readonly coordinators: Coordinators
  readonly closing: Closing
  readonly groupId: string
  readonly lane: string
  /** In whose name to commit: it changes with each generation of the group. */
  readonly committer: () => Committer
  /** A commit was refused with this code. */
  readonly refused: (errorCode: ErrorCode) => void
}

/** Of a partition as it is assigned at present: should it be lost and come back, somebody else has committed meanwhile. */
export interface PendingOffset {
  readonly assigned: AssignedPartition
  readonly offset: OffsetToCommit
  /** Of the topic that it is an offset in; undefined if unknown. */
  readonly topicId: Uuid | undefined
}

export function pendingOffset(assigned: AssignedPartition, offset: OffsetToCommit): PendingOffset {
  return { assigned, offset, topicId: assigned.topicId }
}

/** Offsets that are committed together. */
interface Commit {
  /** Counts the commits as they were asked for. */
  readonly order: number
  /** What is still to be committed. */
  left: readonly PendingOffset[]
  /** What is lost or committed already is left out. */
  readonly isOptional: boolean
}

/**
 * The committed offsets of a consumer's group, as the group's coordinator has them. Commits take effect in the order in which
 * they were asked for: one request is on its way at a time, and what a later one has committed is not tried again.
 */
export class OffsetStore {
  readonly #options: OffsetStoreOptions
  #begun = 0
  /** Commits that were asked for with `commit` and are not made yet. */
  readonly #asked = new Set<Promise<void>>()
  #lastRequest: Promise<unknown> = Promise.resolve()

  constructor(options: OffsetStoreOptions) {
    this.#options = options
  }

  /** Tried until it succeeds or time is over. Rejects with the first failure; with `NOT_ASSIGNED` for what is lost. */
  commit(offsets: readonly PendingOffset[], timeoutMs: number): Promise<void> {
    const asked = this.#retry({ order: ++this.#begun, left: offsets, isOptional: false }, timeoutMs)
    this.#asked.add(asked)
    const done = () => this.#asked.delete(asked)
    asked.then(done, done)
    return asked
  }

  /** Resolves when what was asked for until now with `commit` has succeeded or failed. */
  async whenCommitted(): Promise<void> {
    await Promise.allSettled(this.#asked)
  }

  /** The same, but for what is lost meanwhile, which is left out. */
  commitOwned(offsets: readonly PendingOffset[], timeoutMs: number): Promise<void> {
    return this.#retry({ order: ++this.#begun, left: offsets, isOptional: true }, timeoutMs)
  }

  /** The same, tried once. */
  async tryCommitOwned(offsets: readonly PendingOffset[], timeoutMs: number): Promise<void> {
    await this.#attempt({ order: ++this.#begun, left: offsets, isOptional: true }, timeoutMs)
  }

  async #retry(commit: Commit, timeoutMs: number): Promise<void> {
    const { cluster, groupId, closing } = this.#options
    const what = `committing offsets for group ${groupId}`
    await cluster.retry(what, timeoutMs, leftMs => this.#attempt(commit, leftMs), closing)
  }

  async #attempt(commit: Commit, timeoutMs: number): Promise<void> {
    if (commit.left.length === 0) return
    const errors = await this.#withCoordinator(timeoutMs, where => this.#inTurn(() => this.#send(commit, where)))
    const worst = errors.find(({ retriable }) => !retriable) ?? errors[0]
    if (worst !== undefined) this.#throw(worst)
  }

  async #inTurn<T>(act: () => Promise<T>): Promise<T> {
    const before = this.#lastRequest
    const request = before.then(act)
    this.#lastRequest = request.catch(() => undefined)
    return await request
  }

  /** What is ours, and who we are, is looked at in the turn in which the request is made. */
  async #send(
    commit: Commit,
    where: { readonly nodeId: number; readonly lane: string; readonly timeoutMs: number },
  ): Promise<MillraceError[]> {
    const { cluster, committer } = this.#options
    const lost = commit.left.find(({ assigned }) => assigned.isLost)
    if (lost !== undefined && !commit.isOptional) throw notOurs(lost.assigned)
    const wanted = commit.left.filter(one => isWanted(one, commit) && !this.#isOfDeletedTopic(one))
    commit.left = wanted
    if (wanted.length === 0) return []
    const offsets = wanted.map(({ offset, topicId }) => ({ ...offset, topicId }))
    const outcomes = await commitOffsets(cluster, committer(), offsets, where)
    for (const [i, { assigned, offset }] of wanted.entries()) {
      if (outcomes[i] === undefined) assigned.committed(offset.offset, commit.order)
    }
    commit.left = wanted.filter((_, i) => outcomes[i] !== undefined)
    return outcomes.filter(error => error !== undefined)
  }

  /** Another topic has its name: there the offset would stand for other records, and whoever began at it would miss some. */
  #isOfDeletedTopic({ assigned, topicId }: PendingOffset): boolean {
    const present = this.#options.cluster.metadata.topic(assigned.topic)?.topicId ?? zeroUuid
    return topicId !== undefined && present !== zeroUuid && present !== topicId
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

/** Whoever commits in the middle of a rebalance has to ask again: nobody knows yet whose the partition will be. */
export function notOursYet({ topic, partition }: TopicPartition): MillraceError {
  const text = `${topic}-${partition} is given up while its group rebalances: commit again when that is over`
  const errorCode = ErrorCode.rebalanceInProgress
  return new MillraceError(errorName(errorCode), text, { errorCode, retriable: true })
}

export function notOurs({ topic, partition }: TopicPartition): MillraceError {
  return new MillraceError('NOT_ASSIGNED', `${topic}-${partition} is not assigned to this consumer (any more)`)
}

function isWanted({ assigned, offset }: PendingOffset, { order, isOptional }: Commit): boolean {
  if (assigned.committedBy > order) return false
  return !isOptional || (!assigned.isLost && assigned.committedOffset !== offset.offset)
}
