import { bool, bytes, errorCode, fields, type Infer, int32, list, message, string } from '../schema.ts'

export const describeGroupsRequest = message(
  'DescribeGroupsRequest',
  { key: 15, versions: '0-6', flexible: '5+' },
  {
    groups: list('0+', string),
    includeAuthorizedOperations: bool('3+'),
  },
)
export interface DescribeGroupsRequest extends Infer<typeof describeGroupsRequest> {}

export const describedGroupMember = fields({
  memberId: string('0+'),
  groupInstanceId: string('4+', { nullable: '0+', default: null, ignorable: true }),
  clientId: string('0+'),
  clientHost: string('0+'),
  memberMetadata: bytes('0+'),
  memberAssignment: bytes('0+'),
})
export interface DescribedGroupMember extends Infer<typeof describedGroupMember> {}

export const describedGroup = fields({
  errorCode: errorCode('0+'),
  errorMessage: string('6+', { nullable: '0+', default: null }),
  groupId: string('0+'),
  /** As Kafka names it: PreparingRebalance, CompletingRebalance, Stable, Dead, Empty. */
  groupState: string('0+'),
  protocolType: string('0+'),
  /** Name of the assignor. */
  protocolData: string('0+'),
  members: list('0+', describedGroupMember),
  authorizedOperations: int32('3+', { default: -2147483648 }),
})
export interface DescribedGroup extends Infer<typeof describedGroup> {}

export const describeGroupsResponse = message(
  'DescribeGroupsResponse',
  { key: 15, versions: '0-6', flexible: '5+' },
  {
    throttleTimeMs: int32('1+', { ignorable: true }),
    groups: list('0+', describedGroup),
  },
)
export interface DescribeGroupsResponse extends Infer<typeof describeGroupsResponse> {}
