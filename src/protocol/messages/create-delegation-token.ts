import { bytes, errorCode, type Infer, int32, int64, list, message, string } from '../schema.ts'

export const createDelegationTokenRequest = message(
  'CreateDelegationTokenRequest',
  { key: 38, versions: '1-3', flexible: '2+' },
  {
    ownerPrincipalType: string('3+', { nullable: '3+' }),
    ownerPrincipalName: string('3+', { nullable: '3+' }),
    renewers: list('0+', {
      principalType: string('0+'),
      principalName: string('0+'),
    }),
    maxLifetimeMs: int64('0+'),
  },
)
export interface CreateDelegationTokenRequest extends Infer<typeof createDelegationTokenRequest> {}

export const createDelegationTokenResponse = message(
  'CreateDelegationTokenResponse',
  { key: 38, versions: '1-3', flexible: '2+' },
  {
    errorCode: errorCode('0+'),
    principalType: string('0+'),
    principalName: string('0+'),
    tokenRequesterPrincipalType: string('3+'),
    tokenRequesterPrincipalName: string('3+'),
    issueTimestampMs: int64('0+'),
    expiryTimestampMs: int64('0+'),
    maxTimestampMs: int64('0+'),
    tokenId: string('0+'),
    hmac: bytes('0+'),
    throttleTimeMs: int32('0+'),
  },
)
export interface CreateDelegationTokenResponse extends Infer<typeof createDelegationTokenResponse> {}
