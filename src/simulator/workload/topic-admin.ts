import { ErrorCode, errorName } from '../../base/error-code.ts'
import type { Call } from '../history/history.ts'
import type { PlannedTopic } from '../plan.ts'
import {
  createPartitionsApi,
  createTopicsApi,
  deleteRecordsApi,
  deleteTopicsApi,
  incrementalAlterConfigsApi,
} from '../wire/requests.ts'
import { listOffset } from './read-partition.ts'
import { type PartitionTarget, pickPartition, think, type Workplace } from './workplace.ts'

const timeouts = { timeoutMs: 8000 }
const askedTimeoutMs = 5000
const topicResource = 2

export interface AdminOptions {
  readonly thinkMs: number
  /** Topics that come and go. */
  readonly mortalTopics: readonly PlannedTopic[]
  /** Settings that are changed back and forth, with their values. */
  readonly settings: readonly (readonly [string, readonly string[]])[]
  /** Chance of DeleteRecords, for each round. */
  readonly deleteRecordsRate: number
}

/** Somebody who changes topics while others use them. */
export async function runTopicAdmin(at: Workplace, options: AdminOptions): Promise<void> {
  const { random } = at
  while (!at.isStopping()) {
    await think(at, options.thinkMs)
    if (random.chance(options.deleteRecordsRate)) await deleteSomeRecords(at)
    else if (options.settings.length > 0 && random.chance(0.3)) await changeSetting(at, options)
    else if (options.mortalTopics.length > 0) await replaceOrGrow(at, random.pick(options.mortalTopics))
  }
  // The reader at the end looks for all topics that were planned.
  for (const topic of options.mortalTopics) await createTopic(at, topic)
}

async function replaceOrGrow(at: Workplace, topic: PlannedTopic): Promise<void> {
  const known = await at.client.topics([topic.name])
  if (known === undefined) return
  if (known[0] === undefined) await createTopic(at, topic)
  else if (at.random.chance(0.3)) await createPartitions(at, topic.name, known[0].partitionCount + 1)
  else {
    await deleteTopic(at, known[0].name, known[0].topicId)
    if (at.random.chance(0.7)) await createTopic(at, topic)
  }
}

/** Answers the error code; undefined without an answer. */
export async function createTopic(at: Workplace, topic: PlannedTopic): Promise<ErrorCode | undefined> {
  const { name, partitions, config } = topic
  const line = await at.client.line(createTopicsApi, 7)
  if (line === undefined) return undefined
  const call = at.history.begin(at.process, 'createTopic', { topic: name, partitions })
  const configs = Object.entries(config).map(([key, value]) => ({ name: key, value }))
  const wanted = { name, numPartitions: partitions, replicationFactor: 1, assignments: [], configs }
  const result = await line.send({ topics: [wanted], timeoutMs: askedTimeoutMs }, timeouts)
  if (result.type === 'lost') return lost(at, call, result.reason)
  const { errorCode, topicId } = result.answer.topics[0]!
  if (errorCode !== ErrorCode.none) return refused(at, call, errorCode)
  at.history.ok(call, { topicId })
  return errorCode
}

export async function deleteTopic(at: Workplace, topic: string, topicId: string): Promise<ErrorCode | undefined> {
  const line = await at.client.line(deleteTopicsApi, 6)
  if (line === undefined) return undefined
  const call = at.history.begin(at.process, 'deleteTopic', { topic, topicId })
  const result = await line.send({ topics: [{ name: null, topicId }], timeoutMs: askedTimeoutMs }, timeouts)
  if (result.type === 'lost') return lost(at, call, result.reason)
  const { errorCode } = result.answer.responses[0]!
  if (errorCode !== ErrorCode.none) return refused(at, call, errorCode)
  at.history.ok(call, {})
  return errorCode
}

async function createPartitions(at: Workplace, topic: string, count: number): Promise<ErrorCode | undefined> {
  const line = await at.client.line(createPartitionsApi)
  if (line === undefined) return undefined
  const call = at.history.begin(at.process, 'createPartitions', { topic, count })
  const topics = [{ name: topic, count, assignments: null }]
  const result = await line.send({ topics, timeoutMs: askedTimeoutMs, validateOnly: false }, timeouts)
  if (result.type === 'lost') return lost(at, call, result.reason)
  const { errorCode } = result.answer.results[0]!
  if (errorCode !== ErrorCode.none) return refused(at, call, errorCode)
  at.history.ok(call, {})
  return errorCode
}

async function changeSetting(at: Workplace, { settings }: AdminOptions): Promise<void> {
  const [name, values] = at.random.pick(settings)
  const topic = at.random.pick(at.topicNames)
  const value = at.random.pick(values)
  const line = await at.client.line(incrementalAlterConfigsApi)
  if (line === undefined) return
  const call = at.history.begin(at.process, 'alterConfig', { topic, config: { [name]: value } })
  const configs = [{ name, configOperation: 0, value }]
  const resources = [{ resourceType: topicResource, resourceName: topic, configs }]
  const result = await line.send({ resources, validateOnly: false }, timeouts)
  if (result.type === 'lost') return void lost(at, call, result.reason)
  const { errorCode } = result.answer.responses[0]!
  if (errorCode !== ErrorCode.none) refused(at, call, errorCode)
  else at.history.ok(call, {})
}

async function deleteSomeRecords(at: Workplace): Promise<void> {
  const target = await pickPartition(at)
  if (target === undefined) return
  const start = await listOffset(at, target, -2)
  const end = await listOffset(at, target, -1)
  if (start === undefined || end === undefined || end < start) return
  const offset = at.random.chance(0.1) ? -1 : start + at.random.below(Math.floor((end - start) / 2) + 1)
  await deleteRecords(at, target, offset)
}

async function deleteRecords(at: Workplace, { topic, partition }: PartitionTarget, offset: number): Promise<void> {
  const line = await at.client.line(deleteRecordsApi)
  if (line === undefined) return
  const target = { topic: topic.name, topicId: undefined, partition }
  const call = at.history.begin(at.process, 'deleteRecords', { ...target, offset })
  const topics = [{ name: topic.name, partitions: [{ partitionIndex: partition, offset }] }]
  const result = await line.send({ topics, timeoutMs: askedTimeoutMs }, timeouts)
  if (result.type === 'lost') return void lost(at, call, result.reason)
  const { errorCode, lowWatermark } = result.answer.topics[0]!.partitions[0]!
  if (errorCode !== ErrorCode.none) refused(at, call, errorCode)
  else at.history.ok(call, { lowWatermark })
}

const unsure: ReadonlySet<ErrorCode> = new Set([
  ErrorCode.unknownServerError,
  ErrorCode.requestTimedOut,
  ErrorCode.notController,
  ErrorCode.kafkaStorageError,
])

function lost(at: Workplace, call: Call, reason: string): undefined {
  at.history.info(call, reason)
  return undefined
}

function refused(at: Workplace, call: Call, errorCode: ErrorCode): ErrorCode {
  if (unsure.has(errorCode)) at.history.info(call, errorName(errorCode))
  else at.history.fail(call, errorName(errorCode))
  return errorCode
}
