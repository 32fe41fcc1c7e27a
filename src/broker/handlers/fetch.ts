import { ErrorCode } from '../../base/error-code.ts'
import { zeroUuid } from '../../base/uuid.ts'
import { decode } from '../../protocol/codec.ts'
import { fetchRequest, fetchResponse } from '../../protocol/messages/fetch.ts'
import type { ApiHandler } from '../api-handler.ts'
import type { FetchContext, FetchPartition, FetchSessionRequest } from '../fetch/fetch-session.ts'
import { type FetchResult, WaitingFetch } from '../fetch/waiting-fetch.ts'
import { leaderEndpoints } from '../leader-endpoints.ts'
import type { Request } from '../network/request.ts'
import type { BrokerServices } from '../services.ts'

const firstVersionWithDivergence = 12
const firstVersionWithLeaders = 16

type FetchBody = ReturnType<typeof decode<(typeof fetchRequest)['fields']>>

export function fetchHandler(services: BrokerServices): ApiHandler {
  return {
    apiKey: fetchRequest.key,
    minVersion: fetchRequest.minVersion,
    maxVersion: fetchRequest.maxVersion,
    handle: request => handleFetch(services, request),
  }
}

function handleFetch(services: BrokerServices, request: Request): void {
  const body = decode(fetchRequest, request.apiVersion, request.body)
  const asked = sessionRequest(body, request.apiVersion)
  const context = services.fetchSessions.contextFor(asked, request.receivedAt.monotonicMs)
  if (context.type === 'error') {
    request.errorCode = context.errorCode
    request.reply(fetchResponse, { throttleTimeMs: 0, errorCode: context.errorCode, sessionId: 0, responses: [] })
    return
  }
  const { usesTopicIds } = asked
  const wanted = context.type === 'full' ? context.partitions : context.session.partitions()
  const maxBytes = Math.min(body.maxBytes, services.config.fetchMaxBytes)
  const fetch = new WaitingFetch(
    {
      isolation: body.isolationLevel === 1 ? 'lastStableOffset' : 'highWatermark',
      maxWaitMs: body.maxWaitMs,
      minBytes: Math.min(body.minBytes, maxBytes),
      maxBytes,
      replicaId: replicaIdOf(body, request.apiVersion),
      saysDivergence: request.apiVersion >= firstVersionWithDivergence,
      sparesMemory: () => request.owner.answers.sparesMemory,
    },
    wanted,
    {
      find: partition =>
        usesTopicIds
          ? services.partitions.byId(partition.topicId, partition.index)
          : services.partitions.byName(partition.topic, partition.index),
      absence: ({ topicId, topic, index }) => {
        if (!usesTopicIds) return services.partitions.absenceByName(topic, index)
        if (services.cluster.topicById(topicId) === undefined) return ErrorCode.unknownTopicId
        return services.partitions.absenceById(topicId, index)
      },
    },
    results => answer(services, request, asked, context, absentLast(results)),
  )
  request.waiting = fetch
  fetch.run()
  if (!fetch.isDone) {
    fetch.deadline = services.deadlines.add(request.receivedAt.monotonicMs + body.maxWaitMs, () => fetch.expire())
  }
}

/** -1 for a consumer. */
function replicaIdOf(body: FetchBody, version: number): number {
  return version >= 15 ? body.replicaState.replicaId : body.replicaId
}

function sessionRequest(body: FetchBody, version: number): FetchSessionRequest {
  const usesTopicIds = version >= 13
  const partitions: FetchPartition[] = []
  for (const topic of body.topics) {
    for (const partition of topic.partitions) {
      partitions.push({
        topicId: topic.topicId,
        topic: topic.topic,
        index: partition.partition,
        currentLeaderEpoch: partition.currentLeaderEpoch,
        fetchOffset: partition.fetchOffset,
        lastFetchedEpoch: partition.lastFetchedEpoch,
        logStartOffset: partition.logStartOffset,
        maxBytes: partition.partitionMaxBytes,
        sentHighWatermark: -1,
        sentLogStartOffset: -1,
      })
    }
  }
  const forgotten = body.forgottenTopicsData.flatMap(topic =>
    topic.partitions.map(index => ({ topicId: topic.topicId, topic: topic.topic, index })),
  )
  // Before sessions (version 7) every fetch stands alone.
  const sessionEpoch = version < 7 ? -1 : body.sessionEpoch
  const isReplica = replicaIdOf(body, version) >= 0
  return { sessionId: body.sessionId, sessionEpoch, usesTopicIds, isReplica, partitions, forgotten }
}

