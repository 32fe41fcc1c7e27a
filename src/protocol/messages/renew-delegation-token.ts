import { bytes, errorCode, type Infer, int32, int64, message } from '../schema.ts'

export const renewDelegationTokenRequest = message(
  'RenewDelegationTokenRequest',
  { key: 39, versions: '1-2', flexible: '2+' },
  {
    hmac: bytes('0+'),
    renewPeriodMs: int64('0+'),
  },
)
export interface RenewDelegationTokenRequest extends Infer<typeof renewDelegationTokenRequest> {}

export const renewDelegationTokenResponse = message(
  'RenewDelegationTokenResponse',
  { key: 39, versions: '1-2', flexible: '2+' },
  {
    errorCode: errorCode('0+'),
    expiryTimestampMs: int64('0+'),
    throttleTimeMs: int32('0+'),
  },
)
export interface RenewDelegationTokenResponse extends Infer<typeof renewDelegationTokenResponse> {}
