import { isActive } from '../../core/metadata/broker-image.ts'
import type { SegmentedLog } from '../../storage/segmented-log.ts'
import type { Broker } from '../broker.ts'
import { describeGroups } from '../groups/describe-groups.ts'
import type { BrokerMetrics } from '../metrics/broker-metrics.ts'
import { type CompactionGauges, compactionGauges } from '../metrics/compaction-gauges.ts'
import type { GroupGauges, MetricsSource, PartitionGauges } from './metrics-source.ts'

/** Reads a broker's state when somebody scrapes it. */
export class BrokerMetricsSource implements MetricsSource {
  readonly #broker: Broker

  constructor(broker: Broker) {
    this.#broker = broker
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
      const { leaderId, replicas, isr, minInsyncReplicas } = partition.state
      yield {
        topic: partition.topic,
        partition: partition.index,
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
      }
    }
  }

  async groups(): Promise<readonly GroupGauges[]> {
    const { groups, partitions } = this.#broker
    const described = await describeGroups(groups)
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
    const { compactor, logs } = this.#broker
    return compactionGauges(compactor.figures, logs.logs, logs.directories)
  }

  controller(): ReturnType<MetricsSource['controller']> {
    const { metadata } = this.#broker
    const { image, quorum } = metadata
    const brokers = [...image.brokers()]
    const active = brokers.filter(isActive).length
    let offlinePartitions = 0
    for (const topic of image.topics())
      for (const partition of topic.partitions) if (partition.leader < 0) offlinePartitions++
    return {
      isActive: metadata.isActiveController,
      topics: image.topicCount,
      partitions: image.partitionCount,
      offlinePartitions,
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
