import { ErrorCode } from '../../../base/error-code.ts'
import { randomUuid, type Uuid } from '../../../base/uuid.ts'
import { checkTopicConfig } from '../../../config/alter-config.ts'
import { describeNewTopic } from '../../../config/describe-config.ts'
import type { CreatableTopic } from '../../../protocol/messages/create-topics.ts'
import { ResourceType } from '../metadata-image.ts'
import type { KnownRecord } from '../records.ts'
import { collisionKey, metadataTopic, topicNameProblem } from '../topic-name.ts'
import { clearElrRecord } from './alter-configs.ts'
import type { ControllerCommand } from './commands.ts'
import { type ControllerState, configLayers, isElrEnabled, textsInForce } from './controller-state.ts'
import type { Draft } from './draft.ts'
import {
  type Assignments,
  isApiError,
  manualAssignmentProblem,
  maxPartitionsPerRequest,
  newPartition,
  noActiveReplicaProblem,
  placeNewPartitions,
} from './new-partitions.ts'
import { type ApiError, apiError, failureReply } from './replies.ts'

type CreateTopicsCommand = ControllerCommand & { readonly type: 'createTopics' }

/** A topic that can be created. */
interface NewTopic {
  readonly id: Uuid
  readonly name: string
  readonly config: ReadonlyMap<string, string>
  readonly assignments: Assignments
}

/** Creates each topic of the request that can be, all in one batch; the others are answered with what is wrong. */
export function decideCreateTopics(command: CreateTopicsCommand, state: ControllerState, draft: Draft): Draft {
  const { request } = command
  const unique = uniqueTopics(request.topics)
  if (partitionsWanted(unique, state) > maxPartitionsPerRequest) {
    const message = 'Excessively large number of partitions per request.'
    return draft.reply(command, failureReply(command, ErrorCode.policyViolation, message))
  }
  const collidingTopic = collisionsWith(state.metadata.topics())
  const topics = unique.map(({ topic, isDuplicate }) => {
    const created = isDuplicate
      ? apiError(ErrorCode.invalidRequest, 'Duplicate topic name.')
      : decideTopic(topic, state, collidingTopic)
    if ('errorCode' in created) return failed(topic.name, created)
    if (!request.validateOnly) draft.add(...recordsOf(created, state))
    return succeeded(created, state)
  })
  return draft.reply(command, { type: command.type, response: { throttleTimeMs: 0, topics } })
}

interface UniqueTopic {
  readonly topic: CreatableTopic
  readonly isDuplicate: boolean
}

/** By those that are not refused for their name alone. */
function partitionsWanted(topics: readonly UniqueTopic[], { options }: ControllerState): number {
  let wanted = 0
  for (const { topic, isDuplicate } of topics) {
    const { name, assignments, numPartitions } = topic
    if (isDuplicate || name === metadataTopic) continue
    const byNumber = numPartitions === -1 ? options.config.numPartitions : Math.max(0, numPartitions)
    wanted += assignments.length > 0 ? assignments.length : byNumber
  }
  return wanted
}

/** Each name once, and whether it was there more often. */
function uniqueTopics(topics: readonly CreatableTopic[]): UniqueTopic[] {
  const byName = Map.groupBy(topics, topic => topic.name)
  return [...byName.values()].map(same => ({ topic: same[0], isDuplicate: same.length > 1 }))
}

function decideTopic(
  topic: CreatableTopic,
  state: ControllerState,
  collidingTopic: CollidingTopic,
): NewTopic | ApiError {
  const { name } = topic
  const wrongName = nameError(name, state, collidingTopic)
  if (wrongName) return wrongName
  const config = configOf(topic)
  if ('errorCode' in config) return config
  const refusal = checkTopicConfig(config, textsInForce(state))
  if (refusal) return apiError(refusal.errorCode, refusal.message)
  const assignments = topic.assignments.length > 0 ? manualAssignments(topic, state) : chosenAssignments(topic, state)
  if (isApiError(assignments)) return assignments
  return { id: randomUuid(state.options.random), name, config, assignments }
}

function nameError(name: string, { metadata }: ControllerState, collidingTopic: CollidingTopic): ApiError | undefined {
  const problem = topicNameProblem(name)
  if (problem !== undefined) return apiError(ErrorCode.invalidTopicException, problem)
  if (name === metadataTopic) {
    return apiError(ErrorCode.invalidRequest, `Creation of internal topic ${metadataTopic} is prohibited.`)
  }
  if (metadata.topicIdOf(name) !== undefined) {
    return apiError(ErrorCode.topicAlreadyExists, `Topic '${name}' already exists.`)
  }
  const other = collidingTopic(name)
  if (other === undefined) return undefined
  return apiError(ErrorCode.invalidTopicException, `Topic '${name}' collides with existing topic: ${other}`)
}

