import { errorCode, fields, type Infer, int8, int32, list, message, string } from '../schema.ts'

export const describeUserScramCredentialsRequest = message(
  'DescribeUserScramCredentialsRequest',
  { key: 50, versions: '0', flexible: '0+' },
  {
    users: list(
      '0+',
      {
        name: string('0+'),
      },
      { nullable: '0+' },
    ),
  },
)
export interface DescribeUserScramCredentialsRequest extends Infer<typeof describeUserScramCredentialsRequest> {}

export const describeUserScramCredentialsResult = fields({
  user: string('0+'),
  errorCode: errorCode('0+'),
  errorMessage: string('0+', { nullable: '0+' }),
  credentialInfos: list('0+', {
    mechanism: int8('0+'),
    iterations: int32('0+'),
  }),
})
export interface DescribeUserScramCredentialsResult extends Infer<typeof describeUserScramCredentialsResult> {}

export const describeUserScramCredentialsResponse = message(
  'DescribeUserScramCredentialsResponse',
  { key: 50, versions: '0', flexible: '0+' },
  {
    throttleTimeMs: int32('0+'),
    errorCode: errorCode('0+'),
    errorMessage: string('0+', { nullable: '0+' }),
    results: list('0+', describeUserScramCredentialsResult),
  },
)
export interface DescribeUserScramCredentialsResponse extends Infer<typeof describeUserScramCredentialsResponse> {}
