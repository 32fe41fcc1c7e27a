import { bool, bytes, errorCode, fields, type Infer, int32, list, message, string } from '../schema.ts'

export const joinGroupRequest = message(
  'JoinGroupRequest',
  { key: 11, versions: '0-9', flexible: '6+' },
  {
    groupId: string('0+'),
    sessionTimeoutMs: int32('0+'),
    rebalanceTimeoutMs: int32('1+', { default: -1, ignorable: true }),
    memberId: string('0+'),
    groupInstanceId: string('5+', { nullable: '5+', default: null }),
    protocolType: string('0+'),
    protocols: list('0+', {
      name: string('0+'),
      metadata: bytes('0+'),
    }),
    reason: string('8+', { nullable: '8+', default: null, ignorable: true }),
  },
)
export interface JoinGroupRequest extends Infer<typeof joinGroupRequest> {}

export const joinGroupResponseMember = fields({
  memberId: string('0+'),
  groupInstanceId: string('5+', { nullable: '5+', default: null, ignorable: true }),
  metadata: bytes('0+'),
})
export interface JoinGroupResponseMember extends Infer<typeof joinGroupResponseMember> {}

export const joinGroupResponse = message(
  'JoinGroupResponse',
  { key: 11, versions: '0-9', flexible: '6+' },
  {
    throttleTimeMs: int32('2+', { ignorable: true }),
    errorCode: errorCode('0+'),
    generationId: int32('0+', { default: -1 }),
    protocolType: string('7+', { nullable: '7+', default: null, ignorable: true }),
    protocolName: string('0+', { nullable: '7+' }),
    leader: string('0+'),
    skipAssignment: bool('9+', { default: false }),
    memberId: string('0+'),
    members: list('0+', joinGroupResponseMember),
  },
)
export interface JoinGroupResponse extends Infer<typeof joinGroupResponse> {}
