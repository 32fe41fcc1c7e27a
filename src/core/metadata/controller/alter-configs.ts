import { ErrorCode } from '../../../base/error-code.ts'
import {
  alterList,
  type ConfigRefusal,
  checkBrokerConfig,
  checkClientMetricsConfig,
  checkGroupConfig,
  checkTopicConfig,
} from '../../../config/alter-config.ts'
import { brokerSetting } from '../../../config/broker-settings.ts'
import { effectiveTexts } from '../../../config/effective-config.ts'
import type { StaticTexts } from '../../../config/load-config.ts'
import type { Setting } from '../../../config/setting.ts'
import { checkThreadCounts } from '../../../config/thread-counts.ts'
import { topicSetting } from '../../../config/topic-config.ts'
import type { AlterableConfig } from '../../../protocol/messages/incremental-alter-configs.ts'
import { ResourceType } from '../metadata-image.ts'
import type { KnownRecord, RecordOf } from '../records.ts'
import { topicNameProblem } from '../topic-name.ts'
import type { ControllerCommand } from './commands.ts'
import { type ControllerState, configLayers, isElrEnabled, textsInForce } from './controller-state.ts'
import type { Draft } from './draft.ts'
import { type ApiError, apiError } from './replies.ts'

interface Resource {
  readonly resourceType: number
  readonly resourceName: string
}

type Config = ReadonlyMap<string, string>

const Operation = { set: 0, delete: 1, append: 2, subtract: 3 } as const

/** Changes some settings of each resource and leaves the others. */
export function decideIncrementalAlterConfigs(
  command: ControllerCommand & { readonly type: 'incrementalAlterConfigs' },
  state: ControllerState,
  draft: Draft,
): Draft {
  const { resources, validateOnly } = command.request
  const responses = decideResources(resources, validateOnly, state, draft, resource => {
    const names = resource.configs.map(({ name }) => name)
    const nulls = resource.configs.filter(one => one.configOperation !== Operation.delete && one.value === null)
    return (
      namesError(
        names,
        nulls.map(({ name }) => name),
      ) ?? operate(resource, resource.configs, state.metadata.config(resource.resourceType, resource.resourceName))
    )
  })
  return draft.reply(command, { type: command.type, response: { throttleTimeMs: 0, responses } })
}

/** Replaces all settings of each resource. */
export function decideAlterConfigs(
  command: ControllerCommand & { readonly type: 'alterConfigs' },
  state: ControllerState,
  draft: Draft,
): Draft {
  const { resources, validateOnly } = command.request
  const responses = decideResources(resources, validateOnly, state, draft, ({ configs }) => {
    const names = configs.map(({ name }) => name)
    const nulls = configs.filter(({ value }) => value === null).map(({ name }) => name)
    return namesError(names, nulls) ?? new Map(configs.map(({ name, value }) => [name, value ?? '']))
  })
  return draft.reply(command, { type: command.type, response: { throttleTimeMs: 0, responses } })
}

/** `alter` gives all settings that a resource will have. Each resource succeeds or fails for itself. */
function decideResources<R extends Resource>(
  resources: readonly R[],
  validateOnly: boolean,
  state: ControllerState,
  draft: Draft,
  alter: (resource: R) => Config | ApiError,
) {
  const named = Map.groupBy(resources, ({ resourceType, resourceName }) => `${resourceType} ${resourceName}`)
  return [...named.values()].map(same => {
    const [resource] = same
    const error = same.length > 1 ? duplicateResource : decideResource(resource, validateOnly, state, draft, alter)
    const { resourceType, resourceName } = resource
    const { errorCode, message: errorMessage } = error ?? apiError(ErrorCode.none)
    return { errorCode, errorMessage, resourceType, resourceName }
  })
}

const duplicateResource = apiError(ErrorCode.invalidRequest, 'Each resource must appear at most once.')

function decideResource<R extends Resource>(
  resource: R,
  validateOnly: boolean,
  state: ControllerState,
  draft: Draft,
  alter: (resource: R) => Config | ApiError,
): ApiError | undefined {
  const wrongResource = resourceError(resource, state)
  if (wrongResource) return wrongResource
  const after = alter(resource)
  if ('errorCode' in after) return after
  const before = state.metadata.config(resource.resourceType, resource.resourceName)
  const refusal = elrRefusal(resource, before, after, state) ?? check(resource, after, state)
  if (refusal) return apiError(refusal.errorCode, refusal.message)
  if (!validateOnly) draft.add(...changes(resource, before, after, state))
  return undefined
}

function namesError(names: readonly string[], nulls: readonly string[]): ApiError | undefined {
  if (new Set(names).size !== names.length) {
    return apiError(ErrorCode.invalidRequest, 'Error due to duplicate config keys')
  }
  if (nulls.length === 0) return undefined
  return apiError(ErrorCode.invalidRequest, `Null value not supported for : ${nulls.join(', ')}`)
}

