import { bool, errorCode, fields, type Infer, int8, int32, list, message, string } from '../schema.ts'

export const alterableConfig = fields({
  name: string('0+'),
  /** 0 set, 1 delete, 2 append, 3 subtract. */
  configOperation: int8('0+'),
  value: string('0+', { nullable: '0+' }),
})
export interface AlterableConfig extends Infer<typeof alterableConfig> {}

export const alterConfigsResource = fields({
  resourceType: int8('0+'),
  resourceName: string('0+'),
  configs: list('0+', alterableConfig),
})
export interface AlterConfigsResource extends Infer<typeof alterConfigsResource> {}

export const incrementalAlterConfigsRequest = message(
  'IncrementalAlterConfigsRequest',
  { key: 44, versions: '0-1', flexible: '1+' },
  {
    resources: list('0+', alterConfigsResource),
    validateOnly: bool('0+'),
  },
)
export interface IncrementalAlterConfigsRequest extends Infer<typeof incrementalAlterConfigsRequest> {}

export const alterConfigsResourceResponse = fields({
  errorCode: errorCode('0+'),
  errorMessage: string('0+', { nullable: '0+' }),
  resourceType: int8('0+'),
  resourceName: string('0+'),
})
export interface AlterConfigsResourceResponse extends Infer<typeof alterConfigsResourceResponse> {}

export const incrementalAlterConfigsResponse = message(
  'IncrementalAlterConfigsResponse',
  { key: 44, versions: '0-1', flexible: '1+' },
  {
    throttleTimeMs: int32('0+'),
    responses: list('0+', alterConfigsResourceResponse),
  },
)
export interface IncrementalAlterConfigsResponse extends Infer<typeof incrementalAlterConfigsResponse> {}
