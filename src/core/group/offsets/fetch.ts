import { ErrorCode } from '../../../base/error-code.ts'
import { type Uuid, zeroUuid } from '../../../base/uuid.ts'
import type { OffsetFetchRequestGroup } from '../../../protocol/messages/offset-fetch.ts'
import type { OffsetFetchCommand } from '../commands.ts'
import type { Draft } from '../draft.ts'
import type { GroupStore } from '../group-store.ts'
import type { FetchedGroup } from '../replies.ts'
import type { TopicsView } from '../topics-view.ts'
import type { StoredOffset } from './store.ts'

/** From here on a topic is named by its id. */
const topicIdVersion = 10

/** What is not there is no error: offset -1, for a group, a topic or a partition that nobody has heard of. */
export function decideOffsetFetch(
  command: OffsetFetchCommand,
  store: GroupStore,
  topics: TopicsView,
  draft: Draft,
): Draft {
  const groups = command.groups.map(group =>
    group.topics === null
      ? fetchAll(command, group.groupId, store, topics)
      : fetchNamed(command, group, group.topics, store),
  )
  return draft.reply(command.requestId, { type: 'offsetFetch', groups })
}

function fetchNamed(
  command: OffsetFetchCommand,
  { groupId }: OffsetFetchRequestGroup,
  requested: NonNullable<OffsetFetchRequestGroup['topics']>,
  store: GroupStore,
): FetchedGroup {
  const topics = requested.map(({ name, topicId, partitionIndexes }) => {
    const isUnknownId = command.apiVersion >= topicIdVersion && name === ''
    const partitions = partitionIndexes.map(partitionIndex => {
      if (isUnknownId) return withoutOffset(partitionIndex, ErrorCode.unknownTopicId)
      return fetchPartition(command, store, groupId, name, partitionIndex)
    })
    return { name, topicId, partitions }
  })
  return { groupId, topics, errorCode: ErrorCode.none }
}

function fetchAll(command: OffsetFetchCommand, groupId: string, store: GroupStore, topics: TopicsView): FetchedGroup {
  const fetched: { name: string; topicId: Uuid; partitions: ReturnType<typeof fetchPartition>[] }[] = []
  for (const [name, partitions] of store.offsets.topicsOf(groupId) ?? []) {
    const topicId = topics.topic(name)?.topicId ?? zeroUuid
    // Without an id it cannot be named in these versions.
    if (command.apiVersion >= topicIdVersion && topicId === zeroUuid) continue
    const all = [...partitions.keys()].map(partition => fetchPartition(command, store, groupId, name, partition))
    fetched.push({ name, topicId, partitions: all })
  }
  return { groupId, topics: fetched, errorCode: ErrorCode.none }
}

function fetchPartition(
  { requireStable }: OffsetFetchCommand,
  { offsets }: GroupStore,
  groupId: string,
  topic: string,
  partition: number,
) {
  if (requireStable && offsets.isPending(groupId, topic, partition)) {
    return withoutOffset(partition, ErrorCode.unstableOffsetCommit)
  }
  const offset = offsets.get(groupId, topic, partition)
  return offset === undefined ? withoutOffset(partition, ErrorCode.none) : withOffset(partition, offset)
}

function withOffset(partitionIndex: number, { committedOffset, leaderEpoch, metadata }: StoredOffset) {
  const errorCode = ErrorCode.none
  return { partitionIndex, committedOffset, committedLeaderEpoch: leaderEpoch, metadata, errorCode }
}

function withoutOffset(partitionIndex: number, errorCode: ErrorCode) {
  return { partitionIndex, committedOffset: -1, committedLeaderEpoch: -1, metadata: '', errorCode }
}
