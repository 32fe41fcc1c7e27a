import { errorCode, fields, type Infer, int8, int32, list, message, string } from '../schema.ts'

export const aclCreation = fields({
  resourceType: int8('0+'),
  resourceName: string('0+'),
  resourcePatternType: int8('1+', { default: 3 }),
  principal: string('0+'),
  host: string('0+'),
  operation: int8('0+'),
  permissionType: int8('0+'),
})
export interface AclCreation extends Infer<typeof aclCreation> {}

export const createAclsRequest = message(
  'CreateAclsRequest',
  { key: 30, versions: '1-3', flexible: '2+' },
  {
    creations: list('0+', aclCreation),
  },
)
export interface CreateAclsRequest extends Infer<typeof createAclsRequest> {}

export const createAclsResponse = message(
  'CreateAclsResponse',
  { key: 30, versions: '1-3', flexible: '2+' },
  {
    throttleTimeMs: int32('0+'),
    results: list('0+', {
      errorCode: errorCode('0+'),
      errorMessage: string('0+', { nullable: '0+' }),
    }),
  },
)
export interface CreateAclsResponse extends Infer<typeof createAclsResponse> {}
