import { ErrorCode, errorName } from '../../base/error-code.ts'
import type { Uuid } from '../../base/uuid.ts'
import { decode } from '../../protocol/codec.ts'
import { produceRequest, produceResponse } from '../../protocol/messages/produce.ts'
import { batchSizeAt, isTransactional } from '../../records/batch.ts'
import { checkProduceRecords } from '../../records/batch-validator.ts'
import type { ApiHandler } from '../api-handler.ts'
import { leaderEndpoints } from '../leader-endpoints.ts'
import type { Request } from '../network/request.ts'
import type { Partition } from '../partition.ts'
import {
  decide,
  emptyProduceResult,
  type ProduceItem,
  type ProduceResult,
  WaitingProduce,
} from '../produce/waiting-produce.ts'
import type { BrokerServices } from '../services.ts'
import { isInternalTopic } from '../topic-names.ts'

/** Clients of this name may write to internal topics, as in Kafka. */
const adminClientId = '__admin_client'

/** The time is for replication; in Kafka the leader's own append is done before it counts. */
const shortestTimeoutMs = 1000

const firstVersionWithLeaders = 10
const firstVersionWithIds = 13

/** By its name or, since the version with ids, by its id. */
interface NamedTopic {
  readonly name: string
  readonly topicId: Uuid
}

interface TopicResult extends NamedTopic {
  readonly partitionResponses: ProduceResult[]
}

export function produceHandler(services: BrokerServices): ApiHandler {
  return {
    apiKey: produceRequest.key,
    minVersion: produceRequest.minVersion,
    maxVersion: produceRequest.maxVersion,
    handle: request => handleProduce(services, request),
  }
}

function handleProduce(services: BrokerServices, request: Request): void {
  const body = decode(produceRequest, request.apiVersion, request.body)
  const topics: TopicResult[] = []
  const items: ProduceItem[] = []
  const produce = new WaitingProduce(request, body.acks, () => answer(services, request, body.acks, topics))
  for (const topic of body.topicData) {
    const results: ProduceResult[] = []
    topics.push({ name: topic.name, topicId: topic.topicId, partitionResponses: results })
    for (const { index, records } of topic.partitionData) {
      const result = emptyProduceResult(index)
      results.push(result)
      produce.expect()
      const item: ProduceItem = { batch: theBatch(records), result, produce, isDecided: false, lastOffset: -1 }
      items.push(item)
      begin(services, topic, item, records)
    }
  }
  if (!produce.isDecided && body.acks !== 0) {
    const atMs = request.receivedAt.monotonicMs + Math.max(shortestTimeoutMs, body.timeoutMs)
    produce.deadline = services.deadlines.add(atMs, () => {
      for (const item of items) decide(item, ErrorCode.requestTimedOut)
    })
  }
  produce.decided()
}

const noBytes = Buffer.alloc(0)

/** Without what may follow the one batch: Kafka drops a truncated second one. */
function theBatch(records: Buffer | null): Buffer {
  if (records === null) return noBytes
  const size = batchSizeAt(records, 0)
  return size > 0 && size < records.length ? records.subarray(0, size) : records
}

function begin(services: BrokerServices, topic: NamedTopic, item: ProduceItem, records: Buffer | null): void {
  const found = findOrRefuse(services, topic, item, records)
  if ('errorCode' in found) {
    decide(item, found.errorCode, found.message)
    return
  }
  services.metrics.produceRequest(found.topic)
  found.produce(item)
}

function find(
  { partitions }: BrokerServices,
  { apiVersion }: Request,
  { name, topicId }: NamedTopic,
  index: number,
): Partition | undefined {
  return apiVersion >= firstVersionWithIds ? partitions.byId(topicId, index) : partitions.byName(name, index)
}

function absenceOf(
  services: BrokerServices,
  { apiVersion }: Request,
  { name, topicId }: NamedTopic,
  index: number,
): ErrorCode {
  if (apiVersion < firstVersionWithIds) return services.partitions.absenceByName(name, index)
  if (services.cluster.topicById(topicId) === undefined) return ErrorCode.unknownTopicId
  return services.partitions.absenceById(topicId, index)
}

