import { ErrorCode } from '../../base/error-code.ts'
import { type Uuid, zeroUuid } from '../../base/uuid.ts'
import type { Cluster } from '../cluster/cluster.ts'
import { listOffsets } from '../cluster/list-offsets.ts'
import { MillraceError } from '../millrace-error.ts'
import type { AssignedPartition, Position } from './assigned-partition.ts'
import type { ConsumerConfig } from './consumer-options.ts'
import { type EpochEnd, epochEnds } from './epoch-check.ts'

export interface PositionsOptions {
  readonly cluster: Cluster
  readonly config: ConsumerConfig
  /** The group's committed positions; undefined for those that have none. Rejects when that cannot be known now. */
  readonly committed: (partitions: readonly AssignedPartition[]) => Promise<readonly (Position | undefined)[]>
  /** A partition cannot go on without the application. */
  readonly failed: (error: MillraceError) => void
  /** Something is known that was not. */
  readonly changed: () => void
}

/**
 * Finds out where to read. Errors are never taken for an answer: a partition begins by the reset policy only if the group
 * has committed nothing for it, or the offset is out of range.
 */
export class Positions {
  readonly #options: PositionsOptions

  constructor(options: PositionsOptions) {
    this.#options = options
  }

  /** Of partitions that are `unpositioned`. */
  findCommitted(partitions: readonly AssignedPartition[]): void {
    if (partitions.length === 0) return
    if (this.#options.config.groupId === undefined) {
      for (const partition of partitions) this.resetByPolicy(partition)
      this.#options.changed()
      return
    }
    this.#run(
      partitions,
      async () => {
        const positions = await this.#options.committed(partitions)
        return new Map(partitions.map((partition, i) => [partition, positions[i]]))
      },
      (partition, position, topicId) => {
        if (position === undefined) this.resetByPolicy(partition)
        else if (topicId !== this.#topicIdOf(partition)) this.#again(partition)
        else {
          partition.seek(position, topicId)
          partition.committedOffset = position.offset
        }
      },
    )
  }

  /** Of partitions that are `resetting`. */
  lookUp(partitions: readonly AssignedPartition[]): void {
    if (partitions.length === 0) return
    const { cluster, config } = this.#options
    this.#run(
      partitions,
      async () => {
        const queries = partitions.map(partition => ({
          topic: partition.topic,
          partition: partition.partition,
          spec: partition.resetTo ?? 'latest',
          assigned: partition,
        }))
        const outcomes = await listOffsets(cluster, queries, config)
        return new Map(queries.map(query => [query.assigned, outcomes.get(query)]))
      },
      (partition, found, topicId) => {
        if (found instanceof MillraceError) this.#failed(partition, found)
        else if (found === undefined || topicId !== this.#topicIdOf(partition)) this.#again(partition)
        // No record is as late as the time asked for: what comes from now on will be.
        else if (found.offset < 0) partition.reset('latest')
        else partition.seek({ offset: found.offset, leaderEpoch: found.leaderEpoch }, topicId)
      },
    )
  }