function resourceError({ resourceType, resourceName }: Resource, { metadata }: ControllerState): ApiError | undefined {
  switch (resourceType) {
    case ResourceType.topic: {
      if (resourceName === '') return apiError(ErrorCode.invalidRequest, 'Default topic resources are not allowed.')
      const problem = topicNameProblem(resourceName)
      if (problem !== undefined) return apiError(ErrorCode.invalidTopicException, problem)
      if (metadata.topicIdOf(resourceName) !== undefined) return undefined
      return apiError(ErrorCode.unknownTopicOrPartition, `The topic '${resourceName}' does not exist.`)
    }
    case ResourceType.broker:
      if (resourceName === '' || /^\d{1,10}$/.test(resourceName)) return undefined
      return apiError(ErrorCode.invalidRequest, 'Unable to parse broker name as a base 10 number.')
    case ResourceType.clientMetrics:
      if (resourceName !== '') return undefined
      return apiError(ErrorCode.invalidRequest, "Subscription name can't be empty")
    case ResourceType.group:
      if (resourceName !== '') return undefined
      return apiError(ErrorCode.invalidRequest, 'Default group resources are not allowed.')
    default:
      return apiError(ErrorCode.invalidRequest, `Unknown resource type ${resourceType}`)
  }
}

function operate(resource: Resource, operations: readonly AlterableConfig[], before: Config): Config | ApiError {
  const after = new Map(before)
  for (const { name, configOperation, value } of operations) {
    switch (configOperation) {
      case Operation.set:
        after.set(name, value ?? '')
        break
      case Operation.delete:
        after.delete(name)
        break
      case Operation.append:
      case Operation.subtract: {
        const operation = configOperation === Operation.append ? 'append' : 'subtract'
        const list = alterList(settingOf(resource, name), after.get(name), { operation, elements: value ?? '' })
        if (list === undefined) {
          const what = operation.toUpperCase()
          return apiError(ErrorCode.invalidConfig, `Can't ${what} to key ${name} because its type is not LIST.`)
        }
        after.set(name, list)
        break
      }
      default:
        return apiError(ErrorCode.invalidRequest, `Unsupported operation type ${configOperation}`)
    }
  }
  return after
}

/** Only of topics and brokers Kafka knows which are lists. */
function settingOf({ resourceType }: Resource, name: string): Setting | undefined {
  if (resourceType === ResourceType.topic) return topicSetting(name)
  return resourceType === ResourceType.broker ? brokerSetting(name) : undefined
}

function check({ resourceType, resourceName }: Resource, after: Config, state: ControllerState) {
  switch (resourceType) {
    case ResourceType.topic:
      return checkTopicConfig(after, textsInForce(state))
    case ResourceType.broker:
      return (
        checkBrokerConfig({ isCluster: resourceName === '', texts: after }, state.options.texts) ??
        checkThreadCounts(textsInForce(state), textsInForceAfter(resourceName, after, state))
      )
    case ResourceType.group:
      return checkGroupConfig(after, textsInForce(state))
    default:
      return checkClientMetricsConfig(after)
  }
}

/** What would be in force on this node. Which of the settings of another are can be said there only. */
function textsInForceAfter(resourceName: string, after: Config, state: ControllerState): StaticTexts {
  const { texts, dynamic } = configLayers(state)
  if (resourceName === '') return effectiveTexts(texts, { ...dynamic, cluster: after })
  return effectiveTexts(texts, resourceName === String(state.options.nodeId) ? { ...dynamic, broker: after } : dynamic)
}

const minInsync = 'min.insync.replicas'

/** With eligible leader replicas the minimum is one for the whole cluster, and there is one. */
function elrRefusal({ resourceType, resourceName }: Resource, before: Config, after: Config, state: ControllerState) {
  if (!isElrEnabled(state) || resourceType !== ResourceType.broker) return undefined
  const isRemoved = resourceName === '' && before.has(minInsync) && !after.has(minInsync)
  const isOfOne = resourceName !== '' && after.get(minInsync) !== before.get(minInsync)
  if (!isRemoved && !isOfOne) return undefined
  const message = isOfOne
    ? 'Broker-level min.insync.replicas cannot be altered while ELR is enabled.'
    : 'Cluster-level min.insync.replicas cannot be removed while ELR is enabled.'
  return { errorCode: ErrorCode.invalidConfig, message } satisfies ConfigRefusal
}

function changes(resource: Resource, before: Config, after: Config, state: ControllerState): KnownRecord[] {
  const { resourceType, resourceName } = resource
  const records: KnownRecord[] = []
  for (const name of new Set([...before.keys(), ...after.keys()])) {
    const value = after.get(name) ?? null
    if (value === (before.get(name) ?? null)) continue
    records.push({ type: 'config', version: 0, resourceType, resourceName, name, value })
  }
  const changesMinimum = records.some(record => record.type === 'config' && record.name === minInsync)
  const isOfTopicsOrAll = resourceType === ResourceType.topic || resourceType === ResourceType.broker
  if (changesMinimum && isOfTopicsOrAll && isElrEnabled(state)) {
    records.push(clearElrRecord(resourceType === ResourceType.topic ? resourceName : ''))
  }
  return records
}

/** Who is eligible under one minimum of in-sync replicas may not be under another. Of all topics with the name ''. */
export function clearElrRecord(topicName: string): RecordOf<'clearElr'> {
  return { type: 'clearElr', version: 0, topicName }
}