function answer(
  services: BrokerServices,
  request: Request,
  asked: FetchSessionRequest,
  context: Exclude<FetchContext, { type: 'error' }>,
  results: readonly FetchResult[],
): void {
  for (const result of results) count(services, request, result)
  let sessionId = 0
  let said = results
  if (context.type === 'incremental') {
    const { session } = context
    sessionId = session.id
    said = results.filter(hasNews)
    for (const result of said) {
      remember(result)
      if (result.byteLength > 0) session.moveToEnd(result.wanted)
    }
  } else if (context.startsSession) {
    for (const result of results) remember(result)
    // Its partitions are served in the order of this answer.
    const partitions = results.map(result => result.wanted)
    sessionId = services.fetchSessions.open({ ...asked, partitions }, request.receivedAt.monotonicMs)
  }
  const value = {
    throttleTimeMs: request.throttleTimeMs,
    errorCode: ErrorCode.none,
    sessionId,
    responses: byTopic(said, request.apiVersion >= firstVersionWithLeaders),
    nodeEndpoints: leaderEndpoints(services, request, leadersSaid(request, asked, said)),
  }
  request.replyOwning(fetchResponse, value)
}

/** Of partitions that others lead, in the versions that can say so. Replicas know. */
function leadersSaid(
  { apiVersion }: Request,
  { isReplica }: FetchSessionRequest,
  said: readonly FetchResult[],
): ReadonlySet<number> {
  if (apiVersion < firstVersionWithLeaders || isReplica) return new Set()
  return new Set(said.flatMap(({ currentLeader }) => currentLeader?.leaderId ?? []))
}

/** The order of Kafka's answers, and so of what a session serves next. */
function absentLast(results: readonly FetchResult[]): readonly FetchResult[] {
  if (!results.some(result => result.isAbsent)) return results
  return [...results.filter(result => !result.isAbsent), ...results.filter(result => result.isAbsent)]
}

/** Kafka's rule for incremental answers: data, an error, or a watermark that the client has not heard of. */
function hasNews(result: FetchResult): boolean {
  return (
    result.byteLength > 0 ||
    result.errorCode !== ErrorCode.none ||
    result.divergingEpoch !== undefined ||
    result.highWatermark !== result.wanted.sentHighWatermark ||
    result.logStartOffset !== result.wanted.sentLogStartOffset
  )
}

function remember({ wanted, errorCode, highWatermark, logStartOffset }: FetchResult): void {
  // After an error the client hears of the partition again, even when nothing has moved meanwhile.
  wanted.sentHighWatermark = errorCode === ErrorCode.none ? highWatermark : -1
  wanted.sentLogStartOffset = errorCode === ErrorCode.none ? logStartOffset : -1
}

function byTopic(results: readonly FetchResult[], withLeaders: boolean) {
  const topics: { topic: string; topicId: string; partitions: ReturnType<typeof partitionData>[] }[] = []
  let last: (typeof topics)[number] | undefined
  for (const result of results) {
    const { topic, topicId } = result.wanted
    if (last === undefined || last.topic !== topic || last.topicId !== topicId) {
      last = { topic, topicId: topicId || zeroUuid, partitions: [] }
      topics.push(last)
    }
    last.partitions.push(partitionData(result, withLeaders))
  }
  return topics
}

function partitionData(result: FetchResult, withLeaders: boolean) {
  return {
    partitionIndex: result.wanted.index,
    errorCode: result.errorCode,
    highWatermark: result.highWatermark,
    lastStableOffset: result.lastStableOffset,
    logStartOffset: result.logStartOffset,
    divergingEpoch: result.divergingEpoch,
    currentLeader: withLeaders ? result.currentLeader : undefined,
    abortedTransactions: result.abortedTransactions,
    preferredReadReplica: -1,
    records: result.records,
  }
}

function count(services: BrokerServices, request: Request, result: FetchResult): void {
  if (result.errorCode !== ErrorCode.none) request.errorCode ||= result.errorCode
  const { topic, topicId } = result.wanted
  const { cluster } = services
  const existing = topic === '' ? cluster.topicById(topicId) : cluster.topicByName(topic)
  services.metrics.fetched(existing?.name, result.byteLength, result.errorCode)
}
