import { bool, errorCode, fields, type Infer, int8, int16, int32, list, message, string } from '../schema.ts'

export const featureUpdateKey = fields({
  feature: string('0+'),
  maxVersionLevel: int16('0+'),
  allowDowngrade: bool('0'),
  upgradeType: int8('1+', { default: 1 }),
})
export interface FeatureUpdateKey extends Infer<typeof featureUpdateKey> {}

export const updateFeaturesRequest = message(
  'UpdateFeaturesRequest',
  { key: 57, versions: '0-2', flexible: '0+' },
  {
    timeoutMs: int32('0+', { default: 60000 }),
    featureUpdates: list('0+', featureUpdateKey),
    validateOnly: bool('1+', { default: false }),
  },
)
export interface UpdateFeaturesRequest extends Infer<typeof updateFeaturesRequest> {}

export const updatableFeatureResult = fields({
  feature: string('0+'),
  errorCode: errorCode('0+'),
  errorMessage: string('0+', { nullable: '0+' }),
})
export interface UpdatableFeatureResult extends Infer<typeof updatableFeatureResult> {}

export const updateFeaturesResponse = message(
  'UpdateFeaturesResponse',
  { key: 57, versions: '0-2', flexible: '0+' },
  {
    throttleTimeMs: int32('0+'),
    errorCode: errorCode('0+'),
    errorMessage: string('0+', { nullable: '0+' }),
    results: list('0-1', updatableFeatureResult, { ignorable: true }),
  },
)
export interface UpdateFeaturesResponse extends Infer<typeof updateFeaturesResponse> {}