type CollidingTopic = (name: string) => string | undefined

/** Looks through the topics that are there once, when the first name asks for it: a request may have thousands of names. */
function collisionsWith(topics: Iterable<{ readonly name: string }>): CollidingTopic {
  let byKey: Map<string, string> | undefined
  return name => {
    const key = collisionKey(name)
    if (key === undefined) return undefined
    byKey ??= namesByKey(topics)
    return byKey.get(key)
  }
}

function namesByKey(topics: Iterable<{ readonly name: string }>): Map<string, string> {
  const byKey = new Map<string, string>()
  for (const { name } of topics) {
    const key = collisionKey(name)
    if (key !== undefined && !byKey.has(key)) byKey.set(key, name)
  }
  return byKey
}

function configOf({ configs }: CreatableTopic): ReadonlyMap<string, string> | ApiError {
  const config = new Map<string, string>()
  const nulls = configs.filter(({ value }) => value === null).map(({ name }) => name)
  if (nulls.length > 0) {
    return apiError(ErrorCode.invalidConfig, `Null value not supported for topic configs: ${nulls.join(',')}`)
  }
  for (const { name, value } of configs) config.set(name, value ?? '')
  return config
}

function manualAssignments(
  { replicationFactor, numPartitions, assignments }: CreatableTopic,
  state: ControllerState,
): Assignments | ApiError {
  const manual = 'A manual partition assignment was specified, but'
  if (replicationFactor !== -1) {
    return apiError(ErrorCode.invalidRequest, `${manual} replication factor was not set to -1.`)
  }
  if (numPartitions !== -1) return apiError(ErrorCode.invalidRequest, `${manual} numPartitions was not set to -1.`)

  const replicas = new Map<number, readonly number[]>()
  for (const { partitionIndex, brokerIds } of assignments) {
    const first = assignments[0].brokerIds.length
    const problem = replicas.has(partitionIndex)
      ? `Found multiple manual partition assignments for partition ${partitionIndex}`
      : (manualAssignmentProblem(state, brokerIds, replicas.size > 0 ? first : undefined) ??
        noActiveReplicaProblem(state, partitionIndex, brokerIds))
    if (problem !== undefined) return apiError(ErrorCode.invalidReplicaAssignment, problem)
    replicas.set(partitionIndex, brokerIds)
  }
  const ordered = Array.from({ length: replicas.size }, (_, id) => replicas.get(id))
  if (ordered.every(one => one !== undefined)) return ordered
  return apiError(ErrorCode.invalidReplicaAssignment, 'partitions should be a consecutive 0-based integer sequence')
}

function chosenAssignments(
  { replicationFactor, numPartitions }: CreatableTopic,
  state: ControllerState,
): Assignments | ApiError {
  const { config } = state.options
  if (replicationFactor < -1 || replicationFactor === 0) {
    const message = 'Replication factor must be larger than 0, or -1 to use the default value.'
    return apiError(ErrorCode.invalidReplicationFactor, message)
  }
  if (numPartitions < -1 || numPartitions === 0) {
    const message = 'Number of partitions was set to an invalid non-positive value.'
    return apiError(ErrorCode.invalidPartitions, message)
  }
  return placeNewPartitions(state, {
    partitions: numPartitions === -1 ? config.numPartitions : numPartitions,
    replicationFactor: replicationFactor === -1 ? config.defaultReplicationFactor : replicationFactor,
  })
}

function recordsOf({ id: topicId, name, config, assignments }: NewTopic, state: ControllerState): KnownRecord[] {
  const records: KnownRecord[] = [{ type: 'topic', version: 0, name, topicId }]
  for (const [key, value] of config) {
    const resource = { resourceType: ResourceType.topic, resourceName: name }
    records.push({ type: 'config', version: 0, ...resource, name: key, value })
  }
  if (config.has('min.insync.replicas') && isElrEnabled(state)) records.push(clearElrRecord(name))
  for (const [partition, replicas] of assignments.entries()) {
    records.push(newPartition(state, { topicId, partition, replicas }))
  }
  return records
}

function succeeded({ id, name, config, assignments }: NewTopic, state: ControllerState) {
  return {
    name,
    topicId: id,
    errorCode: ErrorCode.none,
    errorMessage: null,
    numPartitions: assignments.length,
    replicationFactor: assignments[0].length,
    configs: describeNewTopic(config, configLayers(state)),
  }
}

function failed(name: string, { errorCode, message }: ApiError) {
  return { name, errorCode, errorMessage: message, configs: [] }
}
