import assert from 'node:assert/strict'
import { zeroUuid } from '../../src/base/uuid.ts'
import { encodeAssignment, encodeSubscription } from '../../src/protocol/consumer-protocol.ts'
import type { Infer } from '../../src/protocol/schema.ts'
import { batchSpans } from '../../src/records/batch-header.ts'
import { BatchBuilder, type BatchFields } from '../../src/records/builder.ts'
import { openBatch } from '../../src/records/open-batch.ts'
import { RecordReader } from '../../src/records/record.ts'
import { api } from './api.ts'
import type { RawClient } from './raw-client.ts'

/** The version since which Fetch and Produce name topics by id. */
const firstVersionWithIds = 13

export interface BatchOptions extends BatchFields {
  readonly key?: string | null
  /** Of every record. */
  readonly timestamp?: number | bigint
}

export function batchOf(values: readonly (string | Buffer | null)[], options: BatchOptions = {}): Buffer {
  const { key = 'k', timestamp = Date.now(), ...fields } = options
  const builder = new BatchBuilder()
  for (const value of values) {
    builder.append(timestamp, key === null ? null : Buffer.from(key), value === null ? null : Buffer.from(value))
  }
  return Buffer.from(builder.finish(fields))
}

export interface Place {
  readonly topic: string
  /** Needed in versions that name topics by id. */
  readonly topicId?: string
  readonly partition?: number
}

export interface ProduceOptions {
  readonly version?: number
  readonly acks?: number
  readonly timeoutMs?: number
  readonly transactionalId?: string | null
}

export function produceBody(place: Place, records: Buffer | null, options: ProduceOptions = {}) {
  const { topic, topicId = zeroUuid, partition = 0 } = place
  const { acks = -1, timeoutMs = 10_000, transactionalId = null } = options
  const named = (options.version ?? 9) >= firstVersionWithIds ? { topicId } : { name: topic }
  return { transactionalId, acks, timeoutMs, topicData: [{ ...named, partitionData: [{ index: partition, records }] }] }
}

/** What was answered for the one partition. */
export async function produce(client: RawClient, place: Place, records: Buffer | null, options: ProduceOptions = {}) {
  const version = options.version ?? 9
  const { responses } = await client.call(api.produce, version, produceBody(place, records, options))
  return responses[0].partitionResponses[0]
}

/** Produces, which must succeed, and returns the first offset. */
export async function append(client: RawClient, place: Place, values: readonly (string | Buffer | null)[]) {
  const { errorCode, baseOffset, errorMessage } = await produce(client, place, batchOf(values))
  assert.equal(errorCode, 0, String(errorMessage))
  return baseOffset
}

export interface FetchOptions {
  readonly version?: number
  readonly offset?: number
  readonly maxWaitMs?: number
  readonly minBytes?: number
  readonly maxBytes?: number
  readonly partitionMaxBytes?: number
  readonly sessionId?: number
  readonly sessionEpoch?: number
  readonly currentLeaderEpoch?: number
  /** Since version 12. */
  readonly lastFetchedEpoch?: number
  readonly isolationLevel?: number
}

export function fetchBody(places: readonly Place[], options: FetchOptions = {}) {
  const { version = 12, offset = 0, maxWaitMs = 0, minBytes = 1, maxBytes = 50_000_000, sessionEpoch = -1 } = options
  const partition = { fetchOffset: offset, partitionMaxBytes: options.partitionMaxBytes ?? 1_000_000 }
  const { sessionId = 0, isolationLevel = 0, currentLeaderEpoch = -1, lastFetchedEpoch = -1 } = options
  return {
    ...{ maxWaitMs, minBytes, maxBytes, isolationLevel, sessionId, sessionEpoch },
    topics: places.map(({ topic, topicId = zeroUuid, partition: index = 0 }) => ({
      ...(version >= firstVersionWithIds ? { topicId } : { topic }),
      partitions: [{ ...partition, partition: index, currentLeaderEpoch, lastFetchedEpoch }],
    })),
  }
}

/** What was answered for the one partition. */
export async function fetch(client: RawClient, place: Place, options: FetchOptions = {}) {
  const { responses } = await client.call(api.fetch, options.version ?? 12, fetchBody([place], options))
  return responses[0].partitions[0]
}

