import type { ErrorCode } from '../base/error-code.ts'
import type { Uuid } from '../base/uuid.ts'
import type { ConfigLayers } from '../config/describe-config.ts'
import type { ControllerReply } from '../core/metadata/controller/replies.ts'
import type { Clock } from '../io/clock.ts'
import type { LogSink } from '../io/log-sink.ts'
import type { ClusterView } from './cluster-view.ts'
import type { Deadlines } from './deadlines.ts'
import type { FetchSessions } from './fetch/fetch-session.ts'
import type { GroupCoordinator } from './groups/group-coordinator.ts'
import type { ControllerRequest } from './metadata/metadata-node.ts'
import type { BrokerMetrics } from './metrics/broker-metrics.ts'
import type { Request } from './network/request.ts'
import type { Partition } from './partition.ts'
import type { ProducerIds } from './producer-ids.ts'

export interface NodeEndpoint {
  readonly nodeId: number
  readonly host: string
  readonly port: number
  readonly rack: string | null
}

export interface PartitionLookup {
  byId(topicId: Uuid, index: number): Partition | undefined
  byName(topic: string, index: number): Partition | undefined
  /** Why there is none: UNKNOWN_TOPIC_OR_PARTITION, or KAFKA_STORAGE_ERROR while its log cannot be made. */
  absenceById(topicId: Uuid, index: number): ErrorCode
  absenceByName(topic: string, index: number): ErrorCode
}

export interface FeatureView {
  readonly supported: readonly { readonly name: string; readonly minVersion: number; readonly maxVersion: number }[]
  readonly finalized: readonly {
    readonly name: string
    readonly minVersionLevel: number
    readonly maxVersionLevel: number
  }[]
  readonly finalizedEpoch: number
}

/** Settings that handlers read at each request, since they may change. */
export interface HandlerSettings {
  readonly fetchMaxBytes: number
  readonly autoCreateTopics: boolean
  readonly maxPartitionsPerAnswer: number
}

/** What the handlers of one broker work with. */
export interface BrokerServices {
  readonly clock: Clock
  readonly log: LogSink
  readonly deadlines: Deadlines
  readonly metrics: BrokerMetrics
  readonly nodeId: number
  readonly clusterId: string
  readonly config: HandlerSettings
  readonly partitions: PartitionLookup
  readonly cluster: ClusterView
  readonly groups: GroupCoordinator
  readonly fetchSessions: FetchSessions
  readonly producerIds: ProducerIds
  features(): FeatureView
  /** Carried out by the active controller, wherever it is. */
  controller(request: ControllerRequest): Promise<ControllerReply>
  configLayers(): ConfigLayers
  /** What is set for one resource in the metadata; empty where nothing is. */
  resourceConfig(resourceType: number, resourceName: string): ReadonlyMap<string, string>
  /** An invariant is broken: the broker stops. */
  fail(error: Error): void
  /** Creates topics that a client named and that do not exist; resolves when those that could be are served. */
  createMissingTopics(names: readonly string[]): Promise<void>
  /** Whether a topic of this name was deleted, and this is the first time since that a client has it created by asking. */
  takeDeleted(name: string): boolean
  /** Brokers as the client that asks can reach them. */
  nodeEndpoints(request: Request): readonly NodeEndpoint[]
}
