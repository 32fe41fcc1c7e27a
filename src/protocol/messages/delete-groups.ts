import { errorCode, fields, type Infer, int32, list, message, string } from '../schema.ts'

export const deleteGroupsRequest = message(
  'DeleteGroupsRequest',
  { key: 42, versions: '0-3', flexible: '2+' },
  {
    groupsNames: list('0+', string),
  },
)
export interface DeleteGroupsRequest extends Infer<typeof deleteGroupsRequest> {}

export const deletableGroupResult = fields({
  groupId: string('0+'),
  errorCode: errorCode('0+'),
  errorMessage: string('3+', { nullable: '3+', default: null, ignorable: true }),
})
export interface DeletableGroupResult extends Infer<typeof deletableGroupResult> {}

export const deleteGroupsResponse = message(
  'DeleteGroupsResponse',
  { key: 42, versions: '0-3', flexible: '2+' },
  {
    throttleTimeMs: int32('0+'),
    results: list('0+', deletableGroupResult),
  },
)
export interface DeleteGroupsResponse extends Infer<typeof deleteGroupsResponse> {}
