import { errorCode, type Infer, int8, int32, list, message, string } from '../schema.ts'

export const listConfigResourcesRequest = message(
  'ListConfigResourcesRequest',
  { key: 74, versions: '0-1', flexible: '0+' },
  {
    resourceTypes: list('1+', int8),
  },
)
export interface ListConfigResourcesRequest extends Infer<typeof listConfigResourcesRequest> {}

export const listConfigResourcesResponse = message(
  'ListConfigResourcesResponse',
  { key: 74, versions: '0-1', flexible: '0+' },
  {
    throttleTimeMs: int32('0+'),
    errorCode: errorCode('0+'),
    configResources: list('0+', {
      resourceName: string('0+'),
      resourceType: int8('1+', { default: 16, ignorable: true }),
    }),
  },
)
export interface ListConfigResourcesResponse extends Infer<typeof listConfigResourcesResponse> {}
