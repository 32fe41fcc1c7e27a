import { bool, bytes, errorCode, fields, type Infer, int32, list, message, string } from '../schema.ts'

export const joinGroupRequest = message(
  'JoinGroupRequest',
  { key: 11, versions: '0-9', flexible: '6+' },
  {
    groupId: string('0+'),
    /** Without a heartbeat for so long the member is out. */
    sessionTimeoutMs: int32('0+'),
    /** How long the member may take to rejoin; -1 stands for the session timeout. */
    rebalanceTimeoutMs: int32('1+', { default: -1, ignorable: true }),
    /** Empty at first. */
    memberId: string('0+'),
    /** Makes the member static. */
    groupInstanceId: string('5+', { nullable: '0+', default: null }),
    protocolType: string('0+'),
    /** Assignors, the most wanted first. */
    protocols: list('0+', {
      name: string('0+'),
      /** For `consumer` groups a subscription: see `consumer-protocol.ts`. */
      metadata: bytes('0+'),
    }),
    reason: string('8+', { nullable: '0+', default: null, ignorable: true }),
  },
)
export interface JoinGroupRequest extends Infer<typeof joinGroupRequest> {}

export const joinGroupResponseMember = fields({
  memberId: string('0+'),
  groupInstanceId: string('5+', { nullable: '0+', default: null, ignorable: true }),
  metadata: bytes('0+'),
})
export interface JoinGroupResponseMember extends Infer<typeof joinGroupResponseMember> {}

export const joinGroupResponse = message(
  'JoinGroupResponse',
  { key: 11, versions: '0-9', flexible: '6+' },
  {
    throttleTimeMs: int32('2+', { ignorable: true }),
    errorCode: errorCode('0+'),
    /** -1 with an error. */
    generationId: int32('0+', { default: -1 }),
    protocolType: string('7+', { nullable: '0+', default: null, ignorable: true }),
    /** The assignor that all members have in common. */
    protocolName: string('0+', { nullable: '7+' }),
    /** The member that makes the assignment. */
    leader: string('0+'),
    /** The leader rejoined without a change and is not to assign anew. */
    skipAssignment: bool('9+', { default: false }),
    memberId: string('0+'),
    /** To the leader all members, to the others none. */
    members: list('0+', joinGroupResponseMember),
  },
)
export interface JoinGroupResponse extends Infer<typeof joinGroupResponse> {}
