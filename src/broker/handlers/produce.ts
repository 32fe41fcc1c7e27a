import { ErrorCode, errorName } from '../../base/error-code.ts'
import { decode } from '../../protocol/codec.ts'
import { produceRequest, produceResponse } from '../../protocol/messages/produce.ts'
import { batchSizeAt, isTransactional } from '../../records/batch.ts'
import { checkProduceRecords } from '../../records/batch-validator.ts'
import type { ApiHandler } from '../api-handler.ts'
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

type ProduceBody = ReturnType<typeof decode<(typeof produceRequest)['fields']>>

interface TopicResult {
  readonly name: string
  readonly topicId: string
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
      const refused = refusal(body, records, request.apiVersion)
      if (refused === undefined) begin(services, topic, item)
      else decide(item, refused.errorCode, refused.message)
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

function begin(services: BrokerServices, topic: { name: string; topicId: string }, item: ProduceItem): void {
  const { request } = item.produce
  const usesIds = request.apiVersion >= 13
  const { index } = item.result
  const partition: Partition | undefined = usesIds
    ? services.partitions.byId(topic.topicId, index)
    : services.partitions.byName(topic.name, index)
  if (partition === undefined) {
    decide(item, absenceOf(services, topic, index, usesIds))
  } else if (isInternalTopic(partition.topic) && request.clientId !== adminClientId) {
    decide(item, ErrorCode.invalidTopicException, `Cannot append to internal topic ${partition.topic}`)
  } else {
    services.metrics.produceRequest(partition.topic)
    partition.produce(item)
  }
}

function absenceOf(
  services: BrokerServices,
  { name, topicId }: { readonly name: string; readonly topicId: string },
  index: number,
  usesIds: boolean,
): ErrorCode {
  if (!usesIds) return services.partitions.absenceByName(name, index)
  if (services.cluster.topicById(topicId) === undefined) return ErrorCode.unknownTopicId
  return services.partitions.absenceById(topicId, index)
}

/** What is wrong with the request whatever partition it is for. */
function refusal(body: ProduceBody, records: Buffer | null, version: number): ItemRefusal | undefined {
  if (body.acks < -1 || body.acks > 1) return { errorCode: ErrorCode.invalidRequiredAcks, message: null }
  const malformed = checkProduceRecords(records, version)
  if (malformed !== undefined) return malformed
  // A transactional id alone means nothing: what counts is that the batch says so.
  if (!isTransactional(records!, 0)) return undefined
  return {
    errorCode: ErrorCode.transactionalIdAuthorizationFailed,
    message: 'This broker does not offer transactions yet.',
  }
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
  request.reply(produceResponse, {
    responses: topics.filter(topic => topic.partitionResponses.length > 0).map(withLeaders(services, request)),
    throttleTimeMs: request.throttleTimeMs,
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
    const name = (request.apiVersion >= 13 ? cluster.topicById(topic.topicId) : cluster.topicByName(topic.name))?.name
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

/** KIP-951: who leads now, where the client asked the wrong broker. */
function withLeaders(services: BrokerServices, request: Request) {
  return (topic: TopicResult) => {
    if (request.apiVersion < 10) return topic
    return {
      ...topic,
      partitionResponses: topic.partitionResponses.map(result => {
        if (result.errorCode !== ErrorCode.notLeaderOrFollower) return result
        const partition =
          request.apiVersion >= 13
            ? services.partitions.byId(topic.topicId, result.index)
            : services.partitions.byName(topic.name, result.index)
        if (partition === undefined) return result
        const { leaderId, leaderEpoch } = partition.state
        return { ...result, currentLeader: { leaderId, leaderEpoch } }
      }),
    }
  }
}
