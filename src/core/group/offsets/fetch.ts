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
      : fetchNamed(command, group, group.topics, store, topics),
  )
  return draft.reply(command.requestId, { type: 'offsetFetch', groups })
}

function fetchNamed(
  command: OffsetFetchCommand,
  { groupId }: OffsetFetchRequestGroup,
  requested: NonNullable<OffsetFetchRequestGroup['topics']>,
  store: GroupStore,
  view: TopicsView,
): FetchedGroup {
  const topics = requested.map(({ name, topicId, partitionIndexes }) => {
    const isUnknownId = command.apiVersion >= topicIdVersion && name === ''
    const partitions = partitionIndexes.map(partitionIndex => {
      if (isUnknownId) return withoutOffset(partitionIndex, ErrorCode.unknownTopicId)
      return fetchPartition(command, store, view, { groupId, topic: name, partition: partitionIndex })
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
    const all = [...partitions.keys()].map(partition =>
      fetchPartition(command, store, topics, { groupId, topic: name, partition }),
    )
    fetched.push({ name, topicId, partitions: all })
  }
  return { groupId, topics: fetched, errorCode: ErrorCode.none }
}

function fetchPartition(
  { requireStable }: OffsetFetchCommand,
  { offsets }: GroupStore,
  topics: TopicsView,
  { groupId, topic, partition }: { readonly groupId: string; readonly topic: string; readonly partition: number },
) {
  if (requireStable && offsets.isPending(groupId, topic, partition)) {
    return withoutOffset(partition, ErrorCode.unstableOffsetCommit)
  }
  const offset = offsets.get(groupId, topic, partition)
  const isNone = offset === undefined || isOfFormerTopic(offset, topics.topic(topic)?.topicId)
  return isNone ? withoutOffset(partition, ErrorCode.none) : withOffset(partition, offset)
}

/** The name is another topic's now. The removal of the former one's offsets is still to come: the log may have refused it. */
function isOfFormerTopic({ topicId }: StoredOffset, presentId: Uuid | undefined): boolean {
  return topicId !== zeroUuid && presentId !== undefined && topicId !== presentId
}

function withOffset(partitionIndex: number, { committedOffset, leaderEpoch, metadata }: StoredOffset) {
  const errorCode = ErrorCode.none
  return { partitionIndex, committedOffset, committedLeaderEpoch: leaderEpoch, metadata, errorCode }
}

function withoutOffset(partitionIndex: number, errorCode: ErrorCode) {
  return { partitionIndex, committedOffset: -1, committedLeaderEpoch: -1, metadata: '', errorCode }
}
