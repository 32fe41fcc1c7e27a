import type { Cluster } from '../cluster/cluster.ts'
import { Coordinators } from '../cluster/coordinators.ts'
import type { OffsetToCommit } from '../cluster/group-offsets.ts'
import type { TopicPartition } from '../cluster/leader-requests.ts'
import type { OffsetSpec } from '../cluster/list-offsets.ts'
import { Closing, WakeUps, within } from '../cluster/waiting.ts'
import { closedError, invalidArgument, type MillraceError, toMillraceError } from '../millrace-error.ts'
import type { AssignedPartition } from './assigned-partition.ts'
import { Assignment } from './assignment.ts'
import { Commits } from './commits.ts'
import type { ConsumedBatch } from './consumed-batch.ts'
import type { AssignedAt, CloseOptions, PollOptions, RunOptions } from './consumer-calls.ts'
import { type ConsumerConfig, type ConsumerOptions, consumerConfig } from './consumer-options.ts'
import { Fetcher } from './fetcher.ts'
import { GroupShare, type RebalanceListener } from './group/group-share.ts'
import { Membership } from './group/membership.ts'
import { Subscription } from './group/subscription.ts'
import { HandOut } from './hand-out.ts'
import { OffsetStore } from './offset-store.ts'
import { Positions } from './positions.ts'

/**
 * Reads records, in one of three ways that do the same: `for await (const batch of consumer)`, `poll()`, `run()`. Asking for
 * more says that what was handed out before is done, and so does a handler of `run` that resolves; only that is committed.
 * Made by `client.consumer()`.
 */
export class Consumer {
  readonly #cluster: Cluster
  readonly #ended: (consumer: Consumer) => void
  readonly #config: ConsumerConfig
  readonly #closing = new Closing()
  readonly #assignment = new Assignment()
  readonly #handOut = new HandOut(this.#assignment)
  readonly #fetcher: Fetcher
  readonly #coordinators: Coordinators
  readonly #commits: Commits | undefined
  readonly #stopListening: () => void
  /** Has the client's end no longer told. */
  readonly #forget: (() => void) | undefined
  readonly #unwatch = new Map<string, () => void>()
  readonly #offsetsLane: string
  readonly #wakeUps: WakeUps
  /** What the next call rejects with. */
  #errors: MillraceError[] = []
  /** Batches of the last `poll`. */
  #polled: ConsumedBatch[] = []
  #isStopping = false
  #group: { readonly subscription: Subscription; readonly membership: Membership } | undefined
  readonly #groupLane: string

