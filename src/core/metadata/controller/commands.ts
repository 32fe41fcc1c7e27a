import type { AllocateProducerIdsRequest } from '../../../protocol/messages/allocate-producer-ids.ts'
import type { AlterConfigsRequest } from '../../../protocol/messages/alter-configs.ts'
import type { AlterPartitionRequest } from '../../../protocol/messages/alter-partition.ts'
import type { AssignReplicasToDirsRequest } from '../../../protocol/messages/assign-replicas-to-dirs.ts'
import type { BrokerHeartbeatRequest } from '../../../protocol/messages/broker-heartbeat.ts'
import type { BrokerRegistrationRequest } from '../../../protocol/messages/broker-registration.ts'
import type { ControllerRegistrationRequest } from '../../../protocol/messages/controller-registration.ts'
import type { CreatePartitionsRequest } from '../../../protocol/messages/create-partitions.ts'
import type { CreateTopicsRequest } from '../../../protocol/messages/create-topics.ts'
import type { DeleteTopicsRequest } from '../../../protocol/messages/delete-topics.ts'
import type { IncrementalAlterConfigsRequest } from '../../../protocol/messages/incremental-alter-configs.ts'
import type { UpdateFeaturesRequest } from '../../../protocol/messages/update-features.ts'
import type { RequestId } from '../../state-machine/state-machine.ts'
import type { KnownRecord } from '../records.ts'

interface Requested<Type extends string, Request> {
  readonly type: Type
  readonly requestId: RequestId
  readonly request: Request
}

/**
 * Requests of brokers and clients, each with its body as decoded from the wire, and the node's own. Whoever submits a
 * client's request has authorised it and taken out what was denied.
 */
export type ControllerCommand =
  | Requested<'registerBroker', BrokerRegistrationRequest>
  | Requested<'brokerHeartbeat', BrokerHeartbeatRequest>
  | Requested<'registerController', ControllerRegistrationRequest>
  | Requested<'createTopics', CreateTopicsRequest>
  /** The version tells which way topics are named, and how a controller that deletes none says so. */
  | (Requested<'deleteTopics', DeleteTopicsRequest> & { readonly apiVersion: number })
  | Requested<'createPartitions', CreatePartitionsRequest>
  | Requested<'incrementalAlterConfigs', IncrementalAlterConfigsRequest>
  | Requested<'alterConfigs', AlterConfigsRequest>
  | Requested<'alterPartition', AlterPartitionRequest>
  | Requested<'assignReplicasToDirs', AssignReplicasToDirsRequest>
  | Requested<'allocateProducerIds', AllocateProducerIdsRequest>
  | Requested<'updateFeatures', UpdateFeaturesRequest>
  | ActivateCommand
  | TimeoutCommand

/** The first after this controller has taken over: what a new cluster begins with, where the log is still without it. */
export interface ActivateCommand {
  readonly type: 'activate'
  readonly requestId?: undefined
  readonly bootstrapRecords: readonly KnownRecord[]
  /** Of the loader, at the moment the controller's state was taken from it. */
  readonly hasOpenTransaction: boolean
}

export interface TimeoutCommand {
  readonly type: 'timeout'
  readonly requestId?: undefined
}
