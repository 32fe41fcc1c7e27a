import type { Cluster } from '../../cluster/cluster.ts'
import type { TopicPartition } from '../../cluster/leader-requests.ts'
import { within } from '../../cluster/waiting.ts'
import { MillraceError, toMillraceError } from '../../millrace-error.ts'
import type { AssignedPartition } from '../assigned-partition.ts'
import type { Assignment } from '../assignment.ts'
import type { Commits } from '../commits.ts'
import type { HandOut } from '../hand-out.ts'

/** What an application may want to do when partitions come and go. Each is waited for. */
export interface RebalanceListener {
  /** These are read from now on, once this has returned: the place to seek. */
  readonly assigned?: (partitions: readonly TopicPartition[]) => Promise<void> | void
  /** These are given up: offsets can still be committed. */
  readonly revoked?: (partitions: readonly TopicPartition[]) => Promise<void> | void
  /** These are somebody else's already: nothing of them can be committed. `revoked` unless given. */
  readonly lost?: (partitions: readonly TopicPartition[]) => Promise<void> | void
}

export interface GroupShareOptions {
  readonly cluster: Cluster
  readonly assignment: Assignment
  readonly handOut: HandOut
  readonly commits: Commits
  readonly listener: RebalanceListener
  readonly maxPollIntervalMs: number
  /** There is something else to fetch. */
  readonly changed: () => void
}

/** How long the last commit of partitions that are given up may take. */
const lastCommitMs = 10_000

/** A consumer's share of its group's partitions: takes them up and gives them up in good order. */
export class GroupShare {
  readonly #options: GroupShareOptions

  constructor(options: GroupShareOptions) {
    this.#options = options
  }

  owned(): readonly TopicPartition[] {
    return [...this.#options.assignment].map(({ topic, partition }) => ({ topic, partition }))
  }

  async assign(partitions: readonly TopicPartition[]): Promise<void> {
    const { assignment, listener } = this.#options
    const added = partitions.map(one => assignment.add(one))
    // Nothing is looked up or handed out before the application had its chance to seek.
    for (const assigned of added) assigned.isBusy = true
    await this.#call('assigned', listener.assigned, partitions)
    for (const assigned of added) assigned.isBusy = false
    this.#options.changed()
  }

  /** The application finishes what it has of them, what is done is committed, and then they are gone. */
  async revoke(partitions: readonly TopicPartition[]): Promise<void> {
    const { cluster, handOut, commits, listener, maxPollIntervalMs } = this.#options
    const given = new Set(this.#find(partitions))
    for (const assigned of given) assigned.isHeld = true
    const late = () => new MillraceError('TIMED_OUT', 'the application did not finish')
    await within(cluster.io.clock, maxPollIntervalMs, handOut.whenIdle(given), late).catch(() => undefined)
    await commits.commitBeforeGivingUp(given, lastCommitMs)
    await this.#call('revoked', listener.revoked, partitions)
    // Also when the listener did not wait for them.
    await commits.whenCommitted(lastCommitMs)
    this.#remove(given)
  }

  async lose(partitions: readonly TopicPartition[]): Promise<void> {
    const { listener } = this.#options
    this.#remove(this.#find(partitions))
    await this.#call('lost', listener.lost ?? listener.revoked, partitions)
  }

  #find(partitions: readonly TopicPartition[]): AssignedPartition[] {
    const found = partitions.map(({ topic, partition }) => this.#options.assignment.get(topic, partition))
    return found.filter(assigned => assigned !== undefined)
  }

  #remove(given: Iterable<AssignedPartition>): void {
    for (const assigned of given) if (!assigned.isLost) this.#options.assignment.remove(assigned)
    this.#options.changed()
  }

  async #call(
    name: string,
    listener: RebalanceListener['assigned'],
    partitions: readonly TopicPartition[],
  ): Promise<void> {
    if (listener === undefined || partitions.length === 0) return
    try {
      await listener(partitions)
    } catch (error) {
      const text = `the listener for ${name} partitions failed: ${toMillraceError(error).message}`
      this.#options.cluster.io.log.write('error', text)
    }
  }
}
