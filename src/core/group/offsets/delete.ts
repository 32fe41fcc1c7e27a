import { ErrorCode } from '../../../base/error-code.ts'
import { zeroUuid } from '../../../base/uuid.ts'
import type { ClassicGroup } from '../classic/group.ts'
import type { DeletedTopic, OffsetDeleteCommand } from '../commands.ts'
import type { Draft } from '../draft.ts'
import type { GroupStore } from '../group-store.ts'
import { offsetDeleteReply } from '../replies.ts'
import type { TopicsView } from '../topics-view.ts'
import { PartitionErrors } from './partition-errors.ts'

export function decideOffsetDelete(
  command: OffsetDeleteCommand,
  store: GroupStore,
  topics: TopicsView,
  draft: Draft,
): Draft {
  const { groupId, topics: requested } = command.request
  const group = store.group(groupId)
  const groupCode = checkDelete(groupId, group)
  if (groupCode !== ErrorCode.none) return draft.reply(command.requestId, offsetDeleteReply(groupCode, []))
  const errors = new PartitionErrors()
  const exists = (name: string, index: number) => index >= 0 && index < (topics.topic(name)?.partitionCount ?? 0)
  const partitions = requested.flatMap(topic =>
    topic.partitions.map(({ partitionIndex }) => ({ topic, partitionIndex })),
  )
  for (const { topic, partitionIndex } of partitions) {
    if (!exists(topic.name, partitionIndex)) errors.add(topic, partitionIndex, ErrorCode.unknownTopicOrPartition)
  }
  for (const { topic, partitionIndex } of partitions) {
    if (!exists(topic.name, partitionIndex)) continue
    const isSubscribed = group!.isSubscribedTo(topic.name)
    errors.add(topic, partitionIndex, isSubscribed ? ErrorCode.groupSubscribedToTopic : ErrorCode.none)
    if (!isSubscribed) removeIfThere(store, groupId, topic.name, partitionIndex, draft)
  }
  draft.maySplit = true
  return draft.reply(command.requestId, offsetDeleteReply(ErrorCode.none, errors.topics))
}

function checkDelete(groupId: string, group: ClassicGroup | undefined): ErrorCode {
  if (groupId === '') return ErrorCode.invalidGroupId
  if (group === undefined) return ErrorCode.groupIdNotFound
  // Of members that are not consumers it is not known what they read.
  return group.state === 'Empty' || group.isConsumerGroup ? ErrorCode.none : ErrorCode.nonEmptyGroup
}

function removeIfThere({ offsets }: GroupStore, groupId: string, topic: string, partition: number, draft: Draft): void {
  if (offsets.get(groupId, topic, partition) === undefined && !offsets.isPending(groupId, topic, partition)) return
  draft.records.push({ type: 'offsetCommit', groupId, topic, partition, value: undefined })
}

/** The offsets of a topic go with it, those that do not say of which topic of that name they are too. */
export function decideTopicsDeleted(deleted: readonly DeletedTopic[], store: GroupStore, draft: Draft): Draft {
  const idsByName = new Map<string, Set<string>>()
  for (const { name, topicId } of deleted)
    idsByName.set(name, (idsByName.get(name) ?? new Set([zeroUuid])).add(topicId))
  return removeWhere(store, draft, (topic, topicId) => idsByName.get(topic)?.has(topicId) ?? false)
}

/** Offsets that are of another topic than the one that has the name now, or of none. */
export function decideRemoveStaleOffsets(store: GroupStore, topics: TopicsView, draft: Draft): Draft {
  return removeWhere(store, draft, (topic, topicId) => topicId !== zeroUuid && topics.topic(topic)?.topicId !== topicId)
}

function removeWhere(store: GroupStore, draft: Draft, goes: (topic: string, topicId: string) => boolean): Draft {
  for (const groupId of store.offsets.groupIds()) {
    for (const { topic, partition, offset } of store.offsets.partitionsOf(groupId)) {
      if (goes(topic, offset.topicId)) {
        draft.records.push({ type: 'offsetCommit', groupId, topic, partition, value: undefined })
      }
    }
  }
  draft.maySplit = true
  return draft
}
