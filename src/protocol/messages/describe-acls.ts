import { errorCode, fields, type Infer, int8, int32, list, message, string } from '../schema.ts'

export const describeAclsRequest = message(
  'DescribeAclsRequest',
  { key: 29, versions: '1-3', flexible: '2+' },
  {
    resourceTypeFilter: int8('0+'),
    resourceNameFilter: string('0+', { nullable: '0+' }),
    patternTypeFilter: int8('1+', { default: 3 }),
    principalFilter: string('0+', { nullable: '0+' }),
    hostFilter: string('0+', { nullable: '0+' }),
    operation: int8('0+'),
    permissionType: int8('0+'),
  },
)
export interface DescribeAclsRequest extends Infer<typeof describeAclsRequest> {}

export const aclDescription = fields({
  principal: string('0+'),
  host: string('0+'),
  operation: int8('0+'),
  permissionType: int8('0+'),
})
export interface AclDescription extends Infer<typeof aclDescription> {}

export const describeAclsResource = fields({
  resourceType: int8('0+'),
  resourceName: string('0+'),
  patternType: int8('1+', { default: 3 }),
  acls: list('0+', aclDescription),
})
export interface DescribeAclsResource extends Infer<typeof describeAclsResource> {}

export const describeAclsResponse = message(
  'DescribeAclsResponse',
  { key: 29, versions: '1-3', flexible: '2+' },
  {
    throttleTimeMs: int32('0+'),
    errorCode: errorCode('0+'),
    errorMessage: string('0+', { nullable: '0+' }),
    resources: list('0+', describeAclsResource),
  },
)
export interface DescribeAclsResponse extends Infer<typeof describeAclsResponse> {}
