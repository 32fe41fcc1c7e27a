import { ErrorCode } from '../../../base/error-code.ts'
import type { MemberIdentity } from '../../../protocol/messages/leave-group.ts'
import type { LeaveGroupCommand } from '../commands.ts'
import type { GroupConfig } from '../config.ts'
import type { Draft } from '../draft.ts'
import type { GroupStore } from '../group-store.ts'
import { leaveGroupReply } from '../replies.ts'
import type { ClassicGroup } from './group.ts'
import { dropMember, rebalance } from './rebalance.ts'
import { validateMember } from './validate-member.ts'

/** Before version 3 one member leaves; later several may be named, static ones also by their instance alone. */
export function decideLeave(command: LeaveGroupCommand, store: GroupStore, draft: Draft, config: GroupConfig): Draft {
  const { request, requestId, apiVersion } = command
  const leaving =
    apiVersion >= 3 ? request.members : [{ memberId: request.memberId, groupInstanceId: null, reason: null }]
  if (request.groupId === '') {
    return draft.reply(requestId, leaveGroupReply(apiVersion, ErrorCode.invalidGroupId, []))
  }
  const live = store.group(request.groupId)
  const results = leaving.map(identity => ({
    memberId: identity.memberId,
    groupInstanceId: identity.groupInstanceId,
    errorCode: live === undefined ? ErrorCode.unknownMemberId : leave(live, identity, draft),
  }))
  draft.reply(requestId, leaveGroupReply(apiVersion, ErrorCode.none, results))
  if (live === undefined || results.every(({ errorCode }) => errorCode !== ErrorCode.none)) return draft
  const group = draft.edit(live)
  if (group.state !== 'Empty') rebalance(group, draft, config.initialRebalanceDelayMs, reasonFor(leaving))
  return draft
}

function leave(live: ClassicGroup, { memberId, groupInstanceId }: MemberIdentity, draft: Draft): ErrorCode {
  // Those that were named before are gone already.
  const group = draft.edit(live)
  if (group.pendingJoins.has(memberId)) {
    group.remove(memberId)
    draft.endSession(group.groupId, memberId)
    return ErrorCode.none
  }
  const isByInstance = memberId === '' && groupInstanceId !== null
  const leavingId = isByInstance ? (group.staticMemberId(groupInstanceId) ?? '') : memberId
  const errorCode = validateMember(group, leavingId, groupInstanceId)
  if (errorCode === ErrorCode.none) dropMember(group, draft, group.members.get(leavingId)!)
  return errorCode
}

function reasonFor(leaving: readonly MemberIdentity[]): string {
  const [first] = leaving
  const reason = first?.reason ?? undefined
  const who = leaving.length === 1 ? '1 member leaves' : `${leaving.length} members leave`
  return `${who}${reason === undefined ? '' : `; client reason: ${reason}`}`
}
