import { errorCode, fields, type Infer, int32, list, message, string } from '../schema.ts'

export const listGroupsRequest = message(
  'ListGroupsRequest',
  { key: 16, versions: '0-5', flexible: '3+' },
  {
    /** None means all. */
    statesFilter: list('4+', string),
    /** None means all. */
    typesFilter: list('5+', string),
  },
)
export interface ListGroupsRequest extends Infer<typeof listGroupsRequest> {}

export const listedGroup = fields({
  groupId: string('0+'),
  protocolType: string('0+'),
  groupState: string('4+', { ignorable: true }),
  groupType: string('5+', { ignorable: true }),
})
export interface ListedGroup extends Infer<typeof listedGroup> {}

export const listGroupsResponse = message(
  'ListGroupsResponse',
  { key: 16, versions: '0-5', flexible: '3+' },
  {
    throttleTimeMs: int32('1+', { ignorable: true }),
    errorCode: errorCode('0+'),
    groups: list('0+', listedGroup),
  },
)
export interface ListGroupsResponse extends Infer<typeof listGroupsResponse> {}
