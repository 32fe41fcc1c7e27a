import { ErrorCode } from '../../base/error-code.ts'
import type { Uuid } from '../../base/uuid.ts'
import {
  type DescribeTopicPartitionsResponse,
  describeTopicPartitionsRequest,
  describeTopicPartitionsResponse,
} from '../../protocol/messages/describe-topic-partitions.ts'
import type { Input } from '../../protocol/schema.ts'
import { metadataApi } from '../cluster/api-messages.ts'
import type { Cluster } from '../cluster/cluster.ts'
import type { Outcomes } from '../cluster/leader-requests.ts'
import { brokerError, toMillraceError } from '../millrace-error.ts'
import { type AdminOptions, type AdminResult, eachResource, resultOf } from './admin-result.ts'
import { adminLane } from './controller.ts'

const describeTopicPartitionsApi = {
  request: describeTopicPartitionsRequest,
  response: describeTopicPartitionsResponse,
}

export interface PartitionDescription {
  readonly partition: number
  /** -1: none at present. */
  readonly leader: number
  readonly leaderEpoch: number
  /** The preferred leader first. */
  readonly replicas: readonly number[]
  readonly isr: readonly number[]
  /** May lead without loss though not in sync; undefined where the broker does not say. */
  readonly elr: readonly number[] | undefined
  readonly offlineReplicas: readonly number[]
}

export interface TopicDescription {
  readonly topicId: Uuid
  readonly isInternal: boolean
  readonly partitions: readonly PartitionDescription[]
}

export interface ListedTopic {
  readonly name: string
  readonly topicId: Uuid
  readonly isInternal: boolean
  readonly partitionCount: number
}

export async function listTopics(cluster: Cluster, options: AdminOptions): Promise<ListedTopic[]> {
  const { timeoutMs = cluster.config.apiTimeoutMs } = options
  const answer = await cluster.retry('listing topics', timeoutMs, leftMs =>
    cluster.sendToAny(metadataApi, version => metadataBody(version, null), { lane: adminLane, timeoutMs: leftMs }),
  )
  return answer.topics
    .filter(({ name }) => name !== null)
    .map(({ name, topicId, isInternal, partitions }) => {
      return { name: name!, topicId, isInternal, partitionCount: partitions.length }
    })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
}

/** Nothing is created by asking. */
function metadataBody(version: number, names: readonly string[] | null) {
  const topics = names?.map(name => ({ name })) ?? (version === 0 ? [] : null)
  return version >= 4 ? { topics, allowAutoTopicCreation: false } : { topics }
}

export async function describeTopics(
  cluster: Cluster,
  names: readonly string[],
  options: AdminOptions,
): Promise<AdminResult<{ name: string }, TopicDescription>[]> {
  const outcomes = await eachResource<string, TopicDescription>(cluster, names, options, async (pending, leftMs) => {
    try {
      return await byDescribeTopicPartitions(cluster, pending, leftMs)
    } catch (thrown) {
      if (toMillraceError(thrown).code !== 'UNSUPPORTED_VERSION') throw thrown
      return byMetadata(cluster, pending, leftMs)
    }
  })
  return names.map(name => resultOf({ name }, outcomes.get(name)))
}

/** Page by page: one answer has a bounded number of partitions. */
async function byDescribeTopicPartitions(
  cluster: Cluster,
  names: readonly string[],
  leftMs: number,
): Promise<Outcomes<string, TopicDescription>> {
  const results: Outcomes<string, TopicDescription> = new Map()
  const topics = [...names].sort().map(name => ({ name }))
  let cursor: Cursor | null = null
  do {
    const body: Input<typeof describeTopicPartitionsRequest> = { topics, cursor }
    const answer: DescribeTopicPartitionsResponse = await cluster.sendToAny(describeTopicPartitionsApi, body, {
      lane: adminLane,
      timeoutMs: leftMs,
    })
    for (const { name, errorCode, topicId, isInternal, partitions } of answer.topics) {
      if (name === null) continue
      if (errorCode !== ErrorCode.none) {
        results.set(name, brokerError(errorCode, `topic ${name}`))
        continue
      }
      const described = partitions.map(one => ({ ...partitionOf(one), elr: one.eligibleLeaderReplicas ?? undefined }))
      const earlier = results.get(name)
      const before = earlier !== undefined && 'partitions' in earlier ? earlier.partitions : []
      results.set(name, { topicId, isInternal, partitions: [...before, ...described] })
    }
    cursor = isFurther(answer.nextCursor, cursor) ? answer.nextCursor : null
  } while (cursor !== null)
  return results
}

interface Cursor {
  readonly topicName: string
  readonly partitionIndex: number
}

/** A cursor that does not move on would never end. */
function isFurther(next: Cursor | null, last: Cursor | null): boolean {
  if (next === null || last === null || next.topicName > last.topicName) return true
  return next.topicName === last.topicName && next.partitionIndex > last.partitionIndex
}

async function byMetadata(
  cluster: Cluster,
  names: readonly string[],
  leftMs: number,
): Promise<Outcomes<string, TopicDescription>> {
  const options = { lane: adminLane, timeoutMs: leftMs }
  const answer = await cluster.sendToAny(metadataApi, version => metadataBody(version, names), options)
  const results: Outcomes<string, TopicDescription> = new Map()
  for (const { name, errorCode, topicId, isInternal, partitions } of answer.topics) {
    if (name === null) continue
    const described = partitions.map(one => ({ ...partitionOf(one), elr: undefined }))
    described.sort((a, b) => a.partition - b.partition)
    const isKnown = errorCode === ErrorCode.none
    const outcome = isKnown ? { topicId, isInternal, partitions: described } : brokerError(errorCode, `topic ${name}`)
    results.set(name, outcome)
  }
  return results
}

function partitionOf(one: {
  readonly partitionIndex: number
  readonly leaderId: number
  readonly leaderEpoch: number
  readonly replicaNodes: readonly number[]
  readonly isrNodes: readonly number[]
  readonly offlineReplicas: readonly number[]
}) {
  return {
    partition: one.partitionIndex,
    leader: one.leaderId,
    leaderEpoch: one.leaderEpoch,
    replicas: one.replicaNodes,
    isr: one.isrNodes,
    offlineReplicas: one.offlineReplicas,
  }
}