  /** `ended` is told once it is closed. */
  constructor(cluster: Cluster, options: ConsumerOptions, ended: (consumer: Consumer) => void) {
    this.#ended = ended
    this.#cluster = cluster
    this.#config = consumerConfig(options)
    this.#wakeUps = new WakeUps(cluster.io.clock)
    this.#offsetsLane = cluster.newLane('offsets')
    this.#groupLane = cluster.newLane('group')
    this.#coordinators = new Coordinators(cluster)
    const { groupId } = this.#config
    const store = groupId === undefined ? undefined : this.#offsetStore(groupId)
    if (store !== undefined) {
      const intervalMs = this.#config.autoCommit ? this.#config.autoCommitIntervalMs : undefined
      const isRebalancing = () => this.#group?.membership.isRebalancing ?? false
      this.#commits = new Commits({ cluster, assignment: this.#assignment, store, intervalMs, isRebalancing })
    }
    const positions = new Positions({
      cluster,
      config: this.#config,
      committed: async partitions => store?.committed(partitions, cluster.config.requestTimeoutMs) ?? [],
      failed: error => this.#fail(error),
      changed: () => this.#fetcher.schedule(),
    })
    this.#fetcher = new Fetcher({
      cluster,
      config: this.#config,
      closing: this.#closing,
      positions,
      partitions: () => this.#assignment,
      arrived: () => this.#wakeUps.wake(),
      failed: error => this.#fail(error),
    })
    this.#stopListening = cluster.onUpdate(() => this.#fetcher.schedule())
    this.#forget = cluster.closing.onClose(() => this.#finish())
  }

  #offsetStore(groupId: string): OffsetStore {
    const alone = { groupId, generationId: -1, memberId: '', groupInstanceId: null }
    return new OffsetStore({
      cluster: this.#cluster,
      coordinators: this.#coordinators,
      closing: this.#closing,
      groupId,
      lane: this.#offsetsLane,
      committer: () => this.#group?.membership.committer ?? alone,
      refused: errorCode => this.#group?.membership.noteRefusal(errorCode),
    })
  }

  /** The partitions that are read at present. */
  get assignment(): readonly TopicPartition[] {
    return [...this.#assignment].map(({ topic, partition }) => ({ topic, partition }))
  }

  /**
   * Shares the partitions of these topics with the other members of the group. Patterns also find topics that are created
   * later. Names that do not exist are waited for. Only once; a consumer with other topics is another consumer.
   */
  subscribe(topics: readonly (string | RegExp)[], listener: RebalanceListener = {}): void {
    this.#assertOpen()
    const { groupId } = this.#config
    const commits = this.#groupCommits()
    if (this.#group !== undefined) throw invalidArgument('this consumer is subscribed already')
    if (this.#assignment.size > 0) throw invalidArgument('a consumer is either assigned partitions or subscribed')
    const subscription = new Subscription(this.#cluster, topics, this.#config)
    const share = new GroupShare({
      cluster: this.#cluster,
      assignment: this.#assignment,
      handOut: this.#handOut,
      commits,
      listener,
      maxPollIntervalMs: this.#config.maxPollIntervalMs,
      changed: () => {
        this.#fetcher.schedule()
        this.#wakeUps.wake()
      },
    })
    const membership = new Membership({
      cluster: this.#cluster,
      coordinators: this.#coordinators,
      lane: this.#groupLane,
      config: { ...this.#config, groupId: groupId! },
      hooks: {
        topics: () => subscription.topics(),
        owned: () => share.owned(),
        assign: partitions => share.assign(partitions),
        revoke: partitions => share.revoke(partitions),
        lose: partitions => share.lose(partitions),
        busySinceMs: () => this.#handOut.oldestSinceMs,
        failed: error => this.#fail(error),
      },
    })
    this.#group = { subscription, membership }
  }

  /** Reads these partitions, instead of those before, without sharing them with a group. */
  assign(partitions: readonly AssignedAt[]): void {
    this.#assertOpen()
    if (this.#group !== undefined) throw invalidArgument('a consumer is either assigned partitions or subscribed')
    const kept = new Set(partitions.map(({ topic, partition }) => `${topic}-${partition}`))
    for (const assigned of [...this.#assignment]) {
      if (!kept.has(assigned.name)) this.#assignment.remove(assigned)
    }
    for (const { topic, partition, offset } of partitions) {
      const assigned = this.#assignment.add({ topic, partition })
      if (offset !== undefined) this.#move(assigned, offset)
    }
    this.#watchTopics(new Set(partitions.map(({ topic }) => topic)))
    this.#fetcher.schedule()
  }

  /**
   * Waits for records for at most `timeoutMs`; none when there are none. What the last call returned counts as done.
   * Rejects with what keeps a partition from being read; later calls go on.
   */
  async poll(options: PollOptions = {}): Promise<readonly ConsumedBatch[]> {
    this.#assertOpen()
    this.#isStopping = false
    this.#confirmPolled()
    const maxRecords = options.maxRecords ?? this.#config.maxRecords
    const first = await this.#next(maxRecords, options.timeoutMs ?? 1000)
    if (first === undefined) return []
    const batches = [first]
    let count = first.records.length
    while (count < maxRecords) {
      const batch = this.#takeMore(maxRecords - count)
      if (batch === undefined) break
      batches.push(batch)
      count += batch.records.length
    }
    this.#polled = batches
    this.#fetcher.schedule()
    return batches
  }

  /** A fault of another partition must not take away what is in hand: it is for the next call. */
  #takeMore(maxRecords: number): ConsumedBatch | undefined {
    try {
      return this.#handOut.take(maxRecords, this.#cluster.nowMs)
    } catch (error) {
      this.#fail(toMillraceError(error))
      return undefined
    }
  }

  /** Batch after batch, until the consumer is closed or stopped. Asking for the next says that the last one is done. */
  async *[Symbol.asyncIterator](): AsyncGenerator<ConsumedBatch, void, undefined> {
    this.#isStopping = false
    for (;;) {
      this.#assertOpen()
      this.#confirmPolled()
      const batch = await this.#next(this.#config.maxRecords, Number.POSITIVE_INFINITY)
      if (batch === undefined) return
      this.#polled = [batch]
      yield batch
      if (this.#closing.isClosed) return
    }
  }

  /**
   * Calls `eachBatch` with batch after batch, those of one partition one after the other. Resolves after `stop` or `close`,
   * when all handlers have returned. When one throws, rejects with that; its batch is handed out again by the next `run`.
   */
  async run({ eachBatch, concurrency = 1 }: RunOptions): Promise<void> {
    this.#assertOpen()
    if (!(concurrency >= 1)) throw invalidArgument('concurrency is at least 1')
    this.#isStopping = false
    this.#confirmPolled()
    const workers = Array.from({ length: concurrency }, () => this.#work(eachBatch))
    const outcomes = await Promise.allSettled(workers)
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason
  }

  async #work(eachBatch: RunOptions['eachBatch']): Promise<void> {
    try {
      for (;;) {
        const batch = await this.#next(this.#config.maxRecords, Number.POSITIVE_INFINITY)
        if (batch === undefined) return
        let isDone = false
        try {
          await eachBatch(batch)
          isDone = true
        } finally {
          this.#handOut.returned(batch, isDone)
          if (!isDone && !batch.isStale) this.#rewind(batch)
          this.#group?.membership.noteActivity()
          this.#wakeUps.wake()
        }
      }
    } catch (error) {
      this.stop()
      throw error
    }
  }

  /** Ends `run` and the iteration after the batches that are being worked on. To be used inside of handlers. */
  stop(): void {
    this.#isStopping = true
    this.#wakeUps.wake()
  }

  /** Nothing of these partitions is fetched or handed out until `resume`. */
  pause(partitions: readonly TopicPartition[]): void {
    for (const one of partitions) this.#assignment.require(one).isPaused = true
  }

  resume(partitions: readonly TopicPartition[]): void {
    for (const one of partitions) this.#assignment.require(one).isPaused = false
    this.#wakeUps.wake()
    this.#fetcher.schedule()
  }

  /** Goes on from this offset, or from a place by name or time. Throws `NOT_ASSIGNED`. */
  seek(partition: TopicPartition, to: number | OffsetSpec): void {
    this.#move(this.#assignment.require(partition), to)
    this.#fetcher.schedule()
  }

  /** The offset of the next record that will be handed out; undefined while it is being looked up. */
  position(partition: TopicPartition): number | undefined {
    return this.#assignment.require(partition).position?.offset
  }

  /** How many offsets the position is behind the end of the partition; undefined before the first fetch. */
  lag(partition: TopicPartition): number | undefined {
    const { position, highWatermark } = this.#assignment.require(partition)
    if (position === undefined || highWatermark < 0) return undefined
    return Math.max(0, highWatermark - position.offset)
  }

  /**
   * Commits for the group: the given offsets, each that of the next record to read; or all that was handed out and, with
   * `run`, is done. Rejects with `NOT_ASSIGNED` for a partition that is not this consumer's, and with `REBALANCE_IN_PROGRESS`
   * while the group settles whose it is: then it can be tried again.
   */
  async commit(offsets?: readonly OffsetToCommit[]): Promise<void> {
    this.#assertOpen()
    const commits = this.#groupCommits()
    if (offsets === undefined) {
      for (const batch of this.#polled) batch.confirm()
      await commits.commitConfirmed()
      return
    }
    await commits.commit(offsets)
  }

  /** What the group has committed for each; undefined for nothing. */
  async committed(partitions: readonly TopicPartition[]): Promise<readonly (number | undefined)[]> {
    this.#assertOpen()
    const positions = await this.#groupCommits().committed(partitions)
    return positions.map(position => position?.offset)
  }

  /**
   * Stops, commits what is done, and gives everything up, in `timeoutMs` (30,000 unless given) at most, also when brokers are
   * away. Waits for handlers of `run`: inside of one use `stop`, or it waits for itself until time is over. A static member
   * leaves its group only with `leaveGroup`, so that it can come back.
   */
  async close({
    timeoutMs = 30_000,
    leaveGroup = this.#config.groupInstanceId === undefined,
  }: CloseOptions = {}): Promise<void> {
    if (this.#closing.isClosed) return
    this.stop()
    const { clock } = this.#cluster.io
    const deadlineMs = this.#cluster.nowMs + timeoutMs
    const leftMs = () => Math.max(0, deadlineMs - this.#cluster.nowMs)
    const late = () => closedError('consumer')
    const everything = new Set(this.#assignment)
    for (const assigned of everything) assigned.isHeld = true
    // A batch that `poll` or the iteration has handed out is done when more is asked for, and that will not happen.
    for (const batch of this.#polled) this.#handOut.returned(batch, false)
    this.#polled = []
    await within(clock, leftMs(), this.#handOut.whenIdle(everything), late).catch(() => undefined)
    await this.#commits?.commitBeforeGivingUp(everything, leftMs())
    const left = this.#group?.membership.close({ leave: leaveGroup, timeoutMs: leftMs() })
    if (left !== undefined) await within(clock, leftMs(), left, late).catch(() => undefined)
    this.#finish()
  }

  /** Closes with the defaults, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #finish(): void {
    if (this.#closing.isClosed) return
    this.#closing.close()
    this.#ended(this)
    this.#commits?.stop()
    void this.#group?.membership.close({ leave: false, timeoutMs: 0 })
    this.#group?.subscription.end()
    this.#assignment.clear()
    this.#stopListening()
    this.#forget?.()
    this.#watchTopics(new Set())
    this.#cluster.closeLane(this.#offsetsLane)
    this.#cluster.closeLane(this.#groupLane)
    this.#wakeUps.wake()
  }

  /** The next batch; undefined when time is over, or the consumer was stopped or closed. */
  async #next(maxRecords: number, timeoutMs: number): Promise<ConsumedBatch | undefined> {
    const deadlineMs = this.#cluster.nowMs + timeoutMs
    for (;;) {
      const error = this.#errors.shift()
      if (error !== undefined) throw error
      if (this.#isStopping || this.#closing.isClosed) return undefined
      const batch = this.#handOut.take(maxRecords, this.#cluster.nowMs)
      if (batch !== undefined) {
        this.#fetcher.schedule()
        return batch
      }
      const leftMs = deadlineMs - this.#cluster.nowMs
      if (leftMs <= 0) return undefined
      this.#fetcher.schedule()
      await this.#wakeUps.next(leftMs)
    }
  }

  #fail(error: MillraceError): void {
    // The same trouble of many partitions, or of one for a long time, is told once.
    if (this.#errors.length < maxErrors && !this.#errors.some(({ message }) => message === error.message)) {
      this.#errors.push(error)
    }
    this.#wakeUps.wake()
  }

  #confirmPolled(): void {
    for (const batch of this.#polled) this.#handOut.returned(batch, true)
    this.#polled = []
    this.#group?.membership.noteActivity()
  }

  /** Hands the batch out again: whatever was read behind it too. */
  #rewind(batch: ConsumedBatch): void {
    const assigned = this.#assignment.get(batch.topic, batch.partition)
    const confirmed = assigned?.confirmed
    if (assigned !== undefined && confirmed !== undefined) assigned.seek(confirmed, assigned.topicId)
  }

  #move(assigned: AssignedPartition, to: number | OffsetSpec): void {
    if (typeof to !== 'number') assigned.reset(to)
    else if (Number.isSafeInteger(to) && to >= 0) assigned.seek({ offset: to, leaderEpoch: -1 })
    else throw invalidArgument(`an offset is a whole number from 0 on, not ${to}`)
  }

  #groupCommits(): Commits {
    if (this.#commits === undefined) throw invalidArgument('a group is needed for this; give the consumer a groupId')
    return this.#commits
  }

  #watchTopics(topics: ReadonlySet<string>): void {
    for (const [topic, unwatch] of this.#unwatch) {
      if (topics.has(topic)) continue
      unwatch()
      this.#unwatch.delete(topic)
    }
    for (const topic of topics) {
      if (this.#unwatch.has(topic)) continue
      this.#unwatch.set(topic, this.#cluster.watch(topic, { create: this.#config.createTopics }))
      this.#cluster.requestRefresh()
    }
  }

  #assertOpen(): void {
    if (this.#closing.isClosed) throw closedError('consumer')
  }
}

/** Errors that wait for the application to ask for records. */
const maxErrors = 100
