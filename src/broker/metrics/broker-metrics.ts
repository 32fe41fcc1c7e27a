import { ErrorCode } from '../../base/error-code.ts'
import { LatencyHistogram } from './latency-histogram.ts'

/** Counters of one topic, or of all together. Only ever added to. */
export class TopicMetrics {
  messagesIn = 0
  bytesIn = 0
  bytesOut = 0
  bytesRejected = 0
  produceRequests = 0
  fetchRequests = 0
  failedProduceRequests = 0
  failedFetchRequests = 0
  noKeyCompactedTopicRecords = 0
  invalidMagicNumberRecords = 0
  invalidMessageCrcRecords = 0
  invalidOffsetOrSequenceRecords = 0
}

/** Counters of one API. */
export class RequestMetrics {
  readonly byVersion = new Map<number, number>()
  readonly byError = new Map<ErrorCode, number>()
  readonly totalTimeMs = new LatencyHistogram()
  requestBytes = 0
  responseBytes = 0
}

/**
 * What one broker counts. Cheap enough for the hot path: plain numbers, turned into Prometheus' text only when somebody
 * asks (`broker/admin`).
 */
export class BrokerMetrics {
  readonly allTopics = new TopicMetrics()
  readonly topics = new Map<string, TopicMetrics>()
  /** By name as Kafka's metrics spell it: Produce, FetchConsumer, Metadata, … */
  readonly requests = new Map<string, RequestMetrics>()
  connectionsCreated = 0
  connectionsClosed = 0
  connectionsRefused = 0
  expiredConnectionsKilled = 0
  protocolErrors = 0
  /** What became of changes of in-sync replicas that leaders here asked for. */
  readonly isrUpdates = { shrunk: 0, expanded: 0, failed: 0 }
  /** Requests that wait for replication, for data, or for their time limit. */
  readonly waiting = { produce: 0, fetch: 0 }

  topic(name: string): TopicMetrics {
    let topic = this.topics.get(name)
    if (topic === undefined) {
      topic = new TopicMetrics()
      this.topics.set(name, topic)
    }
    return topic
  }

  /** The topic is gone, and its series with it. */
  forgetTopic(name: string): void {
    this.topics.delete(name)
  }

  produceRequest(topic: string): void {
    this.allTopics.produceRequests++
    this.topic(topic).produceRequests++
  }

  appended(topic: string, records: number, bytes: number): void {
    this.allTopics.messagesIn += records
    this.allTopics.bytesIn += bytes
    const one = this.topic(topic)
    one.messagesIn += records
    one.bytesIn += bytes
  }

  /** `topic` is undefined when there is none of that name: clients could name ever more, each of them kept for good. */
  produceFailed(topic: string | undefined, errorCode: ErrorCode): void {
    for (const metrics of topic === undefined ? [this.allTopics] : [this.allTopics, this.topic(topic)]) {
      metrics.failedProduceRequests++
      if (errorCode === ErrorCode.corruptMessage) metrics.invalidMessageCrcRecords++
      if (errorCode === ErrorCode.outOfOrderSequenceNumber) metrics.invalidOffsetOrSequenceRecords++
    }
  }

  /** Of a topic that does not exist, likewise, only the total is kept. */
  fetched(topic: string | undefined, bytes: number, errorCode: ErrorCode): void {
    for (const metrics of topic === undefined ? [this.allTopics] : [this.allTopics, this.topic(topic)]) {
      metrics.fetchRequests++
      metrics.bytesOut += bytes
      if (errorCode !== ErrorCode.none) metrics.failedFetchRequests++
    }
  }

  request(name: string): RequestMetrics {
    let request = this.requests.get(name)
    if (request === undefined) {
      request = new RequestMetrics()
      this.requests.set(name, request)
    }
    return request
  }

  requestEnded(
    name: string,
    version: number,
    errorCode: ErrorCode,
    totalMs: number,
    requestBytes: number,
    responseBytes: number,
  ): void {
    const request = this.request(name)
    request.byVersion.set(version, (request.byVersion.get(version) ?? 0) + 1)
    request.byError.set(errorCode, (request.byError.get(errorCode) ?? 0) + 1)
    request.totalTimeMs.record(totalMs)
    request.requestBytes += requestBytes
    request.responseBytes += responseBytes
  }
}
