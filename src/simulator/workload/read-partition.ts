import { ErrorCode, errorName } from '../../base/error-code.ts'
import type { ReadRecord } from '../history/operations.ts'
import { fetchApi, listOffsetsApi, offsetForLeaderEpochApi } from '../wire/requests.ts'
import { readBatches } from '../wire/seen-records.ts'
import type { PartitionTarget, Workplace } from './workplace.ts'

export type PollResult =
  | { readonly type: 'read'; readonly nextOffset: number; readonly records: readonly ReadRecord[] }
  | { readonly type: 'refused'; readonly errorCode: ErrorCode }
  | { readonly type: 'lost' }

export interface PollOptions {
  readonly offset: number
  readonly maxWaitMs: number
  readonly maxBytes: number
}

const isolations = ['readUncommitted', 'readCommitted'] as const

/** One fetch of one partition, outside of sessions, written into the history. */
export async function poll(at: Workplace, target: PartitionTarget, options: PollOptions): Promise<PollResult> {
  const { topic, partition } = target
  const line = await at.client.line(fetchApi)
  if (line === undefined) return { type: 'lost' }
  const isolation = at.random.pick(isolations)
  const topicId = line.version >= 13 ? topic.topicId : undefined
  const request = { topic: topic.name, topicId, partition, offset: options.offset, isolation }
  const call = at.history.begin(at.process, 'poll', request)
  const result = await line.send(fetchBody(target, options, isolation), { timeoutMs: options.maxWaitMs + 6000 })
  if (result.type === 'lost') {
    at.history.info(call, result.reason)
    return { type: 'lost' }
  }
  const answer = result.answer.responses[0]?.partitions[0]
  const errorCode = answer?.errorCode ?? result.answer.errorCode
  if (answer === undefined || errorCode !== ErrorCode.none) {
    at.history.fail(call, errorName(errorCode))
    return { type: 'refused', errorCode }
  }
  const { highWatermark, lastStableOffset, logStartOffset } = answer
  const read = readBatches(answer.records ?? Buffer.alloc(0), options.offset)
  if (read.problem !== undefined) at.complain('I50', `${topic.name}-${partition} at ${options.offset}: ${read.problem}`)
  at.history.ok(call, {
    records: read.records,
    nextOffset: read.nextOffset,
    highWatermark,
    lastStableOffset,
    logStartOffset,
  })
  return { type: 'read', nextOffset: read.nextOffset, records: read.records }
}

function fetchBody(
  { topic, partition, leaderEpoch: currentLeaderEpoch = -1 }: PartitionTarget,
  options: PollOptions,
  isolation: (typeof isolations)[number],
) {
  const { offset: fetchOffset, maxWaitMs, maxBytes } = options
  const wanted = { partition, fetchOffset, partitionMaxBytes: maxBytes, logStartOffset: -1, currentLeaderEpoch }
  return {
    maxWaitMs,
    minBytes: 1,
    maxBytes: 50_000_000,
    isolationLevel: isolation === 'readCommitted' ? 1 : 0,
    topics: [{ topic: topic.name, topicId: topic.topicId, partitions: [wanted] }],
  }
}

/** -2 earliest, -1 latest. Undefined without an answer. */
export async function listOffset(
  at: Workplace,
  { topic, partition, leaderEpoch: currentLeaderEpoch = -1 }: PartitionTarget,
  timestamp: number,
): Promise<number | undefined> {
  const line = await at.client.line(listOffsetsApi)
  if (line === undefined) return undefined
  const call = at.history.begin(at.process, 'listOffset', {
    topic: topic.name,
    topicId: undefined,
    partition,
    timestamp,
  })
  const partitions = [{ partitionIndex: partition, timestamp: BigInt(timestamp), currentLeaderEpoch }]
  const body = { replicaId: -1, topics: [{ name: topic.name, partitions }], timeoutMs: 5000 }
  const result = await line.send(body, { timeoutMs: 6000 })
  if (result.type === 'lost') {
    at.history.info(call, result.reason)
    return undefined
  }
  const answer = result.answer.topics[0]!.partitions[0]!
  if (answer.errorCode !== ErrorCode.none) {
    at.history.fail(call, errorName(answer.errorCode))
    return undefined
  }
  at.history.ok(call, { offset: answer.offset, timestamp: Number(answer.timestamp) })
  return answer.offset
}

/** Where an epoch that the reader had been in ended, as readers ask when there is a new leader (KIP-320). Undefined without an answer. */
export async function findEpochEnd(
  at: Workplace,
  { topic: { name }, partition, leaderEpoch: currentLeaderEpoch = -1 }: PartitionTarget,
  leaderEpoch: number,
): Promise<number | undefined> {
  const line = await at.client.line(offsetForLeaderEpochApi)
  if (line === undefined) return undefined
  const call = at.history.begin(at.process, 'epochEnd', { topic: name, topicId: undefined, partition, leaderEpoch })
  const partitions = [{ partition, currentLeaderEpoch, leaderEpoch }]
  const body = { replicaId: -1, topics: [{ topic: name, partitions }] }
  const result = await line.send(body, { timeoutMs: 6000 })
  if (result.type === 'lost') {
    at.history.info(call, result.reason)
    return undefined
  }
  const answer = result.answer.topics[0]!.partitions[0]!
  if (answer.errorCode !== ErrorCode.none) {
    at.history.fail(call, errorName(answer.errorCode))
    return undefined
  }
  const { endOffset } = answer
  at.history.ok(call, { leaderEpoch: answer.leaderEpoch, endOffset })
  return endOffset
}
