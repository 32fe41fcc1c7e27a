import { ErrorCode } from '../../base/error-code.ts'
import { type Uuid, zeroUuid } from '../../base/uuid.ts'
import { decode } from '../../protocol/codec.ts'
import { type MetadataRequest, metadataRequest, metadataResponse } from '../../protocol/messages/metadata.ts'
import { answerLater } from '../answer-later.ts'
import type { ApiHandler } from '../api-handler.ts'
import { clusterOperations, operationsNotAsked, topicOperations } from '../authorized-operations.ts'
import type { NodeView, PartitionView, TopicView } from '../cluster-view.ts'
import { groupTopic } from '../groups/group-coordinator.ts'
import type { Request } from '../network/request.ts'
import type { BrokerServices } from '../services.ts'
import { isInternalTopic, isLegalTopicName } from '../topic-names.ts'

/** The version in which a partition's error may say that its leader has no such listener. */
const firstVersionWithListenerError = 6
const firstVersionWithIds = 12

/** A topic of the answer: one that exists, or why there is none. */
type Answered =
  | { readonly type: 'topic'; readonly topic: TopicView }
  | { readonly type: 'error'; readonly errorCode: ErrorCode; readonly name: string | null; readonly topicId: Uuid }

export function metadataHandler(services: BrokerServices): ApiHandler {
  return {
    apiKey: metadataRequest.key,
    minVersion: metadataRequest.minVersion,
    maxVersion: metadataRequest.maxVersion,
    handle: request => handleMetadata(services, request),
  }
}

function handleMetadata(services: BrokerServices, request: Request): void {
  const body = decode(metadataRequest, request.apiVersion, request.body)
  if (namesByIdTooEarly(body, request.apiVersion)) {
    refuse(request, body)
    return
  }
  const missing = missingTopics(services, body)
  // Whoever deleted a topic is first told that it is gone, as by Kafka, though it is created anew meanwhile.
  const gone = new Set(missing.filter(name => services.takeDeleted(name)))
  const awaited = missing.filter(name => !gone.has(name))
  if (gone.size > 0) answerLater(services, request, services.createMissingTopics([...gone]))
  if (awaited.length === 0) answer(services, request, body)
  else
    answerLater(
      services,
      request,
      services.createMissingTopics(awaited).then(() => answer(services, request, body)),
    )
}

function asksForAll(body: MetadataRequest, version: number): boolean {
  return body.topics === null || (version === 0 && body.topics.length === 0)
}

function missingTopics(services: BrokerServices, body: MetadataRequest): string[] {
  if (body.topics === null || !body.allowAutoTopicCreation || !services.config.autoCreateTopics) return []
  const names = body.topics.map(topic => topic.name ?? '')
  return names.filter(name => mayBeCreated(name) && services.cluster.topicByName(name) === undefined)
}

/** State of transactions and share groups is not kept yet: whoever will keep it makes its topics as they have to be. */
function mayBeCreated(name: string): boolean {
  return isLegalTopicName(name) && (name === groupTopic || !isInternalTopic(name))
}

/** The request has room for ids since version 10, and they may be used since version 12. */
function namesByIdTooEarly({ topics }: MetadataRequest, version: number): boolean {
  if (version >= firstVersionWithIds || topics === null) return false
  return topics.some(topic => topic.topicId !== zeroUuid || topic.name === null)
}

function refuse(request: Request, { topics }: MetadataRequest): void {
  const errorCode = ErrorCode.invalidRequest
  request.errorCode = errorCode
  request.reply(metadataResponse, {
    throttleTimeMs: request.throttleTimeMs,
    brokers: [],
    topics: topics!.map(({ name, topicId }) => ({ errorCode, name: name ?? '', topicId, partitions: [] })),
  })
}

/** Each topic once, however often it is asked for and under which name. */
function distinct(topics: readonly Answered[]): Answered[] {
  const keyOf = (one: Answered) => (one.type === 'topic' ? one.topic.topicId : `${one.topicId} ${one.name}`)
  return [...new Map(topics.map(topic => [keyOf(topic), topic])).values()]
}

function answer(services: BrokerServices, request: Request, body: MetadataRequest): void {
  const { cluster } = services
  const brokers = cluster
    .brokers(request.owner.listenerName, request.owner.localPort)
    .filter(broker => !broker.isFenced)
  const topics = asksForAll(body, request.apiVersion)
    ? [...cluster.topics()].map((topic): Answered => ({ type: 'topic', topic }))
    : distinct(body.topics!.map(topic => find(services, topic)))
  request.reply(metadataResponse, {
    throttleTimeMs: request.throttleTimeMs,
    brokers,
    clusterId: cluster.clusterId,
    controllerId: cluster.controllerId,
    topics: topics.map(topic => describe(topic, brokers, body.includeTopicAuthorizedOperations, request.apiVersion)),
    clusterAuthorizedOperations: body.includeClusterAuthorizedOperations ? clusterOperations : operationsNotAsked,
    errorCode: ErrorCode.none,
  })
}

function find(
  services: BrokerServices,
  { name, topicId }: { readonly name: string | null; readonly topicId: Uuid },
): Answered {
  if (topicId !== zeroUuid) {
    const topic = services.cluster.topicById(topicId)
    if (topic !== undefined) return { type: 'topic', topic }
    return { type: 'error', errorCode: ErrorCode.unknownTopicId, name: null, topicId }
  }
  if (name === null) return { type: 'error', errorCode: ErrorCode.invalidRequest, name: '', topicId }
  const topic = services.cluster.topicByName(name)
  if (topic !== undefined) return { type: 'topic', topic }
  const errorCode = isLegalTopicName(name) ? ErrorCode.unknownTopicOrPartition : ErrorCode.invalidTopicException
  return { type: 'error', errorCode, name, topicId: zeroUuid }
}

function describe(answered: Answered, brokers: readonly NodeView[], withOperations: boolean, version: number) {
  if (answered.type === 'error') {
    const { errorCode, name, topicId } = answered
    return {
      ...{ errorCode, name, topicId, isInternal: name !== null && isInternalTopic(name), partitions: [] },
      topicAuthorizedOperations: withOperations && name !== null ? topicOperations : operationsNotAsked,
    }
  }
  const { topic } = answered
  const partitions = []
  for (let index = 0; index < topic.partitionCount; index++) {
    const partition = topic.partition(index)
    if (partition !== undefined) partitions.push(describePartition(partition, brokers, version))
  }
  return {
    errorCode: ErrorCode.none,
    name: topic.name,
    topicId: topic.topicId,
    isInternal: topic.isInternal,
    partitions,
    topicAuthorizedOperations: withOperations ? topicOperations : operationsNotAsked,
  }
}

function describePartition(partition: PartitionView, brokers: readonly NodeView[], version: number) {
  const { index, leaderId, leaderEpoch, replicas, isr, offlineReplicas } = partition
  const canBeReached = brokers.some(broker => broker.nodeId === leaderId)
  let errorCode: ErrorCode = ErrorCode.none
  if (leaderId < 0) errorCode = ErrorCode.leaderNotAvailable
  else if (!canBeReached) {
    errorCode = version >= firstVersionWithListenerError ? ErrorCode.listenerNotFound : ErrorCode.leaderNotAvailable
  }
  return {
    errorCode,
    partitionIndex: index,
    leaderId: canBeReached ? leaderId : -1,
    leaderEpoch,
    replicaNodes: replicas,
    isrNodes: isr,
    offlineReplicas,
  }
}
