import type { Uuid } from '../../base/uuid.ts'
import type { Endpoint } from '../../protocol/records/control.ts'
import type { VersionRange } from './messages.ts'
import type { ReplicaKey, Voter } from './voters.ts'

/** What one replica of the metadata quorum is told when it starts; never changed. */
export interface QuorumConfig {
  readonly nodeId: number
  /** Of the directory that holds the metadata log. */
  readonly directoryId: Uuid
  readonly clusterId: string
  /** Only controllers become voters. Brokers observe: they fetch and never vote, campaign or count. */
  readonly isController: boolean
  /** The controllers' listener. Endpoints of that name are where requests go. */
  readonly listenerName: string
  /** This node's own endpoints. */
  readonly listeners: readonly Endpoint[]
  /** `controller.quorum.bootstrap.servers`: whom to ask for the leader. Empty: the voters. */
  readonly bootstrapServers: readonly { readonly host: string; readonly port: number }[]
  /** The range of `kraft.version` that this node supports. */
  readonly kraftVersionFeature: VersionRange
  /** `controller.quorum.fetch.timeout.ms` */
  readonly fetchTimeoutMs: number
  /** `controller.quorum.election.timeout.ms` */
  readonly electionTimeoutMs: number
  /** `controller.quorum.election.backoff.max.ms` */
  readonly electionBackoffMaxMs: number
  /** `controller.quorum.request.timeout.ms` */
  readonly requestTimeoutMs: number
  /** `controller.quorum.retry.backoff.ms`; doubles with each failure in a row, up to 25 times. */
  readonly retryBackoffMs: number
  /** How long a leader may hold back an empty Fetch answer; Kafka: 500. */
  readonly fetchMaxWaitMs: number
  /** `controller.quorum.fetch.max.bytes` */
  readonly fetchMaxBytes: number
  /** `controller.quorum.fetch.snapshot.max.bytes` */
  readonly fetchSnapshotMaxBytes: number
  /** `controller.quorum.auto.join.enable` */
  readonly autoJoin: boolean
}

export function keyOf(config: QuorumConfig): ReplicaKey {
  return { id: config.nodeId, directoryId: config.directoryId }
}

/** This node as an entry of a voter set. */
export function voterOf(config: QuorumConfig): Voter {
  return { ...keyOf(config), endpoints: config.listeners, kraftVersionFeature: config.kraftVersionFeature }
}
