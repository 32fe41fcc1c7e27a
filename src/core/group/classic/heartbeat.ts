import { ErrorCode } from '../../../base/error-code.ts'
import type { HeartbeatCommand } from '../commands.ts'
import type { Draft } from '../draft.ts'
import type { GroupStore } from '../group-store.ts'
import type { ClassicGroup } from './group.ts'
import { validateMember } from './validate-member.ts'

/** Depends on nothing that is not committed: whether a member is one was said to it before. */
export function decideHeartbeat({ request, requestId }: HeartbeatCommand, store: GroupStore, draft: Draft): Draft {
  const group = store.group(request.groupId)
  const errorCode = request.groupId === '' ? ErrorCode.invalidGroupId : checkHeartbeat(request, group)
  if (errorCode === ErrorCode.none || errorCode === ErrorCode.rebalanceInProgress) {
    const { memberId } = request
    draft.startSession(request.groupId, memberId, group!.members.get(memberId)!.sessionTimeoutMs)
  }
  draft.answersAtOnce = true
  return draft.reply(requestId, { type: 'heartbeat', response: { errorCode } })
}

function checkHeartbeat(request: HeartbeatCommand['request'], group: ClassicGroup | undefined): ErrorCode {
  if (group === undefined) return ErrorCode.unknownMemberId
  const errorCode = validateMember(group, request.memberId, request.groupInstanceId)
  if (errorCode !== ErrorCode.none) return errorCode
  if (request.generationId !== group.generationId) return ErrorCode.illegalGeneration
  return group.state === 'PreparingRebalance' ? ErrorCode.rebalanceInProgress : ErrorCode.none
}
