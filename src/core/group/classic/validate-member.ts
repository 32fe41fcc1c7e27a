import { ErrorCode } from '../../../base/error-code.ts'
import type { ClassicGroup } from './group.ts'

/** Whether a request comes from a member: the instance that it names is that member, and the group has it. */
export function validateMember(group: ClassicGroup, memberId: string, groupInstanceId: string | null): ErrorCode {
  if (groupInstanceId !== null) {
    const current = group.staticMemberId(groupInstanceId)
    if (current === undefined) return ErrorCode.unknownMemberId
    if (current !== memberId) return ErrorCode.fencedInstanceId
  }
  return group.members.has(memberId) ? ErrorCode.none : ErrorCode.unknownMemberId
}
