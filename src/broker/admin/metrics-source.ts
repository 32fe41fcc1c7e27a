import type { BrokerMetrics } from '../metrics/broker-metrics.ts'
import type { CompactionGauges } from '../metrics/compaction-gauges.ts'

/** What a scrape reads of one partition that this broker leads. */
export interface PartitionGauges {
  readonly topic: string
  readonly partition: number
  readonly logStartOffset: number
  readonly logEndOffset: number
  readonly highWatermark: number
  readonly lastStableOffset: number
  readonly sizeBytes: number
  readonly segmentCount: number
  readonly replicaCount: number
  readonly isrCount: number
  readonly minInsyncReplicas: number
  readonly leaderId: number
  readonly isPreferredLeader: boolean
}

export interface GroupGauges {
  readonly groupId: string
  readonly state: string
  readonly memberCount: number
  readonly offsets: readonly {
    readonly topic: string
    readonly partition: number
    readonly committedOffset: number
    readonly highWatermark: number
  }[]
}

/** The state of one broker at the moment of a scrape. */
export interface MetricsSource {
  readonly counters: BrokerMetrics
  /** Kafka's numbers: 0 not running, 1 starting, 2 recovering, 3 running, 6 and 7 shutting down. */
  brokerState(): number
  partitions(): Iterable<PartitionGauges>
  /** The groups that this broker coordinates. */
  groups(): Promise<readonly GroupGauges[]>
  connections(): Iterable<{
    readonly listener: string
    readonly softwareName: string
    readonly softwareVersion: string
  }>
  fetchSessions(): { readonly count: number; readonly evictions: number }
  waiting(): { readonly produce: number; readonly fetch: number }
  memory(): { readonly usedBytes: number; readonly capacityBytes: number }
  logDirectories(): readonly { readonly path: string; readonly isOffline: boolean }[]
  compaction(): CompactionGauges
  controller(): {
    readonly isActive: boolean
    readonly topics: number
    readonly partitions: number
    readonly offlinePartitions: number
    readonly activeBrokers: number
    readonly fencedBrokers: number
    readonly lastAppliedOffset: number
    readonly lastCommittedOffset: number
    readonly leaderId: number
    readonly leaderEpoch: number
    readonly logEndOffset: number
    readonly highWatermark: number
  }
  broker(): { readonly nodeId: number; readonly host: string; readonly port: number; readonly brokerCount: number }
}
