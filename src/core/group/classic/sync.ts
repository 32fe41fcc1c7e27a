import { assert } from '../../../base/assert.ts'
import { ErrorCode } from '../../../base/error-code.ts'
import type { SyncGroupCommand } from '../commands.ts'
import type { GroupConfig } from '../config.ts'
import type { Draft } from '../draft.ts'
import type { GroupStore } from '../group-store.ts'
import { ownBytes } from '../records.ts'
import { type GroupReply, syncGroupFailure } from '../replies.ts'
import type { ClassicGroup } from './group.ts'
import { noAssignment } from './member.ts'
import { clearPendingSync, prepareRebalance } from './rebalance.ts'
import { validateMember } from './validate-member.ts'

/** From here on a member must say which protocol it thinks the group has. */
const protocolRequiredVersion = 5

export function decideSync(command: SyncGroupCommand, store: GroupStore, draft: Draft): Draft {
  const group = store.group(command.request.groupId)
  const errorCode = checkSync(command, group)
  if (errorCode !== ErrorCode.none) return draft.reply(command.requestId, syncGroupFailure(errorCode))
  if (group!.state === 'Stable') return answerAssignment(group!, command, draft)
  return awaitAssignment(draft.edit(group!), command, draft)
}

function checkSync({ request, apiVersion }: SyncGroupCommand, group: ClassicGroup | undefined): ErrorCode {
  const { protocolType, protocolName, memberId } = request
  if (apiVersion >= protocolRequiredVersion && (protocolType === null || protocolName === null)) {
    return ErrorCode.inconsistentGroupProtocol
  }
  if (request.groupId === '') return ErrorCode.invalidGroupId
  if (group === undefined || group.state === 'Empty') return ErrorCode.unknownMemberId
  const errorCode = validateMember(group, memberId, request.groupInstanceId)
  if (errorCode !== ErrorCode.none) return errorCode
  if (request.generationId !== group.generationId) return ErrorCode.illegalGeneration
  if (differs(protocolType, group.protocolType) || differs(protocolName, group.protocolName)) {
    return ErrorCode.inconsistentGroupProtocol
  }
  return group.state === 'PreparingRebalance' ? ErrorCode.rebalanceInProgress : ErrorCode.none
}

function differs(said: string | null, actual: string | undefined): boolean {
  return said !== null && actual !== undefined && said !== actual
}

function answerAssignment(live: ClassicGroup, { request, requestId }: SyncGroupCommand, draft: Draft): Draft {
  const { memberId } = request
  if (live.pendingSyncs.has(memberId)) clearPendingSync(draft.edit(live), memberId)
  return draft.reply(requestId, assignmentReply(live, live.members.get(memberId)!.assignment))
}

function awaitAssignment(group: ClassicGroup, command: SyncGroupCommand, draft: Draft): Draft {
  const { request, requestId, apiVersion } = command
  const member = group.members.get(request.memberId)!
  // It has asked again, over another connection: the first request gets an answer too.
  if (member.awaitingSync !== undefined) {
    draft.reply(member.awaitingSync.requestId, syncGroupFailure(ErrorCode.rebalanceInProgress))
  }
  group.update({ ...member, awaitingSync: { requestId, apiVersion } })
  clearPendingSync(group, member.memberId)
  if (group.leaderId === member.memberId) assign(group, command, draft)
  return draft
}

/** The leader has spoken: the generation is stored with its assignments, and whoever waits is told once it is. */
function assign(group: ClassicGroup, { request }: SyncGroupCommand, draft: Draft): void {
  const assignments = new Map(request.assignments.map(({ memberId, assignment }) => [memberId, assignment]))
  for (const member of [...group.members.values()]) {
    const assignment = ownBytes(assignments.get(member.memberId) ?? noAssignment)
    group.update({ ...member, assignment, awaitingSync: undefined })
    if (member.awaitingSync === undefined) continue
    draft.reply(member.awaitingSync.requestId, assignmentReply(group, assignment))
    draft.startSession(group.groupId, member.memberId, member.sessionTimeoutMs)
  }
  // Before the change of state, as Kafka stores it: the time is that of the beginning of the generation.
  draft.records.push({ type: 'groupMetadata', groupId: group.groupId, value: group.toStored() })
  group.becomeStable(draft.now.wallMs)
}

/**
 * The generation cannot be stored, now or later: as in Kafka all who wait for their assignment are told so, and the group begins
 * anew. They would wait for the sync deadline otherwise, and the leader, which is likely to have given up, with them.
 */
export function decideRefusedSync(
  { request }: SyncGroupCommand,
  store: GroupStore,
  draft: Draft,
  config: GroupConfig,
): Draft {
  const live = store.group(request.groupId)
  assert(live?.state === 'CompletingRebalance', 'only the assignments of a new generation are stored')
  const group = draft.edit(live)
  for (const member of [...group.members.values()]) {
    const { memberId, awaitingSync, sessionTimeoutMs } = member
    if (awaitingSync === undefined && memberId !== request.memberId) continue
    if (awaitingSync !== undefined) draft.reply(awaitingSync.requestId, syncGroupFailure(ErrorCode.unknownServerError))
    group.update({ ...member, awaitingSync: undefined })
    draft.startSession(group.groupId, memberId, sessionTimeoutMs)
  }
  prepareRebalance(group, draft, config.initialRebalanceDelayMs, 'its generation could not be stored')
  return draft
}

function assignmentReply(group: ClassicGroup, assignment: Buffer): GroupReply {
  const { protocolType, protocolName } = group
  const errorCode = ErrorCode.none
  return {
    type: 'syncGroup',
    response: { errorCode, protocolType: protocolType ?? null, protocolName: protocolName ?? null, assignment },
  }
}
