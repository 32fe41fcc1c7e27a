import { ErrorCode } from '../../base/error-code.ts'
import {
  type ConfigLayers,
  type DescribedConfig,
  describeBroker,
  describeClientMetrics,
  describeCluster,
  describeGroup,
  describeTopic,
} from '../../config/describe-config.ts'
import { ResourceType } from '../../core/metadata/metadata-image.ts'
import { decode } from '../../protocol/codec.ts'
import {
  type DescribeConfigsRequest,
  type DescribeConfigsResource,
  describeConfigsRequest,
  describeConfigsResponse,
} from '../../protocol/messages/describe-configs.ts'
import type { ApiHandler } from '../api-handler.ts'
import type { BrokerServices } from '../services.ts'
import { isLegalTopicName } from '../topic-names.ts'

type Described =
  | { readonly type: 'configs'; readonly configs: readonly DescribedConfig[] }
  | { readonly type: 'error'; readonly errorCode: ErrorCode; readonly message: string }

export function describeConfigsHandler(services: BrokerServices): ApiHandler {
  return {
    apiKey: describeConfigsRequest.key,
    minVersion: describeConfigsRequest.minVersion,
    maxVersion: describeConfigsRequest.maxVersion,
    handle: request => {
      const body = decode(describeConfigsRequest, request.apiVersion, request.body)
      const results = body.resources.map(resource => resultOf(resource, describe(services, resource), body))
      request.errorCode = results.find(result => result.errorCode !== ErrorCode.none)?.errorCode ?? ErrorCode.none
      request.reply(describeConfigsResponse, { throttleTimeMs: request.throttleTimeMs, results })
    },
  }
}

function error(errorCode: ErrorCode, message: string): Described {
  return { type: 'error', errorCode, message }
}

function describe(services: BrokerServices, { resourceType, resourceName }: DescribeConfigsResource): Described {
  const layers = services.configLayers()
  const own = () => services.resourceConfig(resourceType, resourceName)
  switch (resourceType) {
    case ResourceType.topic:
      if (!isLegalTopicName(resourceName))
        return error(ErrorCode.invalidTopicException, `${resourceName} is no name of a topic`)
      if (services.cluster.topicByName(resourceName) === undefined) {
        return error(ErrorCode.unknownTopicOrPartition, 'This server does not host this topic-partition.')
      }
      return { type: 'configs', configs: describeTopic(own(), layers) }
    case ResourceType.broker:
      return resourceName === ''
        ? { type: 'configs', configs: describeCluster(layers.dynamic) }
        : ofBroker(services, resourceName, layers)
    case ResourceType.brokerLogger:
      return isThisBroker(services, resourceName)
        ? { type: 'configs', configs: [] }
        : wrongBroker(services, resourceName)
    case ResourceType.clientMetrics:
      if (resourceName === '')
        return error(ErrorCode.invalidRequest, 'Client metrics subscription name must not be empty')
      return { type: 'configs', configs: describeClientMetrics(own()) }
    case ResourceType.group:
      if (resourceName === '') return error(ErrorCode.invalidRequest, 'Group name must not be empty')
      return { type: 'configs', configs: describeGroup(own(), layers) }
    default:
      return error(ErrorCode.invalidRequest, `Unsupported resource type: ${resourceType}`)
  }
}

function ofBroker(services: BrokerServices, name: string, layers: ConfigLayers): Described {
  if (!isThisBroker(services, name)) return wrongBroker(services, name)
  return { type: 'configs', configs: describeBroker(layers) }
}

function isThisBroker(services: BrokerServices, name: string): boolean {
  return name === String(services.nodeId)
}

function wrongBroker(services: BrokerServices, name: string): Described {
  if (!/^-?\d+$/.test(name)) return error(ErrorCode.invalidRequest, `Broker id must be an integer, but it is: ${name}`)
  return error(
    ErrorCode.invalidRequest,
    `Unexpected broker id, expected ${services.nodeId} or empty string, but received ${name}`,
  )
}

function resultOf(
  { resourceType, resourceName, configurationKeys }: DescribeConfigsResource,
  described: Described,
  body: DescribeConfigsRequest,
) {
  const about = { resourceType, resourceName }
  if (described.type === 'error')
    return { ...about, errorCode: described.errorCode, errorMessage: described.message, configs: [] }
  const configs = asked(described.configs, configurationKeys).map(config => ({
    ...config,
    synonyms: body.includeSynonyms ? config.synonyms : [],
    documentation: body.includeDocumentation ? config.documentation : null,
  }))
  return { ...about, errorCode: ErrorCode.none, errorMessage: '', configs }
}

/** Each once and in the order asked for: some clients take the first of the answer for the first they named. */
function asked(configs: readonly DescribedConfig[], names: readonly string[] | null): readonly DescribedConfig[] {
  // No names mean all, whether they are null or an empty list.
  if (names === null || names.length === 0) return configs
  const byName = new Map(configs.map(config => [config.name, config]))
  return [...new Set(names)].flatMap(name => byName.get(name) ?? [])
}