  /** Of partitions that are `validating`: asks the leader whether it has what was read. */
  validate(partitions: readonly AssignedPartition[]): void {
    if (partitions.length === 0) return
    this.#run(
      partitions,
      async () => {
        const queries = partitions.map(partition => ({
          topic: partition.topic,
          partition: partition.partition,
          leaderEpoch: partition.fetched?.leaderEpoch ?? -1,
          assigned: partition,
        }))
        const { cluster } = this.#options
        const outcomes = await epochEnds(cluster, queries)
        // The request names its topics: the one that answered may have been created anew, and end earlier for that reason.
        if (queries.some(query => endsBefore(outcomes.get(query), query.assigned.fetched)))
          await cluster.refresh(cluster.config.requestTimeoutMs)
        return new Map(queries.map(query => [query.assigned, outcomes.get(query)]))
      },
      (partition, end, topicId) => {
        if (end === undefined) this.#again(partition)
        else if (!(end instanceof MillraceError)) this.#validated(partition, end, topicId)
        else if (end.code !== 'UNSUPPORTED_VERSION') this.#failed(partition, end)
        else {
          partition.validatedEpoch = Number.POSITIVE_INFINITY
          partition.phase = 'fetching'
        }
      },
    )
  }

  resetByPolicy(partition: AssignedPartition): void {
    const { offsetReset } = this.#options.config
    if (offsetReset !== 'none') {
      partition.reset(offsetReset)
      return
    }
    const at =
      partition.position === undefined ? 'no offset is committed' : `offset ${partition.position.offset} is gone`
    const text = `${partition.name}: ${at}, and offsetReset is none; seek to an offset, or set offsetReset`
    this.#giveUp(partition, new MillraceError('NO_OFFSET', text))
  }

  /** `topicId`: of the topic as it was known when its leader was asked. */
  #validated(partition: AssignedPartition, end: EpochEnd, topicId: Uuid | undefined): void {
    const { position, fetched } = partition
    const { endOffset, leaderEpoch, currentLeaderEpoch } = end
    if (endsBefore(end, fetched) && topicId !== this.#topicIdOf(partition)) {
      // Not the log was cut: another topic has the name. It is found to be of a deleted topic next.
      partition.topicId ??= topicId
      this.#again(partition)
      return
    }
    partition.phase = 'fetching'
    partition.validatedEpoch = currentLeaderEpoch
    if (position === undefined || fetched === undefined) return
    if (!endsBefore(end, fetched)) return
    const isCut = endOffset < 0 || leaderEpoch < 0
    if (!isCut && endOffset >= position.offset) {
      // Only what was fetched ahead is gone.
      partition.dropBuffer()
      partition.validatedEpoch = currentLeaderEpoch
      return
    }
    const { cluster, config } = this.#options
    const text = `${partition.name}: the log now ends its epoch ${fetched.leaderEpoch} at ${endOffset}, before position ${position.offset}: records that were read are gone (an unclean election?)`
    cluster.io.log.write('warn', text, { topic: partition.topic, partition: partition.partition })
    if (config.offsetReset === 'none') this.#giveUp(partition, new MillraceError('LOG_TRUNCATED', text))
    else if (isCut) partition.reset(config.offsetReset)
    else {
      partition.seek({ offset: endOffset, leaderEpoch }, topicId)
      partition.validatedEpoch = currentLeaderEpoch
    }
  }

  #topicIdOf({ topic }: AssignedPartition): Uuid | undefined {
    const topicId = this.#options.cluster.metadata.topic(topic)?.topicId
    return topicId === zeroUuid ? undefined : topicId
  }

  /**
   * Runs one look-up for several partitions; what has moved meanwhile is left alone. `tell` gets the id of the topic as it was
   * known at the start, too.
   */
  #run<T>(
    partitions: readonly AssignedPartition[],
    ask: () => Promise<Map<AssignedPartition, T>>,
    tell: (partition: AssignedPartition, outcome: T, topicId: Uuid | undefined) => void,
  ): void {
    const topicIds = new Map(partitions.map(partition => [partition, this.#topicIdOf(partition)]))
    const versions = new Map(partitions.map(partition => [partition, partition.version]))
    const current = () => partitions.filter(one => !one.isLost && one.version === versions.get(one))
    for (const partition of partitions) partition.isBusy = true
    ask().then(
      outcomes => {
        for (const partition of current()) {
          partition.isBusy = false
          tell(partition, outcomes.get(partition) as T, topicIds.get(partition))
        }
        this.#options.changed()
      },
      error => {
        for (const partition of current()) {
          partition.isBusy = false
          this.#failed(partition, error)
        }
        this.#options.changed()
      },
    )
  }

  #failed(partition: AssignedPartition, error: MillraceError): void {
    if (error.retriable || error.errorCode === ErrorCode.unknownServerError) this.#again(partition)
    else this.#giveUp(partition, error)
  }

  #again(partition: AssignedPartition): void {
    const { cluster } = this.#options
    partition.failed(cluster.nowMs, failures => cluster.retryDelayMs(failures))
  }

  /** Tells the application, and tries again once in a while: it may have been cured. */
  #giveUp(partition: AssignedPartition, error: MillraceError): void {
    partition.failed(this.#options.cluster.nowMs, () => giveUpPauseMs)
    this.#options.failed(error)
  }
}

/** Whether the log ends before what was fetched of it. */
function endsBefore(end: EpochEnd | MillraceError | undefined, fetched: Position | undefined): boolean {
  if (end === undefined || end instanceof MillraceError || fetched === undefined) return false
  return end.endOffset < 0 || end.leaderEpoch < 0 || end.endOffset < fetched.offset
}

/** How often an application that does not mind is told that a partition cannot go on. */
const giveUpPauseMs = 5000
