import { ErrorCode } from '../../base/error-code.ts'
import { advertisedMinVersion, apiOf } from '../../protocol/apis.ts'
import { decode } from '../../protocol/codec.ts'
import {
  type ApiVersionsRequest,
  apiVersionsRequest,
  apiVersionsResponse,
} from '../../protocol/messages/api-versions.ts'
import type { ApiHandler } from '../api-handler.ts'
import type { Request } from '../network/request.ts'
import type { BrokerServices } from '../services.ts'

/** Kafka's rule for names and versions of client software (KIP-511). */
const softwareText = /^[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?$/

/** A feature that is off below its first level: versions up to 3 cannot say "from 0", so it is left out there. */
const firstVersionWithZeroFeatures = 4

export function apiVersionsHandler(services: BrokerServices, handlers: ReadonlyMap<number, ApiHandler>): ApiHandler {
  const self: ApiHandler = {
    apiKey: apiVersionsRequest.key,
    minVersion: apiVersionsRequest.minVersion,
    maxVersion: apiVersionsRequest.maxVersion,
    handle: request => handleApiVersions(services, handlers, self, request),
  }
  return self
}

function handleApiVersions(
  services: BrokerServices,
  handlers: ReadonlyMap<number, ApiHandler>,
  self: ApiHandler,
  request: Request,
): void {
  if (request.apiVersion < self.minVersion || request.apiVersion > self.maxVersion) {
    answerUnknownVersion(self, request)
    return
  }
  const body = decode(apiVersionsRequest, request.apiVersion, request.body)
  const errorCode = check(services, body, request.apiVersion)
  if (errorCode !== ErrorCode.none) {
    request.errorCode = errorCode
    request.reply(apiVersionsResponse, { errorCode, apiKeys: [], throttleTimeMs: 0 })
    return
  }
  if (request.apiVersion >= 3) {
    request.owner.clientSoftware = { name: body.clientSoftwareName, version: body.clientSoftwareVersion }
  }
  const { supported, finalized, finalizedEpoch } = services.features()
  const says = supported.filter(one => one.minVersion > 0 || request.apiVersion >= firstVersionWithZeroFeatures)
  request.reply(apiVersionsResponse, {
    errorCode,
    apiKeys: [...handlers.values()].map(rangeOf).sort((a, b) => a.apiKey - b.apiKey),
    throttleTimeMs: request.throttleTimeMs,
    supportedFeatures: says,
    finalizedFeaturesEpoch: finalizedEpoch,
    finalizedFeatures: finalized,
    zkMigrationReady: false,
  })
}

/** In the oldest layout, with the range of this one API, so that any client can ask again. */
function answerUnknownVersion(self: ApiHandler, request: Request): void {
  const errorCode = ErrorCode.unsupportedVersion
  request.errorCode = errorCode
  request.reply(apiVersionsResponse, { errorCode, apiKeys: [rangeOf(self)], throttleTimeMs: 0 }, 0)
}

function rangeOf({ apiKey, minVersion, maxVersion }: ApiHandler) {
  const api = apiOf(apiKey)
  const lowest = api !== undefined && api.minVersion === minVersion ? advertisedMinVersion(api) : minVersion
  return { apiKey, minVersion: lowest, maxVersion }
}

function check(services: BrokerServices, body: ApiVersionsRequest, version: number): ErrorCode {
  if (version >= 3 && !(softwareText.test(body.clientSoftwareName) && softwareText.test(body.clientSoftwareVersion))) {
    return ErrorCode.invalidRequest
  }
  if (version < 5) return ErrorCode.none
  const { clusterId, nodeId } = body
  if ((clusterId === null) !== (nodeId === -1)) return ErrorCode.invalidRequest
  if (clusterId === null) return ErrorCode.none
  // KIP-1242: the client meant another node, so what it knows of the cluster is stale.
  const isThisNode = clusterId === services.clusterId && nodeId === services.nodeId
  return isThisNode ? ErrorCode.none : ErrorCode.rebootstrapRequired
}
