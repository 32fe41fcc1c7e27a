import { ErrorCode } from '../../base/error-code.ts'
import { deleteRecordsRequest, deleteRecordsResponse } from '../../protocol/messages/delete-records.ts'
import type { Cluster } from '../cluster/cluster.ts'
import { askLeaders, byTopic, type Outcomes, type TopicPartition } from '../cluster/leader-requests.ts'
import { type FoundOffset, listOffsets, type OffsetQuery } from '../cluster/list-offsets.ts'
import { brokerError } from '../millrace-error.ts'
import { type AdminOptions, type AdminResult, eachResource, resultOf } from './admin-result.ts'
import { adminLane, answerGraceMs } from './controller.ts'

const deleteRecordsApi = { request: deleteRecordsRequest, response: deleteRecordsResponse }

export interface RecordsToDelete extends TopicPartition {
  /** Records below go; -1 stands for the high watermark: all of them. */
  readonly beforeOffset: number
}

export async function deleteRecords(
  cluster: Cluster,
  deletions: readonly RecordsToDelete[],
  options: AdminOptions,
): Promise<AdminResult<TopicPartition, { logStartOffset: number }>[]> {
  type Value = { logStartOffset: number }
  const outcomes = await withTopics(cluster, deletions, () =>
    eachResource<RecordsToDelete, Value>(cluster, deletions, options, (pending, leftMs) =>
      askLeaders(cluster, pending, async (nodeId, led) => {
        const items = led.map(({ item }) => item)
        const topics = byTopic(items, ({ partition, beforeOffset }) => ({
          partitionIndex: partition,
          offset: beforeOffset,
        }))
        const where = { lane: adminLane, timeoutMs: leftMs + answerGraceMs }
        const answer = await cluster.send(nodeId, deleteRecordsApi, { topics, timeoutMs: Math.ceil(leftMs) }, where)
        const results: Outcomes<RecordsToDelete, Value> = new Map()
        for (const item of items) {
          const topic = answer.topics.find(({ name }) => name === item.topic)
          const one = topic?.partitions.find(({ partitionIndex }) => partitionIndex === item.partition)
          if (one === undefined) continue
          const isDone = one.errorCode === ErrorCode.none
          const failure = () => brokerError(one.errorCode, `${item.topic}-${item.partition}`)
          results.set(item, isDone ? { logStartOffset: one.lowWatermark } : failure())
        }
        return results
      }),
    ),
  )
  return deletions.map(item => resultOf({ topic: item.topic, partition: item.partition }, outcomes.get(item)))
}

export interface ListOffsetsOptions extends AdminOptions {
  /** The latest offset is then that below which no transaction is open. */
  readonly isolationLevel?: 'readUncommitted' | 'readCommitted'
}

export async function listPartitionOffsets(
  cluster: Cluster,
  queries: readonly OffsetQuery[],
  options: ListOffsetsOptions,
): Promise<AdminResult<TopicPartition, FoundOffset>[]> {
  const isReadCommitted = options.isolationLevel === 'readCommitted'
  const outcomes = await withTopics(cluster, queries, () =>
    eachResource<OffsetQuery, FoundOffset>(cluster, queries, options, pending =>
      listOffsets(cluster, pending, { isReadCommitted, lane: adminLane }),
    ),
  )
  return queries.map(query => {
    const found = outcomes.get(query)
    const value = found !== undefined && 'offset' in found ? offsetOf(found) : found
    return resultOf({ topic: query.topic, partition: query.partition }, value)
  })
}

function offsetOf({ offset, timestamp, leaderEpoch }: FoundOffset): FoundOffset {
  return { offset, timestamp, leaderEpoch }
}

/** Has the leaders of these topics known for as long as the call lasts. */
async function withTopics<T>(
  cluster: Cluster,
  partitions: readonly TopicPartition[],
  call: () => Promise<T>,
): Promise<T> {
  const names = new Set(partitions.map(({ topic }) => topic))
  const unwatch = [...names].map(name => cluster.watch(name, { create: false }))
  try {
    await cluster.refresh(cluster.config.apiTimeoutMs)
    return await call()
  } finally {
    for (const end of unwatch) end()
  }
}
