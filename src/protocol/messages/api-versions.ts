import { bool, errorCode, fields, type Infer, int16, int32, int64, list, message, string } from '../schema.ts'

export const apiVersionsRequest = message(
  'ApiVersionsRequest',
  { key: 18, versions: '0-5', flexible: '3+' },
  {
    clientSoftwareName: string('3+', { ignorable: true }),
    clientSoftwareVersion: string('3+', { ignorable: true }),
    clusterId: string('5+', { nullable: '5+', default: null, ignorable: true }),
    nodeId: int32('5+', { default: -1, ignorable: true }),
  },
)
export interface ApiVersionsRequest extends Infer<typeof apiVersionsRequest> {}

export const apiVersion = fields({
  apiKey: int16('0+'),
  minVersion: int16('0+'),
  maxVersion: int16('0+'),
})
export interface ApiVersion extends Infer<typeof apiVersion> {}

export const supportedFeatureKey = fields({
  name: string('3+'),
  minVersion: int16('3+'),
  maxVersion: int16('3+'),
})
export interface SupportedFeatureKey extends Infer<typeof supportedFeatureKey> {}

export const finalizedFeatureKey = fields({
  name: string('3+'),
  maxVersionLevel: int16('3+'),
  minVersionLevel: int16('3+'),
})
export interface FinalizedFeatureKey extends Infer<typeof finalizedFeatureKey> {}

export const apiVersionsResponse = message(
  'ApiVersionsResponse',
  { key: 18, versions: '0-5', flexible: '3+' },
  {
    errorCode: errorCode('0+'),
    apiKeys: list('0+', apiVersion),
    throttleTimeMs: int32('1+', { ignorable: true }),
    supportedFeatures: list('3+', supportedFeatureKey, { tag: 0, ignorable: true }),
    finalizedFeaturesEpoch: int64('3+', { default: -1, tag: 1, ignorable: true }),
    finalizedFeatures: list('3+', finalizedFeatureKey, { tag: 2, ignorable: true }),
    zkMigrationReady: bool('3+', { default: false, tag: 3, ignorable: true }),
  },
)
export interface ApiVersionsResponse extends Infer<typeof apiVersionsResponse> {}
