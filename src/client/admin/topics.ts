import { ErrorCode } from '../../base/error-code.ts'
import { isUuid, type Uuid, zeroUuid } from '../../base/uuid.ts'
import { createPartitionsRequest, createPartitionsResponse } from '../../protocol/messages/create-partitions.ts'
import { createTopicsRequest, createTopicsResponse } from '../../protocol/messages/create-topics.ts'
import { deleteTopicsRequest, deleteTopicsResponse } from '../../protocol/messages/delete-topics.ts'
import type { Cluster } from '../cluster/cluster.ts'
import type { Outcomes } from '../cluster/leader-requests.ts'
import { brokerError } from '../millrace-error.ts'
import { type AdminOptions, type AdminResult, eachResource, resultOf } from './admin-result.ts'
import { noteControllerError, sendToController } from './controller.ts'

const createTopicsApi = { request: createTopicsRequest, response: createTopicsResponse }
const deleteTopicsApi = { request: deleteTopicsRequest, response: deleteTopicsResponse }
const createPartitionsApi = { request: createPartitionsRequest, response: createPartitionsResponse }

export interface NewTopic {
  readonly name: string
  /** As the brokers are configured unless given. */
  readonly partitions?: number
  readonly replicationFactor?: number
  /** Replicas by hand: for each partition the node ids, the preferred leader first. In place of the two above. */
  readonly assignments?: readonly (readonly number[])[]
  readonly configs?: Readonly<Record<string, string>>
}

export interface CreatedTopic {
  /** `zeroUuid` with brokers before 2.8. */
  readonly topicId: Uuid
  /** -1 with brokers before 2.4, and where the user may not see it. */
  readonly partitions: number
  readonly replicationFactor: number
  /** Those in force. Empty with brokers before 2.4, and where the user may not see them. */
  readonly configs: readonly { readonly name: string; readonly value: string | null; readonly isSensitive: boolean }[]
}

export interface ValidateOption {
  /** Say what would happen, and do nothing. */
  readonly validateOnly?: boolean
}

export async function createTopics(
  cluster: Cluster,
  topics: readonly NewTopic[],
  options: AdminOptions & ValidateOption,
): Promise<AdminResult<{ name: string }, CreatedTopic>[]> {
  const outcomes = await eachResource<NewTopic, CreatedTopic>(cluster, topics, options, async (pending, leftMs) => {
    const body = {
      topics: pending.map(topicBody),
      timeoutMs: Math.ceil(leftMs),
      validateOnly: options.validateOnly ?? false,
    }
    const answer = await sendToController(cluster, createTopicsApi, body, leftMs)
    const results: Outcomes<NewTopic, CreatedTopic> = new Map()
    for (const topic of pending) {
      const one = answer.topics.find(({ name }) => name === topic.name)
      if (one === undefined) continue
      noteControllerError(cluster, one.errorCode)
      if (one.errorCode !== ErrorCode.none) {
        results.set(topic, brokerError(one.errorCode, `topic ${topic.name}`, one.errorMessage))
        continue
      }
      const { topicId, numPartitions: partitions, replicationFactor } = one
      results.set(topic, { topicId, partitions, replicationFactor, configs: one.configs ?? [] })
    }
    return results
  })
  cluster.requestRefresh()
  return topics.map(topic => resultOf({ name: topic.name }, outcomes.get(topic)))
}

function topicBody({ name, partitions, replicationFactor, assignments = [], configs = {} }: NewTopic) {
  const isByHand = assignments.length > 0
  return {
    name,
    numPartitions: isByHand ? -1 : (partitions ?? -1),
    replicationFactor: isByHand ? -1 : (replicationFactor ?? -1),
    assignments: assignments.map((brokerIds, partitionIndex) => ({ partitionIndex, brokerIds })),
    configs: Object.entries(configs).map(([configName, value]) => ({ name: configName, value })),
  }
}

/** By name or, with brokers since 2.8, by id: `{ topicId }`. */
export type TopicRef = string | { readonly topicId: Uuid }

export async function deleteTopics(
  cluster: Cluster,
  topics: readonly TopicRef[],
  options: AdminOptions,
): Promise<AdminResult<{ name: string | undefined; topicId: Uuid | undefined }>[]> {
  const outcomes = await eachResource<TopicRef, object>(cluster, topics, options, async (pending, leftMs) => {
    const timeoutMs = Math.ceil(leftMs)
    const answer = await sendToController(
      cluster,
      deleteTopicsApi,
      version => {
        if (version >= 6) return { topics: pending.map(refBody), timeoutMs }
        return { topicNames: pending.map(nameOfRef), timeoutMs }
      },
      leftMs,
    )
    const results: Outcomes<TopicRef, object> = new Map()
    for (const topic of pending) {
      const one = answer.responses.find(({ name, topicId }) =>
        typeof topic === 'string' ? name === topic : topicId === topic.topicId,
      )
      if (one === undefined) continue
      noteControllerError(cluster, one.errorCode)
      const subject = typeof topic === 'string' ? `topic ${topic}` : `topic with id ${topic.topicId}`
      const isDone = one.errorCode === ErrorCode.none
      results.set(topic, isDone ? {} : brokerError(one.errorCode, subject, one.errorMessage))
    }
    return results
  })
  cluster.requestRefresh()
  return topics.map(topic => {
    const name = typeof topic === 'string' ? { name: topic, topicId: undefined } : { name: undefined, ...topic }
    return resultOf(name, outcomes.get(topic))
  })
}

function refBody(topic: TopicRef) {
  return typeof topic === 'string' ? { name: topic, topicId: zeroUuid } : { name: null, topicId: topic.topicId }
}

function nameOfRef(topic: TopicRef): string {
  if (typeof topic === 'string') return topic
  throw brokerError(ErrorCode.unsupportedVersion, `topic with id ${isUuid(topic.topicId) ? topic.topicId : '?'}`)
}

export interface MorePartitions {
  readonly topic: string
  /** How many there shall be in all. */
  readonly count: number
  /** Replicas of the new ones by hand. */
  readonly assignments?: readonly (readonly number[])[]
}

export async function createPartitions(
  cluster: Cluster,
  topics: readonly MorePartitions[],
  options: AdminOptions & ValidateOption,
): Promise<AdminResult<{ topic: string }>[]> {
  const outcomes = await eachResource<MorePartitions, object>(cluster, topics, options, async (pending, leftMs) => {
    const body = {
      topics: pending.map(({ topic, count, assignments }) => ({
        name: topic,
        count,
        assignments: assignments?.map(brokerIds => ({ brokerIds })) ?? null,
      })),
      timeoutMs: Math.ceil(leftMs),
      validateOnly: options.validateOnly ?? false,
    }
    const answer = await sendToController(cluster, createPartitionsApi, body, leftMs)
    const results: Outcomes<MorePartitions, object> = new Map()
    for (const topic of pending) {
      const one = answer.results.find(({ name }) => name === topic.topic)
      if (one === undefined) continue
      noteControllerError(cluster, one.errorCode)
      const isDone = one.errorCode === ErrorCode.none
      results.set(topic, isDone ? {} : brokerError(one.errorCode, `topic ${topic.topic}`, one.errorMessage))
    }
    return results
  })
  cluster.requestRefresh()
  return topics.map(topic => resultOf({ topic: topic.topic }, outcomes.get(topic)))
}
