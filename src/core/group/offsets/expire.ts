import type { ClassicGroup } from '../classic/group.ts'
import type { GroupConfig } from '../config.ts'
import type { Draft } from '../draft.ts'
import type { GroupStore } from '../group-store.ts'
import type { StoredOffset } from './store.ts'

/** Groups that one decision looks at, so that a round over all of them does not hold up the loop. */
const groupsPerDecision = 50
const pauseBetweenDecisionsMs = 10

/** The next part of a round over all groups: expired offsets go, and groups that nothing is left of. */
export function decideExpiry(store: GroupStore, draft: Draft, config: GroupConfig): Draft {
  const isNewRound = store.expiryGroupIds.length === 0
  const groupIds = isNewRound ? [...store.groupIds()] : store.expiryGroupIds
  for (const groupId of groupIds.slice(0, groupsPerDecision)) {
    const group = store.group(groupId)
    if (group !== undefined) expireGroup(group, store, draft, config)
  }
  const count = draft.records.reduce((sum, record) => sum + (record.type === 'offsetCommit' ? 1 : 0), 0)
  if (count > 0) draft.effects.push({ type: 'offsetsExpired', count })
  const rest = groupIds.slice(groupsPerDecision)
  const pauseMs = rest.length > 0 ? pauseBetweenDecisionsMs : config.offsetsRetentionCheckIntervalMs
  draft.soft({ type: 'expiryRound', groupIds: rest, atMs: draft.now.monotonicMs + pauseMs })
  draft.maySplit = true
  return draft
}

function expireGroup(group: ClassicGroup, store: GroupStore, draft: Draft, config: GroupConfig): void {
  const { groupId } = group
  const allExpired = expireOffsets(group, store, draft, config)
  // An id was given out a moment ago: its owner would come back to no group.
  if (!allExpired || group.state !== 'Empty' || group.pendingJoins.size > 0) return
  draft.records.push({ type: 'groupMetadata', groupId, value: undefined })
  draft.soft({ type: 'groupRemoved', groupId })
}

/** Whether nothing is left that could keep an empty group alive. */
function expireOffsets(group: ClassicGroup, store: GroupStore, draft: Draft, config: GroupConfig): boolean {
  const { offsets } = store
  const { groupId } = group
  const topics = offsets.topicsOf(groupId)
  if (topics === undefined) return !offsets.hasOpenTransaction(groupId)
  const since = expiryBase(group)
  if (since === undefined) return false
  let allExpired = true
  for (const [topic, partitions] of topics) {
    for (const [partition, offset] of partitions) {
      const isExpired = isOver(offset, since(offset), draft.now.wallMs, config.offsetsRetentionMs)
      if (isExpired && !group.isSubscribedTo(topic) && !offsets.isPending(groupId, topic, partition)) {
        draft.records.push({ type: 'offsetCommit', groupId, topic, partition, value: undefined })
      } else {
        allExpired = false
      }
    }
  }
  return allExpired && !offsets.hasOpenTransaction(groupId)
}

/**
 * From when on an offset's retention counts; undefined while nothing of the group expires. Without membership: from
 * its commit. In an empty group: from when the last member left. Among consumers, in a stable group that is known not to
 * read the topic: from its commit.
 */
function expiryBase(group: ClassicGroup): ((offset: StoredOffset) => number) | undefined {
  const ofCommit = (offset: StoredOffset) => offset.commitTimestampMs
  if (group.protocolType === undefined) return ofCommit
  if (group.state === 'Empty') return group.stateTimestampMs === -1 ? ofCommit : () => group.stateTimestampMs
  return group.state === 'Stable' && group.isConsumerGroup && group.knowsSubscribedTopics ? ofCommit : undefined
}

function isOver(offset: StoredOffset, sinceMs: number, nowMs: number, retentionMs: number): boolean {
  if (offset.expireTimestampMs !== -1) return nowMs >= offset.expireTimestampMs
  return nowMs - sinceMs >= retentionMs
}
