import { errorCode, fields, type Infer, int32, list, message, string } from '../schema.ts'

export const memberIdentity = fields({
  memberId: string('0+'),
  groupInstanceId: string('0+', { nullable: '0+', default: null }),
  reason: string('5+', { nullable: '0+', default: null, ignorable: true }),
})
export interface MemberIdentity extends Infer<typeof memberIdentity> {}

export const leaveGroupRequest = message(
  'LeaveGroupRequest',
  { key: 13, versions: '0-5', flexible: '4+' },
  {
    groupId: string('0+'),
    memberId: string('0-2'),
    /** Since version 3 several may be removed at once. */
    members: list('3+', memberIdentity),
  },
)
export interface LeaveGroupRequest extends Infer<typeof leaveGroupRequest> {}

export const memberResponse = fields({
  memberId: string('0+'),
  groupInstanceId: string('0+', { nullable: '0+' }),
  errorCode: errorCode('0+'),
})
export interface MemberResponse extends Infer<typeof memberResponse> {}

export const leaveGroupResponse = message(
  'LeaveGroupResponse',
  { key: 13, versions: '0-5', flexible: '4+' },
  {
    throttleTimeMs: int32('1+', { ignorable: true }),
    errorCode: errorCode('0+'),
    members: list('3+', memberResponse),
  },
)
export interface LeaveGroupResponse extends Infer<typeof leaveGroupResponse> {}
