import { isActive } from '../../core/metadata/broker-image.ts'
import type { Clock } from '../../io/clock.ts'
import { type Disk, expectDiskError } from '../../io/disk.ts'
import type { SegmentedLog } from '../../storage/segmented-log.ts'
import type { Broker } from '../broker.ts'
import { describeGroups } from '../groups/describe-groups.ts'
import type { BrokerMetrics } from '../metrics/broker-metrics.ts'
import { type CompactionGauges, compactionGauges } from '../metrics/compaction-gauges.ts'
import { LoopIdle } from './loop-idle.ts'
import type { BuildInfo, ControllerGauges, GroupGauges, MetricsSource, PartitionGauges } from './metrics-source.ts'
import type { Slices } from './slices.ts'

const maxTrafficFileBytes = 4096

export interface BrokerMetricsSourceOptions {
  readonly broker: Broker
  readonly disk: Disk
  readonly clock: Clock
  readonly build: BuildInfo
}

/** Reads a broker's state when somebody scrapes it. */
export class BrokerMetricsSource implements MetricsSource {
  readonly build: BuildInfo
  readonly #broker: Broker
  readonly #disk: Disk
  readonly #loopIdle: LoopIdle

  constructor({ broker, disk, clock, build }: BrokerMetricsSourceOptions) {
    this.build = build
    this.#broker = broker
    this.#disk = disk
    this.#loopIdle = new LoopIdle(clock)
  }

  get counters(): BrokerMetrics {
    return this.#broker.metrics
  }

  brokerState(): number {
    return this.#broker.state
  }

  *partitions(): Iterable<PartitionGauges> {
    for (const partition of this.#broker.partitions.all()) {
      const log = partition.log as SegmentedLog
      const { leaderId, replicas, isr, isReassigning, minInsyncReplicas } = partition.state
      const { compaction } = log
      yield {
        topic: partition.topic,
        partition: partition.index,
        directory: log.directory.path,
        isOffline: log.directory.isOffline,
        isLed: partition.isLeader,
        isReassigning,
        logStartOffset: log.logStartOffset,
        logEndOffset: log.logEndOffset,
        highWatermark: log.highWatermark,
        lastStableOffset: log.lastStableOffset,
        sizeBytes: log.sizeBytes,
        segmentCount: log.segmentCount,
        replicaCount: replicas.length,
        isrCount: isr.length,
        minInsyncReplicas: Math.min(minInsyncReplicas, replicas.length),
        leaderId,
        isPreferredLeader: replicas[0] === leaderId,
        uncleanableBytes: log.config.isCompacted && compaction.isUncleanable ? compaction.dirtyBytes : undefined,
      }
    }
  }

  unmadePartitions(): number {
    return this.#broker.partitions.unmadeCount
  }

  async groups(slices: Slices): Promise<readonly GroupGauges[]> {
    const { groups, partitions } = this.#broker
    const described = await describeGroups(groups, () => (slices.isOver ? slices.next() : undefined))
    return described.map(({ offsets, ...group }) => ({
      ...group,
      offsets: offsets.map(one => ({
        ...one,
        highWatermark: partitions.byName(one.topic, one.partition)?.log.highWatermark ?? one.committedOffset,
      })),
    }))
  }

  *connections(): Iterable<{
    readonly listener: string
    readonly softwareName: string
    readonly softwareVersion: string
  }> {
    for (const { listenerName, clientSoftware } of this.#broker.server.connections) {
      yield { listener: listenerName, softwareName: clientSoftware.name, softwareVersion: clientSoftware.version }
    }
  }

  fetchSessions(): { readonly count: number; readonly evictions: number } {
    const { count, evictionsTotal } = this.#broker.fetchSessions
    return { count, evictions: evictionsTotal }
  }

  waiting(): { readonly produce: number; readonly fetch: number } {
    return this.#broker.metrics.waiting
  }

  memory(): { readonly usedBytes: number; readonly capacityBytes: number } {
    const { usedBytes, capacityBytes } = this.#broker.budget
    return { usedBytes, capacityBytes }
  }

  logDirectories(): readonly { readonly path: string; readonly isOffline: boolean }[] {
    const { directories, unread } = this.#broker.logs
    const claimed = new Set(directories.map(({ path }) => path))
    const unclaimed = unread.filter(path => !claimed.has(path))
    return [
      ...directories.map(({ path, isOffline }) => ({ path, isOffline })),
      ...unclaimed.map(path => ({ path, isOffline: true })),
    ]
  }

  compaction(): CompactionGauges {
    return compactionGauges(this.#broker.compactor.figures)
  }

  controller(): ControllerGauges {
    const { metadata, clusterCounts } = this.#broker
    const { offlinePartitions, notLedByPreferred, uncleanElections } = clusterCounts
    const { image, quorum } = metadata
    const brokers = [...image.brokers()]
    const active = brokers.filter(isActive).length
    return {
      isActive: metadata.isActiveController,
      topics: image.topicCount,
      partitions: image.partitionCount,
      offlinePartitions,
      notLedByPreferred,
      uncleanElections,
      activeBrokers: active,
      fencedBrokers: brokers.length - active,
      lastAppliedOffset: metadata.servedOffset - 1,
      lastCommittedOffset: (quorum?.highWatermark ?? 0) - 1,
      leaderId: quorum?.leaderId ?? -1,
      leaderEpoch: quorum?.epoch ?? 0,
      logEndOffset: metadata.logEndOffset,
      highWatermark: quorum?.highWatermark ?? 0,
    }
  }

  loopIdle(): number {
    return this.#loopIdle.value()
  }

  /** What the kernel says of this process. Not everywhere is it told, nor is everybody told. */
  diskTraffic(): ReturnType<MetricsSource['diskTraffic']> {
    let text: string | undefined
    try {
      text = this.#disk.readSmallFile('/proc/self/io', maxTrafficFileBytes)?.toString('latin1')
    } catch (error) {
      expectDiskError(error)
    }
    const bytes = (name: string) => text?.match(new RegExp(`^${name}: (\\d+)$`, 'm'))?.[1]
    const [readBytes, writtenBytes] = [bytes('read_bytes'), bytes('write_bytes')]
    if (readBytes === undefined || writtenBytes === undefined) return undefined
    return { readBytes: Number(readBytes), writtenBytes: Number(writtenBytes) }
  }

  broker(): ReturnType<MetricsSource['broker']> {
    const [listener] = this.#broker.listeners
    return {
      nodeId: this.#broker.nodeId,
      host: listener?.advertisedHost ?? '',
      port: listener?.advertisedPort ?? 0,
      brokerCount: [...this.#broker.metadata.image.brokers()].length,
    }
  }
}
