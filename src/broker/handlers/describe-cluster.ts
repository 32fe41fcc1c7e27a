import { ErrorCode } from '../../base/error-code.ts'
import { decode } from '../../protocol/codec.ts'
import { describeClusterRequest, describeClusterResponse } from '../../protocol/messages/describe-cluster.ts'
import type { ApiHandler } from '../api-handler.ts'
import { clusterOperations, operationsNotAsked } from '../authorized-operations.ts'
import type { Request } from '../network/request.ts'
import type { BrokerServices } from '../services.ts'

const brokerEndpoints = 1
const controllerEndpoints = 2

export function describeClusterHandler(services: BrokerServices): ApiHandler {
  return {
    apiKey: describeClusterRequest.key,
    minVersion: describeClusterRequest.minVersion,
    maxVersion: describeClusterRequest.maxVersion,
    handle: request => handleDescribeCluster(services, request),
  }
}

function handleDescribeCluster(services: BrokerServices, request: Request): void {
  const body = decode(describeClusterRequest, request.apiVersion, request.body)
  const { cluster } = services
  if (body.endpointType !== brokerEndpoints) {
    const isKnown = body.endpointType === controllerEndpoints
    const errorCode = isKnown ? ErrorCode.mismatchedEndpointType : ErrorCode.unsupportedEndpointType
    const errorMessage = isKnown
      ? 'This is a listener of brokers; controllers are described by a listener of controllers.'
      : `There is no endpoint type ${body.endpointType}.`
    request.errorCode = errorCode
    request.reply(describeClusterResponse, { throttleTimeMs: 0, errorCode, errorMessage, clusterId: '', brokers: [] })
    return
  }
  const brokers = cluster
    .brokers(request.owner.listenerName, request.owner.localPort)
    .filter(broker => body.includeFencedBrokers || !broker.isFenced)
    .map(({ nodeId, host, port, rack, isFenced }) => ({ brokerId: nodeId, host, port, rack, isFenced }))
  request.reply(describeClusterResponse, {
    throttleTimeMs: request.throttleTimeMs,
    errorCode: ErrorCode.none,
    endpointType: brokerEndpoints,
    clusterId: cluster.clusterId,
    controllerId: cluster.controllerId,
    brokers,
    clusterAuthorizedOperations: body.includeClusterAuthorizedOperations ? clusterOperations : operationsNotAsked,
  })
}
