import { ErrorCode, errorName } from '../../base/error-code.ts'
import { produceApi } from '../wire/requests.ts'
import type { UnsentBatch } from './unique-records.ts'
import type { PartitionTarget, Workplace } from './workplace.ts'

export interface SendOptions {
  readonly acks: 0 | 1 | -1
  readonly codec: number
  readonly attempt: number
  readonly producer?: { readonly id: number; readonly epoch: number; readonly sequence: number }
}

export type SendResult =
  | { readonly type: 'ok'; readonly baseOffset: number }
  | { readonly type: 'refused'; readonly errorCode: ErrorCode }
  /** No answer: it may be there or not. */
  | { readonly type: 'lost' }

/** Errors after which a batch may be in the log all the same. */
const unsure: ReadonlySet<ErrorCode> = new Set([
  ErrorCode.requestTimedOut,
  ErrorCode.notEnoughReplicasAfterAppend,
  // A batch that was appended is answered so when its partition closes, or its directory fails, before it is committed.
  ErrorCode.notLeaderOrFollower,
  ErrorCode.unknownTopicOrPartition,
  ErrorCode.unknownTopicId,
  ErrorCode.kafkaStorageError,
  ErrorCode.duplicateSequenceNumber,
])

/** Sends one batch once, and writes it into the history. */
export async function sendBatch(
  at: Workplace,
  { topic, partition }: PartitionTarget,
  batch: UnsentBatch,
  { acks, codec, attempt, producer }: SendOptions,
): Promise<SendResult> {
  const line = await at.client.line(produceApi)
  if (line === undefined) return { type: 'lost' }
  const records = batch.encode({
    codec,
    producerId: producer?.id ?? -1,
    producerEpoch: producer?.epoch ?? -1,
    baseSequence: producer?.sequence ?? -1,
  })
  const { name, topicId } = topic
  const isById = line.version >= 13
  const request = { topic: name, topicId: isById ? topicId : undefined, partition, acks, producer, attempt }
  const call = at.history.begin(at.process, 'send', { ...request, records: batch.seen })
  const data = [{ name, topicId, partitionData: [{ index: partition, records }] }]
  const body = { acks, timeoutMs: 2000, topicData: data }
  const result = await line.send(body, { timeoutMs: 6000, expectsAnswer: acks !== 0 })
  if (result.type === 'lost') {
    at.history.info(call, result.reason)
    return { type: 'lost' }
  }
  if (acks === 0) {
    at.history.info(call, 'acks=0 is not answered')
    return { type: 'ok', baseOffset: -1 }
  }
  const answer = result.answer.responses[0]!.partitionResponses[0]!
  if (answer.errorCode === ErrorCode.none) {
    at.history.ok(call, { baseOffset: answer.baseOffset })
    return { type: 'ok', baseOffset: answer.baseOffset }
  }
  if (unsure.has(answer.errorCode)) at.history.info(call, errorName(answer.errorCode))
  else at.history.fail(call, errorName(answer.errorCode))
  return { type: 'refused', errorCode: answer.errorCode }
}
