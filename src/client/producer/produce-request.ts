import { ErrorCode } from '../../base/error-code.ts'
import { type Uuid, zeroUuid } from '../../base/uuid.ts'
import {
  type PartitionProduceResponse,
  type ProduceResponse,
  produceRequest,
  produceResponse,
} from '../../protocol/messages/produce.ts'
import type { Input } from '../../protocol/schema.ts'
import type { PartitionQueue } from './partition-queue.ts'
import type { ProducerBatch } from './producer-batch.ts'

export const produceApi = { request: produceRequest, response: produceResponse }

/** The last version that names topics; later ones have ids. */
export const lastVersionWithNames = 12

/** A batch on its way. */
export interface SentBatch {
  readonly queue: PartitionQueue
  readonly batch: ProducerBatch
  readonly topicId: Uuid
  readonly bytes: Buffer
}

/** What a broker answered for one batch. */
export interface BatchAnswer {
  readonly errorCode: ErrorCode
  readonly errorMessage: string | null
  readonly baseOffset: number
  readonly logAppendTimeMs: number
  readonly currentLeader: { readonly leaderId: number; readonly leaderEpoch: number }
}

export function produceBody(
  sent: readonly SentBatch[],
  settings: { readonly acks: number; readonly timeoutMs: number },
): Input<typeof produceRequest> {
  const byTopic = Map.groupBy(sent, ({ queue }) => queue.topic)
  const topicData = [...byTopic].map(([name, batches]) => ({
    name,
    topicId: batches[0].topicId,
    partitionData: batches.map(({ queue, bytes }) => ({ index: queue.partition, records: bytes })),
  }))
  return { transactionalId: null, ...settings, topicData }
}

/** Finds what a response says of a batch. A broker that leaves one out does not keep to the protocol: nobody knows. */
export function answerFor({ queue, topicId }: SentBatch, response: ProduceResponse): BatchAnswer {
  const hasIds = response.responses.some(topic => topic.topicId !== zeroUuid)
  const topic = response.responses.find(one => (hasIds ? one.topicId === topicId : one.name === queue.topic))
  const answer = topic?.partitionResponses.find(({ index }) => index === queue.partition)
  return answer === undefined ? missingAnswer : withText(answer)
}

const missingAnswer: BatchAnswer = {
  errorCode: ErrorCode.networkException,
  errorMessage: 'the answer to Produce says nothing of this partition',
  baseOffset: -1,
  logAppendTimeMs: -1,
  currentLeader: { leaderId: -1, leaderEpoch: -1 },
}

function withText(answer: PartitionProduceResponse): BatchAnswer {
  const reasons = answer.recordErrors.map(({ batchIndexErrorMessage }) => batchIndexErrorMessage).filter(Boolean)
  return { ...answer, errorMessage: answer.errorMessage ?? reasons[0] ?? null }
}
