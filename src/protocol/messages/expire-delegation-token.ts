import { bytes, errorCode, type Infer, int32, int64, message } from '../schema.ts'

export const expireDelegationTokenRequest = message(
  'ExpireDelegationTokenRequest',
  { key: 40, versions: '1-2', flexible: '2+' },
  {
    hmac: bytes('0+'),
    expiryTimePeriodMs: int64('0+'),
  },
)
export interface ExpireDelegationTokenRequest extends Infer<typeof expireDelegationTokenRequest> {}

export const expireDelegationTokenResponse = message(
  'ExpireDelegationTokenResponse',
  { key: 40, versions: '1-2', flexible: '2+' },
  {
    errorCode: errorCode('0+'),
    expiryTimestampMs: int64('0+'),
    throttleTimeMs: int32('0+'),
  },
)
export interface ExpireDelegationTokenResponse extends Infer<typeof expireDelegationTokenResponse> {}
