import { countOf } from '../../../base/count-of.ts'
import { ErrorCode } from '../../../base/error-code.ts'
import type { Draft } from '../draft.ts'
import { joinGroupReply, syncGroupFailure } from '../replies.ts'
import type { ClassicGroup } from './group.ts'
import { type Member, metadataFor, noAssignment } from './member.ts'

/**
 * The phases of a classic group's rebalance. Every function changes the draft's copy of a group.
 *
 * Something changes (a member joins, leaves, fails): PreparingRebalance. All members join again, or the longest rebalance
 * timeout passes and those who have not are removed: the next generation begins, everyone is told, the leader gets the
 * list of members: CompletingRebalance. The leader sends the assignments, which are stored: Stable.
 */

/**
 * A join phase lasts at least so long when someone is missing: a member may have said that its rebalance timeout is
 * nothing, and while nobody at all joins the phase begins again and again.
 */
const shortestJoinPhaseMs = 100

/** Something has changed that concerns all members. */
export function rebalance(group: ClassicGroup, draft: Draft, initialDelayMs: number, reason: string): void {
  if (group.state === 'PreparingRebalance') completeJoinIfAllJoined(group, draft)
  else prepareRebalance(group, draft, initialDelayMs, reason)
}

export function prepareRebalance(group: ClassicGroup, draft: Draft, initialDelayMs: number, reason: string): void {
  if (group.state === 'CompletingRebalance') cancelSyncs(group, draft)
  group.syncDeadlineMs = undefined
  const wasEmpty = group.state === 'Empty'
  group.becomePreparingRebalance(draft.now.wallMs)
  draft.effects.push({ type: 'rebalanceStarted', groupId: group.groupId, reason })
  if (wasEmpty) {
    // More members are likely to come: the first generation waits for them.
    const remainingMs = Math.max(group.rebalanceTimeoutMs - initialDelayMs, 0)
    const atMs = draft.now.monotonicMs + initialDelayMs
    group.joinDeadline = { type: 'initial', atMs, delayMs: initialDelayMs, remainingMs }
  } else if (group.hasAllMembersJoined) {
    completeJoin(group, draft)
  } else {
    awaitJoins(group, draft)
  }
}

/** Whoever is still missing may have left. The delayed first rebalance goes by its delay alone. */
export function completeJoinIfAllJoined(group: ClassicGroup, draft: Draft): void {
  if (group.state !== 'PreparingRebalance' || group.previousState === 'Empty') return
  if (group.hasAllMembersJoined) completeJoin(group, draft)
}

/** The join deadline has come. */
export function joinPhaseTimedOut(group: ClassicGroup, draft: Draft, initialDelayMs: number): void {
  const deadline = group.joinDeadline
  if (deadline?.type === 'initial' && group.newMemberAdded && deadline.remainingMs > 0) {
    group.newMemberAdded = false
    const delayMs = Math.min(initialDelayMs, deadline.remainingMs)
    const remainingMs = Math.max(deadline.remainingMs - deadline.delayMs, 0)
    group.joinDeadline = { type: 'initial', atMs: draft.now.monotonicMs + delayMs, delayMs, remainingMs }
    return
  }
  completeJoin(group, draft)
}

/** The next generation begins with the members that have joined, and static ones that may still come. */
export function completeJoin(group: ClassicGroup, draft: Draft): void {
  for (const member of [...group.members.values()]) {
    if (member.awaitingJoin !== undefined || member.groupInstanceId !== undefined) continue
    dropMember(group, draft, member)
    draft.effects.push({
      type: 'memberFailed',
      groupId: group.groupId,
      memberId: member.memberId,
      reason: 'did not rejoin',
    })
  }
  if (!group.electJoinedLeader() && group.members.size > 0) {
    // Only static members are left and none has come back: their sessions decide.
    awaitJoins(group, draft)
    return
  }
  group.becomeNextGeneration(draft.now.wallMs)
  const { groupId, generationId, members } = group
  draft.effects.push({ type: 'generationStarted', groupId, generationId, memberCount: members.size })
  if (members.size === 0) {
    draft.records.push({ type: 'groupMetadata', groupId, value: group.toStored() })
    return
  }
  for (const member of [...members.values()]) tellGeneration(group, draft, member)
  group.syncDeadlineMs = draft.now.monotonicMs + group.rebalanceTimeoutMs
}

