import { ErrorCode } from '../../base/error-code.ts'
import type { Cluster } from '../cluster/cluster.ts'
import { listOffsets } from '../cluster/list-offsets.ts'
import { MillraceError } from '../millrace-error.ts'
import type { AssignedPartition, Position } from './assigned-partition.ts'
import type { ConsumerConfig } from './consumer-options.ts'
import { epochEnds } from './epoch-check.ts'

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
      (partition, position) => {
        if (position === undefined) this.resetByPolicy(partition)
        else {
          partition.seek(position)
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
      (partition, found) => {
        if (found === undefined) this.#again(partition)
        else if (found instanceof MillraceError) this.#failed(partition, found)
        // No record is as late as the time asked for: what comes from now on will be.
        else if (found.offset < 0) partition.reset('latest')
        else partition.seek({ offset: found.offset, leaderEpoch: found.leaderEpoch })
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
        const outcomes = await epochEnds(this.#options.cluster, queries)
        return new Map(queries.map(query => [query.assigned, outcomes.get(query)]))
      },
      (partition, end) => {
        if (end === undefined) this.#again(partition)
        else if (!(end instanceof MillraceError)) this.#validated(partition, end)
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

  #validated(
    partition: AssignedPartition,
    {
      endOffset,
      leaderEpoch,
      currentLeaderEpoch,
    }: { endOffset: number; leaderEpoch: number; currentLeaderEpoch: number },
  ): void {
    const { position, fetched } = partition
    partition.phase = 'fetching'
    partition.validatedEpoch = currentLeaderEpoch
    if (position === undefined || fetched === undefined) return
    const isCut = endOffset < 0 || leaderEpoch < 0
    if (!isCut && endOffset >= fetched.offset) return
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
      partition.seek({ offset: endOffset, leaderEpoch })
      partition.validatedEpoch = currentLeaderEpoch
    }
  }

  /** Runs one look-up for several partitions; what has moved meanwhile is left alone. */
  #run<T>(
    partitions: readonly AssignedPartition[],
    ask: () => Promise<Map<AssignedPartition, T>>,
    tell: (partition: AssignedPartition, outcome: T) => void,
  ): void {
    const versions = new Map(partitions.map(partition => [partition, partition.version]))
    const current = () => partitions.filter(one => !one.isLost && one.version === versions.get(one))
    for (const partition of partitions) partition.isBusy = true
    ask().then(
      outcomes => {
        for (const partition of current()) {
          partition.isBusy = false
          tell(partition, outcomes.get(partition) as T)
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

/** How often an application that does not mind is told that a partition cannot go on. */
const giveUpPauseMs = 5000
