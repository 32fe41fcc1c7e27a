import { errorCode, fields, type Infer, int8, int32, list, message, string } from '../schema.ts'

export const deleteAclsFilter = fields({
  resourceTypeFilter: int8('0+'),
  resourceNameFilter: string('0+', { nullable: '0+' }),
  patternTypeFilter: int8('1+', { default: 3 }),
  principalFilter: string('0+', { nullable: '0+' }),
  hostFilter: string('0+', { nullable: '0+' }),
  operation: int8('0+'),
  permissionType: int8('0+'),
})
export interface DeleteAclsFilter extends Infer<typeof deleteAclsFilter> {}

export const deleteAclsRequest = message(
  'DeleteAclsRequest',
  { key: 31, versions: '1-3', flexible: '2+' },
  {
    filters: list('0+', deleteAclsFilter),
  },
)
export interface DeleteAclsRequest extends Infer<typeof deleteAclsRequest> {}

export const deleteAclsMatchingAcl = fields({
  errorCode: errorCode('0+'),
  errorMessage: string('0+', { nullable: '0+' }),
  resourceType: int8('0+'),
  resourceName: string('0+'),
  patternType: int8('1+', { default: 3 }),
  principal: string('0+'),
  host: string('0+'),
  operation: int8('0+'),
  permissionType: int8('0+'),
})
export interface DeleteAclsMatchingAcl extends Infer<typeof deleteAclsMatchingAcl> {}

export const deleteAclsFilterResult = fields({
  errorCode: errorCode('0+'),
  errorMessage: string('0+', { nullable: '0+' }),
  matchingAcls: list('0+', deleteAclsMatchingAcl),
})
export interface DeleteAclsFilterResult extends Infer<typeof deleteAclsFilterResult> {}

export const deleteAclsResponse = message(
  'DeleteAclsResponse',
  { key: 31, versions: '1-3', flexible: '2+' },
  {
    throttleTimeMs: int32('0+'),
    filterResults: list('0+', deleteAclsFilterResult),
  },
)
export interface DeleteAclsResponse extends Infer<typeof deleteAclsResponse> {}
