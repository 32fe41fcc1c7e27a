import { ErrorCode } from '../../base/error-code.ts'
import type { Api, Body } from '../../channel/channel-options.ts'
import { alterConfigsRequest, alterConfigsResponse } from '../../protocol/messages/alter-configs.ts'
import { describeConfigsRequest, describeConfigsResponse } from '../../protocol/messages/describe-configs.ts'
import {
  incrementalAlterConfigsRequest,
  incrementalAlterConfigsResponse,
} from '../../protocol/messages/incremental-alter-configs.ts'
import type { Fields, Infer, Message } from '../../protocol/schema.ts'
import type { Cluster } from '../cluster/cluster.ts'
import type { Outcomes } from '../cluster/leader-requests.ts'
import { brokerError, invalidArgument } from '../millrace-error.ts'
import { type AdminOptions, type AdminResult, eachResource, resultOf } from './admin-result.ts'
import { adminLane, noteControllerError, sendToController } from './controller.ts'
import type { ValidateOption } from './topics.ts'

const describeConfigsApi = { request: describeConfigsRequest, response: describeConfigsResponse }
const alterConfigsApi = { request: alterConfigsRequest, response: alterConfigsResponse }
const incrementalAlterConfigsApi = {
  request: incrementalAlterConfigsRequest,
  response: incrementalAlterConfigsResponse,
}

const resourceTypes = { topic: 2, broker: 4, brokerLogger: 8, clientMetrics: 16, group: 32 } as const
const sources = [
  'unknown',
  'topic',
  'dynamicBroker',
  'dynamicDefaultBroker',
  'staticBroker',
  'default',
  'brokerLogger',
  'clientMetrics',
  'group',
] as const
const types = ['unknown', 'boolean', 'string', 'int', 'short', 'long', 'double', 'list', 'class', 'password'] as const
const operations = { set: 0, delete: 1, append: 2, subtract: 3 } as const

export interface ConfigResource {
  readonly type: keyof typeof resourceTypes
  /** A topic's or group's name, or a broker's node id. The empty name of type `broker` stands for all brokers. */
  readonly name: string
}

export type ConfigSource = (typeof sources)[number]

export interface ConfigEntry {
  readonly name: string
  /** null: not set, or withheld because it is sensitive. */
  readonly value: string | null
  readonly source: ConfigSource
  readonly type: (typeof types)[number]
  readonly isReadOnly: boolean
  readonly isSensitive: boolean
  /** Where the value could come from, the first that is set counts. Only where they were asked for. */
  readonly synonyms: readonly { readonly name: string; readonly value: string | null; readonly source: ConfigSource }[]
  readonly documentation: string | null
}

export interface ConfigQuery extends ConfigResource {
  /** All unless given. */
  readonly keys?: readonly string[]
}

export interface DescribeConfigsOptions extends AdminOptions {
  readonly includeSynonyms?: boolean
  readonly includeDocumentation?: boolean
}

export async function describeConfigs(
  cluster: Cluster,
  queries: readonly ConfigQuery[],
  options: DescribeConfigsOptions,
): Promise<AdminResult<ConfigResource, { configs: readonly ConfigEntry[] }>[]> {
  type Value = { configs: readonly ConfigEntry[] }
  const { includeSynonyms = false, includeDocumentation = false } = options
  const outcomes = await eachResource<ConfigQuery, Value>(cluster, queries, options, async (pending, leftMs) => {
    const results: Outcomes<ConfigQuery, Value> = new Map()
    const asked = [...byNode(pending)].map(async ([nodeId, ofNode]) => {
      const body = (version: number) => ({
        resources: ofNode.map(({ type, name, keys }) => ({
          resourceType: resourceTypes[type],
          resourceName: name,
          configurationKeys: keys ?? null,
        })),
        includeSynonyms,
        ...(version >= 3 ? { includeDocumentation } : {}),
      })
      const where = { lane: adminLane, timeoutMs: leftMs }
      if (nodeId !== undefined && cluster.metadata.broker(nodeId) === undefined) await cluster.refresh(leftMs)
      const answer =
        nodeId === undefined
          ? await cluster.sendToAny(describeConfigsApi, body, where)
          : await cluster.send(nodeId, describeConfigsApi, body, where)
      for (const query of ofNode) {
        const one = answer.results.find(result => isResource(result, query))
        if (one === undefined) continue
        const isDone = one.errorCode === ErrorCode.none
        const outcome = isDone ? { configs: one.configs.map(entryOf) } : configError(one, query)
        results.set(query, outcome)
      }
    })
    await Promise.all(asked)
    return results
  })
  return queries.map(query => resultOf({ type: query.type, name: query.name }, outcomes.get(query)))
}

/** What concerns one broker is asked of that broker; the rest of any. */
function byNode<R extends ConfigResource>(resources: readonly R[]): Map<number | undefined, R[]> {
  return Map.groupBy(resources, ({ type, name }) => {
    const isOfBroker = (type === 'broker' || type === 'brokerLogger') && name !== ''
    return isOfBroker ? Number(name) : undefined
  })
}