/** The sync deadline has come: members that know of the generation have not asked for their assignment. */
export function syncPhaseTimedOut(group: ClassicGroup, draft: Draft, initialDelayMs: number): void {
  group.syncDeadlineMs = undefined
  const missing = [...group.pendingSyncs]
  if (missing.length === 0) return
  for (const memberId of missing) {
    group.remove(memberId)
    draft.endSession(group.groupId, memberId)
    draft.effects.push({ type: 'memberFailed', groupId: group.groupId, memberId, reason: 'did not sync' })
  }
  prepareRebalance(group, draft, initialDelayMs, `${countOf(missing.length, 'member')} did not sync`)
}

/** A member has asked for its assignment. */
export function clearPendingSync(group: ClassicGroup, memberId: string): void {
  group.pendingSyncs.delete(memberId)
  if (group.pendingSyncs.size === 0) group.syncDeadlineMs = undefined
}

/** Removes a member; a JoinGroup that waits for it is told to start anew. */
export function dropMember(group: ClassicGroup, draft: Draft, member: Member): void {
  const { awaitingJoin, awaitingSync, memberId } = member
  if (awaitingJoin !== undefined) {
    const failed = joinGroupReply(awaitingJoin.apiVersion, { memberId: '', errorCode: ErrorCode.unknownMemberId })
    draft.reply(awaitingJoin.requestId, failed)
  }
  if (awaitingSync !== undefined) draft.reply(awaitingSync.requestId, syncGroupFailure(ErrorCode.unknownMemberId))
  group.remove(memberId)
  draft.endSession(group.groupId, memberId)
}

/** What a JoinGroup is answered when the generation is known. Only the leader learns who the members are. */
export function generationReply(group: ClassicGroup, memberId: string, apiVersion: number, leaderId = group.leaderId) {
  const isLeader = leaderId === memberId
  return joinGroupReply(apiVersion, {
    memberId,
    generationId: group.generationId,
    protocolType: group.protocolType ?? null,
    protocolName: group.protocolName ?? null,
    leader: leaderId ?? '',
    members: isLeader ? memberList(group) : [],
  })
}

export function memberList(group: ClassicGroup) {
  return [...group.members.values()].map(member => ({
    memberId: member.memberId,
    groupInstanceId: member.groupInstanceId ?? null,
    metadata: metadataFor(member, group.protocolName) ?? noAssignment,
  }))
}

function tellGeneration(group: ClassicGroup, draft: Draft, member: Member): void {
  const { awaitingJoin, memberId } = member
  if (awaitingJoin !== undefined) {
    draft.reply(awaitingJoin.requestId, generationReply(group, memberId, awaitingJoin.apiVersion))
  }
  group.update({ ...member, awaitingJoin: undefined, isNew: false })
  group.pendingSyncs.add(memberId)
  draft.startSession(group.groupId, memberId, member.sessionTimeoutMs)
}

function awaitJoins(group: ClassicGroup, draft: Draft): void {
  const waitMs = Math.max(group.rebalanceTimeoutMs, shortestJoinPhaseMs)
  group.joinDeadline = { type: 'rebalance', atMs: draft.now.monotonicMs + waitMs }
}

function cancelSyncs(group: ClassicGroup, draft: Draft): void {
  for (const member of [...group.members.values()]) {
    group.update({ ...member, assignment: noAssignment, awaitingSync: undefined })
    if (member.awaitingSync === undefined) continue
    draft.reply(member.awaitingSync.requestId, syncGroupFailure(ErrorCode.rebalanceInProgress))
    draft.startSession(group.groupId, member.memberId, member.sessionTimeoutMs)
  }
}
