import { ErrorCode } from '../../../base/error-code.ts'
import { type Uuid, zeroUuid } from '../../../base/uuid.ts'
import type { OffsetCommitRequestPartition } from '../../../protocol/messages/offset-commit.ts'
import type { ClassicGroup } from '../classic/group.ts'
import { validateMember } from '../classic/validate-member.ts'
import type { OffsetCommitCommand } from '../commands.ts'
import type { GroupConfig } from '../config.ts'
import type { Draft } from '../draft.ts'
import type { GroupStore } from '../group-store.ts'
import type { CommittedOffset } from '../records.ts'
import type { TopicsView } from '../topics-view.ts'
import { PartitionErrors } from './partition-errors.ts'

type Topic = OffsetCommitCommand['request']['topics'][number]

/** A topic of the request with those of its partitions that exist, or with those that do not. */
interface PartOfTopic {
  readonly topic: Topic
  /** Zero where there is no such topic. */
  readonly topicId: Uuid
  readonly partitions: readonly OffsetCommitRequestPartition[]
}

/** From here on a topic is named by its id. */
const topicIdVersion = 10
/** From here on a group that does not exist has an error of its own. */
const groupIdNotFoundVersion = 9

export function decideOffsetCommit(
  command: OffsetCommitCommand,
  store: GroupStore,
  topics: TopicsView,
  draft: Draft,
  config: GroupConfig,
): Draft {
  const { request } = command
  const { existing, missing } = divide(request.topics, topics)
  const errors = new PartitionErrors()
  for (const part of missing) {
    for (const { partitionIndex } of part.partitions) errors.add(part.topic, partitionIndex, missingCode(command, part))
  }
  // The group is not asked when nothing is left to commit.
  const group = store.group(request.groupId)
  const errorCode = existing.length === 0 ? ErrorCode.none : checkCommit(command, group)
  for (const part of existing) {
    for (const partition of part.partitions) {
      const code = errorCode === ErrorCode.none ? commit(command, part, partition, draft, config) : errorCode
      errors.add(part.topic, partition.partitionIndex, code)
    }
  }
  if (existing.length > 0 && errorCode === ErrorCode.none) renewSession(group, request.memberId, draft)
  return draft.reply(command.requestId, { type: 'offsetCommit', response: { topics: errors.topics } })
}

function divide(requested: readonly Topic[], topics: TopicsView) {
  const existing: PartOfTopic[] = []
  const missing: PartOfTopic[] = []
  for (const topic of requested) {
    const found = topic.name === '' ? undefined : topics.topic(topic.name)
    const topicId = found?.topicId ?? zeroUuid
    const partitionCount = found?.partitionCount ?? 0
    const exists = ({ partitionIndex }: OffsetCommitRequestPartition) =>
      partitionIndex >= 0 && partitionIndex < partitionCount
    const present = topic.partitions.filter(exists)
    if (present.length > 0) existing.push({ topic, topicId, partitions: present })
    if (present.length < topic.partitions.length) {
      missing.push({ topic, topicId, partitions: topic.partitions.filter(partition => !exists(partition)) })
    }
  }
  return { existing, missing }
}

function missingCode({ apiVersion }: OffsetCommitCommand, { topic }: PartOfTopic): ErrorCode {
  const isUnknownId = apiVersion >= topicIdVersion && topic.name === ''
  return isUnknownId ? ErrorCode.unknownTopicId : ErrorCode.unknownTopicOrPartition
}

/**
 * Members of a generation commit in its name. Whoever is not a member (generation -1: an administrator, a consumer that
 * assigns itself) may commit while the group has no members.
 */
function checkCommit({ request, apiVersion }: OffsetCommitCommand, group: ClassicGroup | undefined): ErrorCode {
  const { memberId, groupInstanceId, generationIdOrMemberEpoch: generationId } = request
  if (group === undefined) {
    if (generationId < 0) return ErrorCode.none
    return apiVersion >= groupIdNotFoundVersion ? ErrorCode.groupIdNotFound : ErrorCode.illegalGeneration
  }
  if (generationId < 0 && group.state === 'Empty') return ErrorCode.none
  if (generationId < 0 && memberId === '' && groupInstanceId === null) return ErrorCode.unknownMemberId
  const errorCode = validateMember(group, memberId, groupInstanceId)
  if (errorCode !== ErrorCode.none) return errorCode
  if (generationId !== group.generationId) return ErrorCode.illegalGeneration
  // It knows the new generation, but not yet what it owns in it: what it commits is of the one before.
  return group.state === 'CompletingRebalance' ? ErrorCode.rebalanceInProgress : ErrorCode.none
}

function commit(
  { request }: OffsetCommitCommand,
  { topic, topicId }: PartOfTopic,
  partition: OffsetCommitRequestPartition,
  draft: Draft,
  config: GroupConfig,
): ErrorCode {
  const metadata = partition.committedMetadata ?? ''
  if (metadata.length > config.offsetMetadataMaxBytes) return ErrorCode.offsetMetadataTooLarge
  const isExpiring = request.retentionTimeMs !== -1
  const value: CommittedOffset = {
    committedOffset: partition.committedOffset,
    leaderEpoch: partition.committedLeaderEpoch,
    metadata,
    commitTimestampMs: draft.now.wallMs,
    expireTimestampMs: isExpiring ? timeAfter(draft.now.wallMs, request.retentionTimeMs) : -1,
    // The stored version that can expire has no room for it.
    topicId: isExpiring ? zeroUuid : topicId,
  }
  const { groupId } = request
  draft.records.push({ type: 'offsetCommit', groupId, topic: topic.name, partition: partition.partitionIndex, value })
  return ErrorCode.none
}

/** A time that no clock comes to is stored as one that never comes. */
function timeAfter(wallMs: number, ms: number): number {
  const atMs = wallMs + ms
  return Number.isSafeInteger(atMs) ? atMs : ms > 0 ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY
}

function renewSession(group: ClassicGroup | undefined, memberId: string, draft: Draft): void {
  const member = group?.members.get(memberId)
  if (group === undefined || member === undefined) return
  if (group.state === 'Stable' || group.state === 'PreparingRebalance') {
    draft.startSession(group.groupId, memberId, member.sessionTimeoutMs)
  }
}
