import { ErrorCode } from '../../../base/error-code.ts'
import type { Random } from '../../../base/random.ts'
import type { JoinGroupCommand } from '../commands.ts'
import type { GroupConfig } from '../config.ts'
import type { Draft } from '../draft.ts'
import type { GroupStore } from '../group-store.ts'
import { ownBytes } from '../records.ts'
import { joinGroupReply, syncGroupFailure } from '../replies.ts'
import { ClassicGroup } from './group.ts'
import { type Member, type MemberProtocol, noAssignment, sameProtocols } from './member.ts'
import { newMemberId } from './member-id.ts'
import { completeJoinIfAllJoined, generationReply, memberList, prepareRebalance, rebalance } from './rebalance.ts'
import { validateMember } from './validate-member.ts'

/** From here on a new dynamic member is given its id first and must come back with it. */
const memberIdRequiredVersion = 4
/** From here on a static leader that returns into a stable group is told to leave the assignment as it is. */
const skipAssignmentVersion = 9
/**
 * A new member cannot send heartbeats before its JoinGroup is answered, and its disconnection is not noticed: it may wait this
 * long, whatever its session timeout.
 */
const newMemberJoinTimeoutMs = 300_000

/** Of a string in an answer or a record. */
const longestStringBytes = 0x7fff

/** One JoinGroup on its way through the decision. */
interface Joining {
  readonly command: JoinGroupCommand
  readonly draft: Draft
  readonly config: GroupConfig
  /** What the member supports, in memory of its own, each name once. */
  readonly protocols: readonly MemberProtocol[]
  readonly rebalanceTimeoutMs: number
}

export function decideJoin(
  command: JoinGroupCommand,
  store: GroupStore,
  draft: Draft,
  config: GroupConfig,
  random: Random,
): Draft {
  const { request, apiVersion } = command
  const { groupId, memberId, sessionTimeoutMs } = request
  const joining: Joining = {
    command,
    draft,
    config,
    protocols: distinctProtocols(request.protocols),
    // Version 0 had only one timeout.
    rebalanceTimeoutMs: apiVersion === 0 ? sessionTimeoutMs : request.rebalanceTimeoutMs,
  }
  if (groupId === '') return refuse(joining, ErrorCode.invalidGroupId, memberId)
  if (sessionTimeoutMs < config.minSessionTimeoutMs || sessionTimeoutMs > config.maxSessionTimeoutMs) {
    return refuse(joining, ErrorCode.invalidSessionTimeout, memberId)
  }
  const group = store.group(groupId)
  if (group === undefined) return joinNewGroup(joining, random)
  if (!hasRoomFor(group, memberId, config.maxSize)) return refuseForSize(group, joining)
  return memberId === '' ? joinAsNewMember(group, joining, random) : joinAsKnownMember(group, joining)
}

/** A group begins to exist with its first member, or with the first id that is given out in it. */
function joinNewGroup(joining: Joining, random: Random): Draft {
  const { request } = joining.command
  const { draft } = joining
  if (request.memberId !== '') return refuse(joining, ErrorCode.unknownMemberId, request.memberId)
  const group = new ClassicGroup(request.groupId, draft.now.wallMs)
  if (!group.supports(request.protocolType, joining.protocols)) {
    return refuse(joining, ErrorCode.inconsistentGroupProtocol, '')
  }
  const value = group.toStored()
  draft.create(group)
  draft.records.push({ type: 'groupMetadata', groupId: request.groupId, value })
  return joinAsNewMember(group, joining, random)
}

/**
 * While members rejoin, those that wait are counted, not those that are there: the group may already be above a maximum
 * that was lowered, and the last to come are then left out.
 */
function hasRoomFor(group: ClassicGroup, memberId: string, maxSize: number): boolean {
  const member = group.members.get(memberId)
  switch (group.state) {
    case 'Empty':
      return true
    case 'PreparingRebalance':
      return member?.awaitingJoin !== undefined || group.awaitingJoinCount < maxSize
    case 'CompletingRebalance':
    case 'Stable':
      return member !== undefined || group.members.size < maxSize
  }
}

