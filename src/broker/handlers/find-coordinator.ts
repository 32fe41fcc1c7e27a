import { ErrorCode } from '../../base/error-code.ts'
import { decode } from '../../protocol/codec.ts'
import {
  type FindCoordinatorRequest,
  findCoordinatorRequest,
  findCoordinatorResponse,
} from '../../protocol/messages/find-coordinator.ts'
import { answerLater } from '../answer-later.ts'
import type { ApiHandler } from '../api-handler.ts'
import { groupTopic } from '../groups/group-coordinator.ts'
import type { Request } from '../network/request.ts'
import type { BrokerServices } from '../services.ts'

const keyType = { group: 0, transaction: 1, share: 2 }
const firstVersionWithBatches = 4

interface Found {
  readonly key: string
  readonly errorCode: ErrorCode
  readonly errorMessage: string | null
  readonly nodeId: number
  readonly host: string
  readonly port: number
}

/** Which broker coordinates a group. The groups' topic is created when it is first asked for. */
export function findCoordinatorHandler(services: BrokerServices): ApiHandler {
  return {
    apiKey: findCoordinatorRequest.key,
    minVersion: findCoordinatorRequest.minVersion,
    maxVersion: findCoordinatorRequest.maxVersion,
    handle: request => {
      const body = decode(findCoordinatorRequest, request.apiVersion, request.body)
      answerLater(services, request, handleFindCoordinator(services, request, body))
    },
  }
}

async function handleFindCoordinator(
  services: BrokerServices,
  request: Request,
  body: FindCoordinatorRequest,
): Promise<void> {
  const isBatch = request.apiVersion >= firstVersionWithBatches
  const keys = isBatch ? body.coordinatorKeys : [body.key]
  if (body.keyType === keyType.group && services.cluster.topicByName(groupTopic) === undefined) {
    await services.createMissingTopics([groupTopic])
  }
  const found = keys.map(key => find(services, request, key, body.keyType))
  request.errorCode = found.find(one => one.errorCode !== ErrorCode.none)?.errorCode ?? ErrorCode.none
  if (isBatch) request.reply(findCoordinatorResponse, { throttleTimeMs: request.throttleTimeMs, coordinators: found })
  else request.reply(findCoordinatorResponse, { ...single(found[0]), throttleTimeMs: request.throttleTimeMs })
}

/** As Kafka says it in the versions that have one answer. */
function single(found: Found): Found {
  return found.errorCode === ErrorCode.none ? { ...found, errorMessage: 'NONE' } : found
}

function find(services: BrokerServices, request: Request, key: string, type: number): Found {
  const failure = (errorCode: ErrorCode, errorMessage: string): Found => {
    return { key, errorCode, errorMessage, nodeId: -1, host: '', port: -1 }
  }
  switch (type) {
    case keyType.group:
      break
    case keyType.transaction:
      return failure(ErrorCode.transactionalIdAuthorizationFailed, 'This broker does not offer transactions yet.')
    case keyType.share:
      return failure(ErrorCode.invalidRequest, 'This broker does not offer share groups yet.')
    default:
      return failure(ErrorCode.invalidRequest, `There is no coordinator of type ${type}.`)
  }
  const index = services.groups.partitionOf(key)
  const leaderId =
    index === undefined ? -1 : (services.cluster.topicByName(groupTopic)?.partition(index)?.leaderId ?? -1)
  const node = services.nodeEndpoints(request).find(one => one.nodeId === leaderId)
  if (node === undefined)
    return failure(ErrorCode.coordinatorNotAvailable, `The partition of ${groupTopic} has no leader.`)
  return { key, errorCode: ErrorCode.none, errorMessage: '', nodeId: node.nodeId, host: node.host, port: node.port }
}
