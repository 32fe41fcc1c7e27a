import type { BrokerMetrics } from '../metrics/broker-metrics.ts'
import type { CompactionGauges } from '../metrics/compaction-gauges.ts'
import type { Slices } from './slices.ts'

/** What a scrape reads of one partition that this broker has a replica of. */
export interface PartitionGauges {
  readonly topic: string
  readonly partition: number
  /** Path of the log directory that it lies in. */
  readonly directory: string
  /** The log directory has failed. */
  readonly isOffline: boolean
  /** By this broker: only then are the in-sync replicas known. */
  readonly isLed: boolean
  readonly isReassigning: boolean
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
  /** Dirty bytes of a compacted log that cannot be compacted; undefined for all others. */
  readonly uncleanableBytes: number | undefined
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

/** What the metadata say of the cluster, and where this node is in them. */
export interface ControllerGauges {
  readonly isActive: boolean
  readonly topics: number
  readonly partitions: number
  readonly offlinePartitions: number
  /** Those without a leader among them. */
  readonly notLedByPreferred: number
  /** Since this broker has started. */
  readonly uncleanElections: number
  readonly activeBrokers: number
  readonly fencedBrokers: number
  readonly lastAppliedOffset: number
  readonly lastCommittedOffset: number
  readonly leaderId: number
  readonly leaderEpoch: number
  readonly logEndOffset: number
  readonly highWatermark: number
}

export interface BuildInfo {
  readonly version: string
  /** The commit, where it is known. */
  readonly revision?: string
  /** Of Node. */
  readonly node: string
}

/** The state of one broker at the moment of a scrape. */
export interface MetricsSource {
  readonly counters: BrokerMetrics
  /** Kafka's numbers: 0 not running, 1 starting, 2 recovering, 3 running, 6 and 7 shutting down. */
  brokerState(): number
  partitions(): Iterable<PartitionGauges>
  /** How many partitions of this broker have no log, since it cannot be made. */
  unmadePartitions(): number
  /** The groups that this broker coordinates. */
  groups(slices: Slices): Promise<readonly GroupGauges[]>
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
  controller(): ControllerGauges
  readonly build: BuildInfo
  /** Part of the last minute, 0 to 1, in which the event loop had nothing to do. */
  loopIdle(): number
  /** Between this process and disks; undefined where the machine does not tell. */
  diskTraffic(): { readonly readBytes: number; readonly writtenBytes: number } | undefined
  broker(): { readonly nodeId: number; readonly host: string; readonly port: number; readonly brokerCount: number }
}
