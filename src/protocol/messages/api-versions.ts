import { bool, errorCode, fields, type Infer, int16, int32, int64, list, message, string } from '../schema.ts'

export const apiVersionsRequest = message(
  'ApiVersionsRequest',
  { key: 18, versions: '0-5', flexible: '3+' },
  {
    clientSoftwareName: string('3+', { ignorable: true }),
    clientSoftwareVersion: string('3+', { ignorable: true }),
    /** The cluster that the client believes to reach; null if it does not check. */
    clusterId: string('5+', { nullable: '0+', default: null, ignorable: true }),
    /** The node that the client believes to reach; -1 if it does not check. */
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
  name: string('0+'),
  minVersion: int16('0+'),
  maxVersion: int16('0+'),
})
export interface SupportedFeatureKey extends Infer<typeof supportedFeatureKey> {}

export const finalizedFeatureKey = fields({
  name: string('0+'),
  maxVersionLevel: int16('0+'),
  minVersionLevel: int16('0+'),
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
    /** Grows with each change of the finalized features; -1 if unknown. */
    finalizedFeaturesEpoch: int64('3+', { default: -1, tag: 1, ignorable: true }),
    finalizedFeatures: list('3+', finalizedFeatureKey, { tag: 2, ignorable: true }),
    /** Always false since Kafka 4.0. */
    zkMigrationReady: bool('3+', { default: false, tag: 3, ignorable: true }),
  },
)
export interface ApiVersionsResponse extends Infer<typeof apiVersionsResponse> {}
