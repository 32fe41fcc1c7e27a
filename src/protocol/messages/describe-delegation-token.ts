import { bytes, errorCode, fields, type Infer, int32, int64, list, message, string } from '../schema.ts'

export const describeDelegationTokenRequest = message(
  'DescribeDelegationTokenRequest',
  { key: 41, versions: '1-3', flexible: '2+' },
  {
    owners: list(
      '0+',
      {
        principalType: string('0+'),
        principalName: string('0+'),
      },
      { nullable: '0+' },
    ),
  },
)
export interface DescribeDelegationTokenRequest extends Infer<typeof describeDelegationTokenRequest> {}

export const describedDelegationToken = fields({
  principalType: string('0+'),
  principalName: string('0+'),
  tokenRequesterPrincipalType: string('3+'),
  tokenRequesterPrincipalName: string('3+'),
  issueTimestamp: int64('0+'),
  expiryTimestamp: int64('0+'),
  maxTimestamp: int64('0+'),
  tokenId: string('0+'),
  hmac: bytes('0+'),
  renewers: list('0+', {
    principalType: string('0+'),
    principalName: string('0+'),
  }),
})
export interface DescribedDelegationToken extends Infer<typeof describedDelegationToken> {}

export const describeDelegationTokenResponse = message(
  'DescribeDelegationTokenResponse',
  { key: 41, versions: '1-3', flexible: '2+' },
  {
    errorCode: errorCode('0+'),
    tokens: list('0+', describedDelegationToken),
    throttleTimeMs: int32('0+'),
  },
)
export interface DescribeDelegationTokenResponse extends Infer<typeof describeDelegationTokenResponse> {}