/** In Kafka's order: what does not exist, what the client did wrong, what may not be, and what is not so at this moment. */
function findOrRefuse(
  services: BrokerServices,
  topic: NamedTopic,
  { produce: { request, acks }, result: { index } }: ProduceItem,
  records: Buffer | null,
): Partition | ItemRefusal {
  const malformed = checkProduceRecords(records, request.apiVersion)
  // A transactional id alone means nothing: what counts is that the batch says so.
  if (malformed === undefined && isTransactional(records!, 0)) {
    return {
      errorCode: ErrorCode.transactionalIdAuthorizationFailed,
      message: 'This broker does not offer transactions yet.',
    }
  }
  const partition = find(services, request, topic, index)
  const absence = partition === undefined ? absenceOf(services, request, topic, index) : ErrorCode.none
  if (isUnknown(absence)) return { errorCode: absence, message: null }
  if (malformed !== undefined) return malformed
  if (acks < -1 || acks > 1) return { errorCode: ErrorCode.invalidRequiredAcks, message: null }
  if (partition === undefined) return { errorCode: absence, message: null }
  if (isInternalTopic(partition.topic) && request.clientId !== adminClientId) {
    const message = `Cannot append to internal topic ${partition.topic}`
    return { errorCode: ErrorCode.invalidTopicException, message }
  }
  return partition
}

function isUnknown(errorCode: ErrorCode): boolean {
  return errorCode === ErrorCode.unknownTopicId || errorCode === ErrorCode.unknownTopicOrPartition
}

interface ItemRefusal {
  readonly errorCode: ErrorCode
  readonly message: string | null
}

function answer(services: BrokerServices, request: Request, acks: number, topics: readonly TopicResult[]): void {
  const failedTopic = topics.find(topic => topic.partitionResponses.some(result => result.errorCode !== ErrorCode.none))
  if (failedTopic !== undefined) {
    request.errorCode = failedTopic.partitionResponses.find(result => result.errorCode !== ErrorCode.none)!.errorCode
    tellFailures(services, request, topics)
  }
  if (acks === 0) {
    // Nothing can be said to this client but that its connection ends: it will look for the leader again.
    if (failedTopic === undefined) request.replyNothing()
    else request.closeConnection('a produce with acks=0 failed, and there is no other way to tell')
    return
  }
  const leaderIds = new Set<number>()
  const answered = topics.filter(topic => topic.partitionResponses.length > 0)
  request.reply(produceResponse, {
    responses:
      failedTopic === undefined || request.apiVersion < firstVersionWithLeaders
        ? answered
        : answered.map(topic => withLeaders(services, request, topic, leaderIds)),
    throttleTimeMs: request.throttleTimeMs,
    nodeEndpoints: leaderEndpoints(services, request, leaderIds),
  })
}

/** What no correct client sends, or what somebody has to raise a limit for. */
const worthALine: ReadonlySet<ErrorCode> = new Set([
  ErrorCode.corruptMessage,
  ErrorCode.invalidRecord,
  ErrorCode.messageTooLarge,
])

function tellFailures(services: BrokerServices, request: Request, topics: readonly TopicResult[]): void {
  for (const topic of topics) {
    const { cluster } = services
    const name = (
      request.apiVersion >= firstVersionWithIds ? cluster.topicById(topic.topicId) : cluster.topicByName(topic.name)
    )?.name
    for (const { index, errorCode, errorMessage } of topic.partitionResponses) {
      if (errorCode === ErrorCode.none) continue
      services.metrics.produceFailed(name, errorCode)
      if (!worthALine.has(errorCode)) continue
      const named = name ?? topic.name
      request.owner.warn(
        `a batch for ${named}-${index} was refused: ${errorMessage ?? errorName(errorCode)}`,
        `batches for ${named} were refused, ${errorName(errorCode)}`,
      )
    }
  }
}

/** KIP-951: who leads now, where the client asked the wrong broker. Adds them to `leaderIds`. */
function withLeaders(services: BrokerServices, request: Request, topic: TopicResult, leaderIds: Set<number>) {
  const partitionResponses = topic.partitionResponses.map(result => {
    if (result.errorCode !== ErrorCode.notLeaderOrFollower) return result
    const partition = find(services, request, topic, result.index)
    if (partition === undefined) return result
    const { leaderId, leaderEpoch } = partition.state
    leaderIds.add(leaderId)
    return { ...result, currentLeader: { leaderId, leaderEpoch } }
  })
  return { ...topic, partitionResponses }
}
