import { ErrorCode } from '../../base/error-code.ts'
import { offsetDeleteRequest, offsetDeleteResponse } from '../../protocol/messages/offset-delete.ts'
import { type CommittedOffset, commitOffsets, fetchOffsets, type OffsetToCommit } from '../cluster/group-offsets.ts'
import { byTopic, type Outcomes, type TopicPartition } from '../cluster/leader-requests.ts'
import { brokerError, toMillraceError } from '../millrace-error.ts'
import { type AdminOptions, type AdminResult, eachResource, resultOf } from './admin-result.ts'
import { adminLane } from './controller.ts'
import type { GroupsContext } from './groups.ts'

const offsetDeleteApi = { request: offsetDeleteRequest, response: offsetDeleteResponse }

export interface GroupOffsetsOptions extends AdminOptions {
  /** All for which the group has committed something unless given. */
  readonly partitions?: readonly TopicPartition[]
  /** Wait for transactions that are committing offsets, instead of answering older ones. */
  readonly requireStable?: boolean
}

/** Rejects when the group cannot be asked. A group that does not exist has committed nothing. */
export function listGroupOffsets(
  { cluster, coordinators }: GroupsContext,
  groupId: string,
  { timeoutMs = cluster.config.apiTimeoutMs, partitions, requireStable = false }: GroupOffsetsOptions,
): Promise<readonly CommittedOffset[]> {
  return cluster.retry(`reading offsets of group ${groupId}`, timeoutMs, async leftMs => {
    try {
      const nodeId = await coordinators.find(groupId, leftMs)
      const where = { nodeId, lane: adminLane, timeoutMs: leftMs, requireStable }
      return await fetchOffsets(cluster, groupId, partitions ?? null, where)
    } catch (thrown) {
      const error = toMillraceError(thrown)
      coordinators.note(groupId, error)
      throw error
    }
  })
}

/** Sets committed offsets of a group that has no members. */
export function alterGroupOffsets(
  context: GroupsContext,
  groupId: string,
  offsets: readonly OffsetToCommit[],
  options: AdminOptions,
): Promise<AdminResult<TopicPartition>[]> {
  return eachOffset(context, groupId, offsets, options, async (nodeId, pending, leftMs) => {
    const committer = { groupId, generationId: -1, memberId: '', groupInstanceId: null }
    const where = { nodeId, lane: adminLane, timeoutMs: leftMs }
    const errors = await commitOffsets(context.cluster, committer, pending, where)
    return new Map(pending.map((offset, i) => [offset, errors[i] ?? {}]))
  })
}

/** Forgets committed offsets, of topics that no member of the group subscribes to. */
export function deleteGroupOffsets(
  context: GroupsContext,
  groupId: string,
  partitions: readonly TopicPartition[],
  options: AdminOptions,
): Promise<AdminResult<TopicPartition>[]> {
  return eachOffset(context, groupId, partitions, options, async (nodeId, pending, leftMs) => {
    const topics = byTopic(pending, ({ partition }) => ({ partitionIndex: partition }))
    const where = { lane: adminLane, timeoutMs: leftMs }
    const answer = await context.cluster.send(nodeId, offsetDeleteApi, { groupId, topics }, where)
    if (answer.errorCode !== ErrorCode.none) throw brokerError(answer.errorCode, `group ${groupId}`)
    const results: Outcomes<TopicPartition, object> = new Map()
    for (const item of pending) {
      const topic = answer.topics.find(({ name }) => name === item.topic)
      const one = topic?.partitions.find(({ partitionIndex }) => partitionIndex === item.partition)
      if (one === undefined) continue
      const subject = `offset of ${item.topic}-${item.partition} for group ${groupId}`
      results.set(item, one.errorCode === ErrorCode.none ? {} : brokerError(one.errorCode, subject))
    }
    return results
  })
}

/** A request about some partitions to the coordinator of one group. */
async function eachOffset<P extends TopicPartition>(
  { cluster, coordinators }: GroupsContext,
  groupId: string,
  items: readonly P[],
  options: AdminOptions,
  ask: (nodeId: number, pending: readonly P[], leftMs: number) => Promise<Outcomes<P, object>>,
): Promise<AdminResult<TopicPartition>[]> {
  const outcomes = await eachResource<P, object>(cluster, items, options, async (pending, leftMs) => {
    try {
      const results = await ask(await coordinators.find(groupId, leftMs), pending, leftMs)
      for (const outcome of results.values()) if (outcome instanceof Error) coordinators.note(groupId, outcome)
      return results
    } catch (thrown) {
      const error = toMillraceError(thrown)
      coordinators.note(groupId, error)
      throw error
    }
  })
  return items.map(item => resultOf({ topic: item.topic, partition: item.partition }, outcomes.get(item)))
}
