import { bool, errorCode, fields, type Infer, int8, int32, list, message, string } from '../schema.ts'

export const alterConfigsResource = fields({
  resourceType: int8('0+'),
  resourceName: string('0+'),
  /** Replaces all: what is not named goes back to its default. */
  configs: list('0+', {
    name: string('0+'),
    value: string('0+', { nullable: '0+' }),
  }),
})
export interface AlterConfigsResource extends Infer<typeof alterConfigsResource> {}

export const alterConfigsRequest = message(
  'AlterConfigsRequest',
  { key: 33, versions: '0-2', flexible: '2+' },
  {
    resources: list('0+', alterConfigsResource),
    validateOnly: bool('0+'),
  },
)
export interface AlterConfigsRequest extends Infer<typeof alterConfigsRequest> {}

export const alterConfigsResourceResponse = fields({
  errorCode: errorCode('0+'),
  errorMessage: string('0+', { nullable: '0+' }),
  resourceType: int8('0+'),
  resourceName: string('0+'),
})
export interface AlterConfigsResourceResponse extends Infer<typeof alterConfigsResourceResponse> {}

export const alterConfigsResponse = message(
  'AlterConfigsResponse',
  { key: 33, versions: '0-2', flexible: '2+' },
  {
    throttleTimeMs: int32('0+'),
    responses: list('0+', alterConfigsResourceResponse),
  },
)
export interface AlterConfigsResponse extends Infer<typeof alterConfigsResponse> {}
