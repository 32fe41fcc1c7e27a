import { ErrorCode } from '../../base/error-code.ts'
import { zeroUuid } from '../../base/uuid.ts'
import { decode } from '../../protocol/codec.ts'
import {
  type DescribeTopicPartitionsRequest,
  describeTopicPartitionsRequest,
  describeTopicPartitionsResponse,
} from '../../protocol/messages/describe-topic-partitions.ts'
import type { ApiHandler } from '../api-handler.ts'
import { operationsNotAsked, topicOperations } from '../authorized-operations.ts'
import type { PartitionView, TopicView } from '../cluster-view.ts'
import type { Request } from '../network/request.ts'
import type { BrokerServices } from '../services.ts'
import { isInternalTopic, isLegalTopicName } from '../topic-names.ts'

type Cursor = { readonly topicName: string; readonly partitionIndex: number }

/** Topics in the order of their names, page by page (KIP-966). */
export function describeTopicPartitionsHandler(services: BrokerServices): ApiHandler {
  return {
    apiKey: describeTopicPartitionsRequest.key,
    minVersion: describeTopicPartitionsRequest.minVersion,
    maxVersion: describeTopicPartitionsRequest.maxVersion,
    handle: request => handleDescribeTopicPartitions(services, request),
  }
}

function handleDescribeTopicPartitions(services: BrokerServices, request: Request): void {
  const body = decode(describeTopicPartitionsRequest, request.apiVersion, request.body)
  const { cursor } = body
  const names = namesFrom(services, body, cursor)
  if (cursor !== null && !isGoodCursor(cursor, body, names)) {
    request.errorCode = ErrorCode.invalidRequest
    const topics = body.topics.map(({ name }) => failed(name, ErrorCode.invalidRequest))
    request.reply(describeTopicPartitionsResponse, { throttleTimeMs: request.throttleTimeMs, topics })
    return
  }
  const limit = Math.min(Math.max(1, body.responsePartitionLimit), services.config.maxPartitionsPerAnswer)
  const topics: ReturnType<typeof describe>[] = []
  let left = limit
  let nextCursor: Cursor | null = null
  for (const name of names) {
    const first = cursor?.topicName === name ? cursor.partitionIndex : 0
    if (left === 0) {
      nextCursor = { topicName: name, partitionIndex: first }
      break
    }
    const topic = services.cluster.topicByName(name)
    if (topic === undefined) {
      topics.push(unknown(name))
      continue
    }
    const end = Math.min(topic.partitionCount, first + left)
    topics.push(describe(topic, first, end))
    left -= Math.max(0, end - first)
    if (end < topic.partitionCount) {
      nextCursor = { topicName: name, partitionIndex: end }
      break
    }
  }
  request.reply(describeTopicPartitionsResponse, { throttleTimeMs: request.throttleTimeMs, topics, nextCursor })
}

function namesFrom(services: BrokerServices, body: DescribeTopicPartitionsRequest, cursor: Cursor | null): string[] {
  const asked =
    body.topics.length > 0
      ? body.topics.map(topic => topic.name)
      : [...services.cluster.topics()].map(topic => topic.name)
  const names = [...new Set(asked)].sort()
  return cursor === null ? names : names.filter(name => name >= cursor.topicName)
}

/** It names a partition of one of the topics that are asked for. */
function isGoodCursor(
  { topicName, partitionIndex }: Cursor,
  { topics }: DescribeTopicPartitionsRequest,
  names: readonly string[],
): boolean {
  return partitionIndex >= 0 && (topics.length === 0 || names[0] === topicName)
}

function unknown(name: string) {
  const errorCode = isLegalTopicName(name) ? ErrorCode.unknownTopicOrPartition : ErrorCode.invalidTopicException
  const topicAuthorizedOperations = topicOperations
  return { ...failed(name, errorCode), isInternal: isInternalTopic(name), topicAuthorizedOperations }
}

function failed(name: string, errorCode: ErrorCode) {
  return {
    errorCode,
    name,
    topicId: zeroUuid,
    isInternal: false,
    partitions: [] as ReturnType<typeof describePartition>[],
    topicAuthorizedOperations: operationsNotAsked,
  }
}

function describe(topic: TopicView, first: number, end: number) {
  const partitions = []
  for (let index = first; index < end; index++) {
    const partition = topic.partition(index)
    if (partition !== undefined) partitions.push(describePartition(partition))
  }
  return {
    errorCode: ErrorCode.none as ErrorCode,
    name: topic.name,
    topicId: topic.topicId,
    isInternal: topic.isInternal,
    partitions,
    topicAuthorizedOperations: topicOperations,
  }
}

function describePartition(partition: PartitionView) {
  return {
    errorCode: partition.leaderId < 0 ? ErrorCode.leaderNotAvailable : ErrorCode.none,
    partitionIndex: partition.index,
    leaderId: partition.leaderId,
    leaderEpoch: partition.leaderEpoch,
    replicaNodes: partition.replicas,
    isrNodes: partition.isr,
    eligibleLeaderReplicas: partition.elr,
    lastKnownElr: partition.lastKnownElr,
    offlineReplicas: partition.offlineReplicas,
  }
}
