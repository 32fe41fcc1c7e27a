import { ErrorCode } from '../../base/error-code.ts'
import { type Uuid, zeroUuid } from '../../base/uuid.ts'
import { offsetCommitRequest, offsetCommitResponse } from '../../protocol/messages/offset-commit.ts'
import { offsetFetchRequest, offsetFetchResponse } from '../../protocol/messages/offset-fetch.ts'
import { brokerError, type MillraceError } from '../millrace-error.ts'
import type { Cluster } from './cluster.ts'
import { byTopic, type TopicPartition } from './leader-requests.ts'

const offsetCommitApi = { request: offsetCommitRequest, response: offsetCommitResponse }
const offsetFetchApi = { request: offsetFetchRequest, response: offsetFetchResponse }
/** The last version of both that names topics; later ones have ids. */
const lastVersionWithNames = 9

export interface OffsetToCommit extends TopicPartition {
  readonly offset: number
  /** Of the record before it; -1 if unknown. */
  readonly leaderEpoch?: number
  /** Whatever the application wants to keep with it. */
  readonly metadata?: string
}

export interface CommittedOffset extends TopicPartition {
  /** -1: none is committed. */
  readonly offset: number
  readonly leaderEpoch: number
  readonly metadata: string | null
  readonly error: MillraceError | undefined
}

/** Who commits. A consumer that is no member has generation -1 and no ids. */
export interface Committer {
  readonly groupId: string
  readonly generationId: number
  readonly memberId: string
  readonly groupInstanceId: string | null
}

interface Where {
  readonly nodeId: number
  readonly lane: string
  readonly timeoutMs?: number
}

/** Tried once. Resolves with what became of each, in their order: undefined for those that are committed. */
export async function commitOffsets(
  cluster: Cluster,
  { groupId, generationId, memberId, groupInstanceId }: Committer,
  offsets: readonly (OffsetToCommit & { readonly topicId?: Uuid | undefined })[],
  { nodeId, ...options }: Where,
): Promise<readonly (MillraceError | undefined)[]> {
  const ids = new TopicIds(cluster, offsets)
  const topics = byTopic(offsets, ({ partition, offset, leaderEpoch, metadata }) => ({
    partitionIndex: partition,
    committedOffset: offset,
    committedLeaderEpoch: leaderEpoch ?? -1,
    committedMetadata: metadata ?? '',
  })).map(topic => ({ ...topic, topicId: ids.of(topic.name) }))
  const answer = await cluster.send(
    nodeId,
    offsetCommitApi,
    version => ({
      groupId,
      generationIdOrMemberEpoch: generationId,
      memberId,
      // Older brokers know no static members; the field is refused there.
      ...(version >= 7 ? { groupInstanceId } : {}),
      topics,
    }),
    { ...options, maxVersion: ids.maxVersion },
  )
  return offsets.map(({ topic, partition }) => {
    const ofTopic = answer.topics.find(one => ids.isTopic(one, topic))
    const code = ofTopic?.partitions.find(one => one.partitionIndex === partition)?.errorCode
    if (code === ErrorCode.none) return undefined
    return brokerError(code ?? ErrorCode.unknownServerError, `offset of ${topic}-${partition} for group ${groupId}`)
  })
}

/**
 * Tried once. `partitions` null: all that the group has committed. Rejects with errors of the whole group; those of one
 * partition are with it.
 */
export async function fetchOffsets(
  cluster: Cluster,
  groupId: string,
  partitions: readonly TopicPartition[] | null,
  { nodeId, requireStable, ...options }: Where & { readonly requireStable: boolean },
): Promise<readonly CommittedOffset[]> {
  const ids = new TopicIds(cluster, partitions ?? [])
  const topics =
    partitions === null
      ? null
      : byTopic(partitions, ({ partition }) => partition).map(({ name, partitions: partitionIndexes }) => ({
          name,
          topicId: ids.of(name),
          partitionIndexes,
        }))
  const maxVersion = partitions === null ? lastVersionWithNames : ids.maxVersion
  const answer = await cluster.send(
    nodeId,
    offsetFetchApi,
    version => {
      const stable = version >= 7 ? { requireStable } : {}
      if (version >= 8) return { groups: [{ groupId, topics }], ...stable }
      const named = topics?.map(({ name, partitionIndexes }) => ({ name, partitionIndexes })) ?? null
      return { groupId, topics: named, ...stable }
    },
    { ...options, maxVersion },
  )
  // Until version 7 the one group is the answer itself.
  const group = answer.groups.find(one => one.groupId === groupId)
  const errorCode = group?.errorCode ?? answer.errorCode
  if (errorCode !== ErrorCode.none) throw brokerError(errorCode, `group ${groupId}`)
  const offsets: CommittedOffset[] = []
  for (const topic of group?.topics ?? answer.topics.map(one => ({ ...one, topicId: zeroUuid }))) {
    const name = topic.topicId === zeroUuid ? topic.name : ids.nameOf(topic.topicId)
    if (name === undefined) continue
    for (const one of topic.partitions) {
      offsets.push({
        topic: name,
        partition: one.partitionIndex,
        offset: one.committedOffset,
        leaderEpoch: one.committedLeaderEpoch,
        metadata: one.metadata,
        error:
          one.errorCode === ErrorCode.none ? undefined : offsetError(one.errorCode, name, one.partitionIndex, groupId),
      })
    }
  }
  return offsets
}

function offsetError(code: ErrorCode, topic: string, partition: number, groupId: string): MillraceError {
  return brokerError(code, `committed offset of ${topic}-${partition} for group ${groupId}`)
}

/** Ids of the topics of one request: all of them, or it has to name its topics. */
class TopicIds {
  readonly #ids = new Map<string, Uuid>()
  readonly #names = new Map<Uuid, string>()

  /** An id that comes with a partition counts, also while the metadata has no such topic: its name may be another topic's. */
  constructor(cluster: Cluster, partitions: readonly (TopicPartition & { readonly topicId?: Uuid | undefined })[]) {
    for (const { topic, topicId: given } of partitions) {
      const topicId = given ?? cluster.metadata.topic(topic)?.topicId ?? zeroUuid
      this.#ids.set(topic, topicId)
      this.#names.set(topicId, topic)
    }
  }

  get maxVersion(): number | undefined {
    return this.#names.has(zeroUuid) ? lastVersionWithNames : undefined
  }

  of(topic: string): Uuid {
    return this.#ids.get(topic) ?? zeroUuid
  }

  nameOf(topicId: Uuid): string | undefined {
    return this.#names.get(topicId)
  }

  isTopic(answer: { readonly name: string; readonly topicId: Uuid }, topic: string): boolean {
    return answer.topicId === zeroUuid ? answer.name === topic : answer.topicId === this.of(topic)
  }
}
