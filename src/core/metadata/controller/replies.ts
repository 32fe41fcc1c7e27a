import { assert, unreachable } from '../../../base/assert.ts'
import { ErrorCode, errorName } from '../../../base/error-code.ts'
import { zeroUuid } from '../../../base/uuid.ts'
import type { allocateProducerIdsResponse } from '../../../protocol/messages/allocate-producer-ids.ts'
import type { alterConfigsResponse } from '../../../protocol/messages/alter-configs.ts'
import type { alterPartitionResponse } from '../../../protocol/messages/alter-partition.ts'
import type { assignReplicasToDirsResponse } from '../../../protocol/messages/assign-replicas-to-dirs.ts'
import type { brokerHeartbeatResponse } from '../../../protocol/messages/broker-heartbeat.ts'
import type { brokerRegistrationResponse } from '../../../protocol/messages/broker-registration.ts'
import type { controllerRegistrationResponse } from '../../../protocol/messages/controller-registration.ts'
import type { createPartitionsResponse } from '../../../protocol/messages/create-partitions.ts'
import type { createTopicsResponse } from '../../../protocol/messages/create-topics.ts'
import type { deleteTopicsResponse } from '../../../protocol/messages/delete-topics.ts'
import type { incrementalAlterConfigsResponse } from '../../../protocol/messages/incremental-alter-configs.ts'
import type { updateFeaturesResponse } from '../../../protocol/messages/update-features.ts'
import type { Input } from '../../../protocol/schema.ts'
import type { ControllerCommand } from './commands.ts'

interface Replied<Type extends string, Response> {
  readonly type: Type
  /** The body of the answer, without the throttle time. */
  readonly response: Response
}

/** The answer to a command, under the command's type. */
export type ControllerReply =
  | Replied<'registerBroker', Input<typeof brokerRegistrationResponse>>
  | Replied<'brokerHeartbeat', Input<typeof brokerHeartbeatResponse>>
  | Replied<'registerController', Input<typeof controllerRegistrationResponse>>
  | Replied<'createTopics', Input<typeof createTopicsResponse>>
  | Replied<'deleteTopics', Input<typeof deleteTopicsResponse>>
  | Replied<'createPartitions', Input<typeof createPartitionsResponse>>
  | Replied<'incrementalAlterConfigs', Input<typeof incrementalAlterConfigsResponse>>
  | Replied<'alterConfigs', Input<typeof alterConfigsResponse>>
  | Replied<'alterPartition', Input<typeof alterPartitionResponse>>
  | Replied<'assignReplicasToDirs', Input<typeof assignReplicasToDirsResponse>>
  | Replied<'allocateProducerIds', Input<typeof allocateProducerIdsResponse>>
  | Replied<'updateFeatures', Input<typeof updateFeaturesResponse>>

/** What is wrong with one part of a request: Kafka's code, and its words where it has any. */
export interface ApiError {
  readonly errorCode: ErrorCode
  readonly message: string | null
}

export function apiError(errorCode: ErrorCode, message: string | null = null): ApiError {
  return { errorCode, message }
}

const throttleTimeMs = 0

const texts: ReadonlyMap<ErrorCode, string> = new Map([
  [ErrorCode.kafkaStorageError, 'The controller cannot write to its disk: it is full, or has failed.'],
])

/**
 * The answer to a request that as a whole was not carried out. The runner's codes for a coordinator that is not there mean
 * to clients of the controller that it is another node.
 */
export function failureReply(
  command: ControllerCommand,
  code: ErrorCode,
  message: string | null = null,
): ControllerReply {
  assert(isRequested(command), 'nobody waits for the answer to a command of the node itself')
  const errorCode = isElsewhere(code) ? ErrorCode.notController : code
  const errorMessage = message ?? texts.get(errorCode) ?? errorName(errorCode)
  switch (command.type) {
    case 'registerBroker':
      return { type: command.type, response: { throttleTimeMs, errorCode } }
    case 'brokerHeartbeat':
      return { type: command.type, response: { throttleTimeMs, errorCode, shouldShutDown: false } }
    case 'registerController':
      return { type: command.type, response: { throttleTimeMs, errorCode, errorMessage } }
    case 'createTopics': {
      const topics = command.request.topics.map(({ name }) => ({ name, errorCode, errorMessage }))
      return { type: command.type, response: { throttleTimeMs, topics } }
    }
    case 'deleteTopics':
      return {
        type: command.type,
        response: { throttleTimeMs, responses: failedDeletions(command, errorCode, errorMessage) },
      }
    case 'createPartitions': {
      const results = command.request.topics.map(({ name }) => ({ name, errorCode, errorMessage }))
      return { type: command.type, response: { throttleTimeMs, results } }
    }
    case 'incrementalAlterConfigs':
    case 'alterConfigs': {
      const responses = command.request.resources.map(({ resourceType, resourceName }) => ({
        ...{ resourceType, resourceName, errorCode, errorMessage },
      }))
      return { type: command.type, response: { throttleTimeMs, responses } }
    }
    case 'alterPartition':
      return { type: command.type, response: { throttleTimeMs, errorCode, topics: [] } }
    case 'assignReplicasToDirs':
      return { type: command.type, response: { throttleTimeMs, errorCode, directories: [] } }
    case 'allocateProducerIds':
      return { type: command.type, response: { throttleTimeMs, errorCode, producerIdStart: 0, producerIdLen: 0 } }
    case 'updateFeatures':
      return { type: command.type, response: { throttleTimeMs, errorCode, errorMessage } }
    default:
      return unreachable(command)
  }
}

type RequestedCommand = Exclude<ControllerCommand, { readonly requestId?: undefined }>

function isRequested(command: ControllerCommand): command is RequestedCommand {
  return command.requestId !== undefined
}

function isElsewhere(code: ErrorCode): boolean {
  return (
    code === ErrorCode.notCoordinator ||
    code === ErrorCode.coordinatorNotAvailable ||
    code === ErrorCode.coordinatorLoadInProgress ||
    code === ErrorCode.notLeaderOrFollower
  )
}

function failedDeletions(
  { request, apiVersion }: ControllerCommand & { readonly type: 'deleteTopics' },
  errorCode: ErrorCode,
  errorMessage: string,
) {
  if (apiVersion < 6) {
    return request.topicNames.map(name => ({ name, topicId: zeroUuid, errorCode, errorMessage }))
  }
  return request.topics.map(({ name, topicId }) => ({ name, topicId, errorCode, errorMessage }))
}
