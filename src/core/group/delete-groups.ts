import { ErrorCode } from '../../base/error-code.ts'
import type { DeleteGroupsCommand } from './commands.ts'
import type { Draft } from './draft.ts'
import type { GroupStore } from './group-store.ts'

/** A group without members goes with its offsets; each group succeeds or fails by itself. */
export function decideDeleteGroups(
  { groupIds, requestId }: DeleteGroupsCommand,
  store: GroupStore,
  draft: Draft,
): Draft {
  const results = groupIds.map(groupId => ({ groupId, errorCode: deleteGroup(groupId, store, draft) }))
  draft.maySplit = true
  return draft.reply(requestId, { type: 'deleteGroups', results })
}

function deleteGroup(groupId: string, store: GroupStore, draft: Draft): ErrorCode {
  const group = store.group(groupId)
  if (group === undefined) return ErrorCode.groupIdNotFound
  if (group.state !== 'Empty') return ErrorCode.nonEmptyGroup
  for (const { topic, partition } of store.offsets.partitionsOf(groupId)) {
    draft.records.push({ type: 'offsetCommit', groupId, topic, partition, value: undefined })
  }
  draft.records.push({ type: 'groupMetadata', groupId, value: undefined })
  draft.soft({ type: 'groupRemoved', groupId })
  return ErrorCode.none
}