function refuseForSize(live: ClassicGroup, joining: Joining): Draft {
  const { draft } = joining
  const { memberId } = joining.command.request
  if (live.members.has(memberId) || live.pendingJoins.has(memberId)) {
    const group = draft.edit(live)
    group.remove(memberId)
    draft.endSession(group.groupId, memberId)
    completeJoinIfAllJoined(group, draft)
  }
  return refuse(joining, ErrorCode.groupMaxSizeReached, '')
}

function joinAsNewMember(live: ClassicGroup, joining: Joining, random: Random): Draft {
  const { request, clientId, apiVersion } = joining.command
  const { groupInstanceId, groupId } = request
  const { draft } = joining
  if (!live.supports(request.protocolType, joining.protocols)) {
    return refuse(joining, ErrorCode.inconsistentGroupProtocol, '')
  }
  const memberId = newMemberId(groupInstanceId ?? clientId, random)
  if (Buffer.byteLength(memberId) > longestStringBytes) return refuse(joining, ErrorCode.unknownServerError, '')
  const group = draft.edit(live)
  if (groupInstanceId !== null) {
    const formerId = group.staticMemberId(groupInstanceId)
    if (formerId === undefined) return addMember(group, joining, memberId)
    return replaceStaticMember(group, joining, group.members.get(formerId)!, memberId)
  }
  if (apiVersion < memberIdRequiredVersion) return addMember(group, joining, memberId)
  group.pendingJoins.add(memberId)
  draft.startSession(groupId, memberId, request.sessionTimeoutMs)
  return refuse(joining, ErrorCode.memberIdRequired, memberId)
}

function joinAsKnownMember(live: ClassicGroup, joining: Joining): Draft {
  const { command, draft } = joining
  const { memberId, groupInstanceId, protocolType } = command.request
  if (!live.supports(protocolType, joining.protocols)) {
    return refuse(joining, ErrorCode.inconsistentGroupProtocol, memberId)
  }
  if (live.pendingJoins.has(memberId)) {
    // Ids are given out to dynamic members only.
    if (groupInstanceId !== null) return refuse(joining, ErrorCode.unknownServerError, '')
    return addMember(draft.edit(live), joining, memberId)
  }
  const errorCode = validateMember(live, memberId, groupInstanceId)
  if (errorCode !== ErrorCode.none) return refuse(joining, errorCode, memberId)
  const member = live.members.get(memberId)!
  if (!hasNothingNew(live, member, joining.protocols)) return rejoin(draft.edit(live), joining, member)
  return draft.reply(command.requestId, generationReply(live, memberId, command.apiVersion))
}

/**
 * A member that asks again with what is known already is told the present generation: it may have missed the answer. A leader
 * that joins again while the group is stable wants a rebalance, for reasons that its metadata does not show.
 */
function hasNothingNew(group: ClassicGroup, member: Member, protocols: readonly MemberProtocol[]): boolean {
  if (group.state === 'PreparingRebalance') return false
  if (group.state === 'Stable' && group.leaderId === member.memberId) return false
  return sameProtocols(member.protocols, protocols)
}

function rejoin(group: ClassicGroup, joining: Joining, member: Member): Draft {
  const { command, draft, config } = joining
  answerFormerJoin(member, draft)
  group.update({ ...member, ...updated(joining), awaitingJoin: waiting(command) })
  rebalance(group, draft, config.initialRebalanceDelayMs, `member ${member.memberId} joins again${reasonOf(command)}`)
  return draft
}

function addMember(group: ClassicGroup, joining: Joining, memberId: string): Draft {
  const { command, draft, config } = joining
  const { request } = command
  if (group.state === 'PreparingRebalance' && group.previousState === 'Empty') group.newMemberAdded = true
  const member: Member = {
    ...updated(joining),
    memberId,
    groupInstanceId: request.groupInstanceId ?? undefined,
    assignment: noAssignment,
    isNew: true,
    awaitingJoin: waiting(command),
    awaitingSync: undefined,
  }
  group.add(member, request.protocolType)
  draft.startSession(group.groupId, memberId, newMemberJoinTimeoutMs)
  rebalance(group, draft, config.initialRebalanceDelayMs, `member ${memberId} joins${reasonOf(command)}`)
  return draft
}