/** What was answered for the one partition, which must be no error. */
export async function listOffset(client: RawClient, { topic: name, partition = 0 }: Place, timestamp: bigint) {
  const partitions = [{ partitionIndex: partition, currentLeaderEpoch: -1, timestamp }]
  const { topics } = await client.call(api.listOffsets, 7, {
    replicaId: -1,
    isolationLevel: 0,
    topics: [{ name, partitions }],
  })
  const { errorCode, offset, timestamp: found } = topics[0].partitions[0]
  assert.equal(errorCode, 0)
  return { offset, timestamp: Number(found) }
}

export interface ReadRecord {
  readonly offset: number
  readonly value: string | null
}

/** All records of some batches. */
export function recordsOf(bytes: Buffer | null): ReadRecord[] {
  const records: ReadRecord[] = []
  for (const { at } of batchSpans(bytes ?? Buffer.alloc(0))) {
    const reader = openBatch(bytes!, at, 1 << 30)
    assert.ok(reader instanceof RecordReader)
    for (let record = reader.next(); record !== undefined; record = reader.next()) {
      records.push({ offset: record.offset, value: record.value === null ? null : record.value.toString() })
    }
    assert.equal(reader.isCorrupt, false)
  }
  return records
}

export function valuesOf(bytes: Buffer | null): (string | null)[] {
  return recordsOf(bytes).map(record => record.value)
}

export async function createTopic(
  client: RawClient,
  name: string,
  { partitions = 1, configs = {} }: { partitions?: number; configs?: Readonly<Record<string, string>> } = {},
): Promise<Required<Place>> {
  const { topics } = await client.call(api.createTopics, 7, {
    topics: [
      {
        ...{ name, numPartitions: partitions, replicationFactor: 1, assignments: [] },
        configs: Object.entries(configs).map(([key, value]) => ({ name: key, value })),
      },
    ],
  })
  assert.equal(topics[0].errorCode, 0, String(topics[0].errorMessage))
  return { topic: name, topicId: topics[0].topicId, partition: 0 }
}

export interface Member {
  readonly groupId: string
  readonly memberId: string
  readonly generationId: number
}

export interface JoinOptions {
  readonly version?: number
  readonly memberId?: string
  readonly groupInstanceId?: string | null
  readonly sessionTimeoutMs?: number
  readonly rebalanceTimeoutMs?: number
  readonly protocols?: readonly { readonly name: string; readonly metadata: Buffer }[]
  readonly protocolType?: string
  readonly topics?: readonly string[]
}

export function joinBody(groupId: string, options: JoinOptions = {}) {
  const { version = 7, memberId = '', groupInstanceId = null, topics = ['orders'] } = options
  const metadata = subscription(topics)
  return {
    groupId,
    sessionTimeoutMs: options.sessionTimeoutMs ?? 30_000,
    ...(version >= 1 ? { rebalanceTimeoutMs: options.rebalanceTimeoutMs ?? 30_000 } : {}),
    memberId,
    ...(version >= 5 ? { groupInstanceId } : {}),
    protocolType: options.protocolType ?? 'consumer',
    protocols: options.protocols ?? [{ name: 'range', metadata }],
  }
}

type JoinAnswer = Infer<typeof api.joinGroup.response>

/** Joins as clients do: asks again with the id that it was given. */
export async function join(client: RawClient, groupId: string, options: JoinOptions = {}): Promise<JoinAnswer> {
  const version = options.version ?? 7
  const first = await client.call(api.joinGroup, version, joinBody(groupId, options))
  if (first.errorCode !== 79) return first
  return await client.call(api.joinGroup, version, joinBody(groupId, { ...options, memberId: first.memberId }))
}

/** A group of one member that is stable. */
export async function soleMember(client: RawClient, groupId: string, options: JoinOptions = {}): Promise<Member> {
  const { errorCode, memberId, generationId } = await join(client, groupId, options)
  assert.equal(errorCode, 0)
  const synced = await client.call(api.syncGroup, 3, {
    ...{ groupId, generationId, memberId },
    assignments: [{ memberId, assignment: assignment({ orders: [0, 1] }) }],
  })
  assert.equal(synced.errorCode, 0)
  return { groupId, memberId, generationId }
}

/** As a consumer without cooperative rebalancing or rack would say it. */
export function subscription(topics: readonly string[]): Buffer {
  return encodeSubscription({ topics }, 1)
}

export function assignment(partitions: Readonly<Record<string, readonly number[]>>): Buffer {
  const assignedPartitions = Object.entries(partitions).map(([topic, numbers]) => ({ topic, partitions: numbers }))
  return encodeAssignment({ assignedPartitions }, 1)
}