interface ResultHead {
  readonly errorCode: ErrorCode
  readonly errorMessage: string | null
  readonly resourceType: number
  readonly resourceName: string
}

function isResource({ resourceType, resourceName }: ResultHead, { type, name }: ConfigResource): boolean {
  return resourceType === resourceTypes[type] && resourceName === name
}

function configError({ errorCode, errorMessage }: ResultHead, { type, name }: ConfigResource) {
  const whose = type === 'broker' && name === '' ? 'all brokers' : `${type} ${name}`
  return brokerError(errorCode, `configs of ${whose}`, errorMessage)
}

function entryOf(one: {
  readonly name: string
  readonly value: string | null
  readonly readOnly: boolean
  readonly configSource: number
  readonly isSensitive: boolean
  readonly synonyms: readonly { readonly name: string; readonly value: string | null; readonly source: number }[]
  readonly configType: number
  readonly documentation: string | null
}): ConfigEntry {
  return {
    name: one.name,
    value: one.value,
    source: sources[one.configSource] ?? 'unknown',
    type: types[one.configType] ?? 'unknown',
    isReadOnly: one.readOnly,
    isSensitive: one.isSensitive,
    synonyms: one.synonyms.map(({ name, value, source }) => ({ name, value, source: sources[source] ?? 'unknown' })),
    documentation: one.documentation,
  }
}

export interface ConfigChange {
  readonly name: string
  /** `set` unless given. `delete` goes back to the default; `append` and `subtract` change lists. */
  readonly operation?: keyof typeof operations
  /** Not for `delete`. */
  readonly value?: string
}

export interface ConfigAlteration extends ConfigResource {
  readonly changes: readonly ConfigChange[]
}

/** Changes single settings; the others stay as they are. */
export async function alterConfigs(
  cluster: Cluster,
  alterations: readonly ConfigAlteration[],
  options: AdminOptions & ValidateOption,
): Promise<AdminResult<ConfigResource>[]> {
  for (const { changes } of alterations) {
    for (const { name, operation, value } of changes) {
      if (operation !== 'delete' && value === undefined) throw invalidArgument(`config ${name} is given no value`)
    }
  }
  return alter(cluster, alterations, options, async (pending, leftMs) => {
    const resources = pending.map(({ type, name, changes }) => ({
      resourceType: resourceTypes[type],
      resourceName: name,
      configs: changes.map(change => ({
        name: change.name,
        configOperation: operations[change.operation ?? 'set'],
        value: change.value ?? null,
      })),
    }))
    const body = { resources, validateOnly: options.validateOnly ?? false }
    return (await sendFor(cluster, incrementalAlterConfigsApi, pending, body, leftMs)).responses
  })
}

export interface ConfigReplacement extends ConfigResource {
  /** All that is to be set. */
  readonly configs: Readonly<Record<string, string>>
}

/** Replaces all settings of a resource: those that are not named go back to their defaults. For brokers before 2.3. */
export async function replaceConfigs(
  cluster: Cluster,
  replacements: readonly ConfigReplacement[],
  options: AdminOptions & ValidateOption,
): Promise<AdminResult<ConfigResource>[]> {
  return alter(cluster, replacements, options, async (pending, leftMs) => {
    const resources = pending.map(({ type, name, configs }) => ({
      resourceType: resourceTypes[type],
      resourceName: name,
      configs: Object.entries(configs).map(([configName, value]) => ({ name: configName, value })),
    }))
    const body = { resources, validateOnly: options.validateOnly ?? false }
    return (await sendFor(cluster, alterConfigsApi, pending, body, leftMs)).responses
  })
}

/** Loggers are of one broker, everything else is the controller's. Resources of one request all go to the same node. */
function sendFor<Q extends Fields, R extends Fields>(
  cluster: Cluster,
  api: Api<Q, R>,
  [first]: readonly ConfigResource[],
  body: Body<Q>,
  leftMs: number,
): Promise<Infer<Message<R>>> {
  if (first.type !== 'brokerLogger') return sendToController(cluster, api, body, leftMs)
  return cluster.send(Number(first.name), api, body, { lane: adminLane, timeoutMs: leftMs })
}

async function alter<R extends ConfigResource>(
  cluster: Cluster,
  resources: readonly R[],
  options: AdminOptions,
  send: (pending: readonly R[], leftMs: number) => Promise<readonly ResultHead[]>,
): Promise<AdminResult<ConfigResource>[]> {
  const outcomes = await eachResource<R, object>(cluster, resources, options, async (pending, leftMs) => {
    const results: Outcomes<R, object> = new Map()
    const groups = Map.groupBy(pending, ({ type, name }) => (type === 'brokerLogger' ? name : ''))
    const asked = [...groups.values()].map(async group => {
      const heads = await send(group, leftMs)
      for (const resource of group) {
        const one = heads.find(head => isResource(head, resource))
        if (one === undefined) continue
        noteControllerError(cluster, one.errorCode)
        results.set(resource, one.errorCode === ErrorCode.none ? {} : configError(one, resource))
      }
    })
    await Promise.all(asked)
    return results
  })
  return resources.map(resource => resultOf({ type: resource.type, name: resource.name }, outcomes.get(resource)))
}