/** A static member has restarted: it takes the place of its former self, which is fenced. */
function replaceStaticMember(group: ClassicGroup, joining: Joining, former: Member, memberId: string): Draft {
  const { command, draft, config } = joining
  const formerLeaderId = group.leaderId
  fence(former, draft)
  draft.endSession(group.groupId, former.memberId)
  const member: Member = {
    ...former,
    ...updated(joining),
    memberId,
    awaitingJoin: undefined,
    awaitingSync: undefined,
  }
  group.replaceStatic(former, member)
  draft.startSession(group.groupId, memberId, member.sessionTimeoutMs)
  if (group.state === 'Stable' && group.selectProtocol() === group.protocolName) {
    // Nobody else need know, but the log must: the new id is answered once it is stored.
    draft.records.push({ type: 'groupMetadata', groupId: group.groupId, value: group.toStored() })
    return draft.reply(command.requestId, staticReturnReply(group, command, memberId, formerLeaderId))
  }
  group.update({ ...member, awaitingJoin: waiting(command) })
  const reason = `static member ${memberId} has restarted${reasonOf(command)}`
  // In CompletingRebalance the leader may be assigning to the former id just now, so the phase starts again.
  if (group.state === 'PreparingRebalance') completeJoinIfAllJoined(group, draft)
  else prepareRebalance(group, draft, config.initialRebalanceDelayMs, reason)
  return draft
}

/**
 * An old client that is the leader must not assign again: it is told the former leader's id, so that it does not take
 * itself for the leader. A newer one is told the truth, and to skip the assignment.
 */
function staticReturnReply(
  group: ClassicGroup,
  { apiVersion }: JoinGroupCommand,
  memberId: string,
  formerLeaderId: string | undefined,
) {
  const skipsAssignment = apiVersion >= skipAssignmentVersion
  const isLeader = group.leaderId === memberId
  return joinGroupReply(apiVersion, {
    memberId,
    generationId: group.generationId,
    protocolType: group.protocolType ?? null,
    protocolName: group.protocolName ?? null,
    leader: (skipsAssignment ? group.leaderId : formerLeaderId) ?? '',
    members: skipsAssignment && isLeader ? memberList(group) : [],
    skipAssignment: skipsAssignment && isLeader,
  })
}

function fence(former: Member, draft: Draft): void {
  const { awaitingJoin, awaitingSync, memberId } = former
  const errorCode = ErrorCode.fencedInstanceId
  if (awaitingJoin !== undefined) {
    draft.reply(awaitingJoin.requestId, joinGroupReply(awaitingJoin.apiVersion, { memberId, errorCode }))
  }
  if (awaitingSync !== undefined) draft.reply(awaitingSync.requestId, syncGroupFailure(errorCode))
}

/** The member has asked again, over another connection: the first request gets an answer too. */
function answerFormerJoin({ awaitingJoin, memberId }: Member, draft: Draft): void {
  if (awaitingJoin === undefined) return
  const errorCode = ErrorCode.rebalanceInProgress
  draft.reply(awaitingJoin.requestId, joinGroupReply(awaitingJoin.apiVersion, { memberId, errorCode }))
}

/** All that a JoinGroup says anew of a member. */
function updated({ command, protocols, rebalanceTimeoutMs }: Joining) {
  const { clientId, clientHost, request } = command
  return { clientId, clientHost, protocols, rebalanceTimeoutMs, sessionTimeoutMs: request.sessionTimeoutMs }
}

function refuse({ command, draft }: Joining, errorCode: ErrorCode, memberId: string): Draft {
  return draft.reply(command.requestId, joinGroupReply(command.apiVersion, { errorCode, memberId }))
}

function waiting({ requestId, apiVersion }: JoinGroupCommand) {
  return { requestId, apiVersion }
}

function reasonOf({ request }: JoinGroupCommand): string {
  return request.reason === null ? '' : `; client reason: ${request.reason}`
}

function distinctProtocols(protocols: readonly MemberProtocol[]): MemberProtocol[] {
  const byName = new Map<string, MemberProtocol>()
  for (const { name, metadata } of protocols) {
    if (!byName.has(name)) byName.set(name, { name, metadata: ownBytes(metadata) })
  }
  return [...byName.values()]
}
