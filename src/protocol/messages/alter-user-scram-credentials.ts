import { bytes, errorCode, fields, type Infer, int8, int32, list, message, string } from '../schema.ts'

export const scramCredentialUpsertion = fields({
  name: string('0+'),
  mechanism: int8('0+'),
  iterations: int32('0+'),
  salt: bytes('0+'),
  saltedPassword: bytes('0+'),
})
export interface ScramCredentialUpsertion extends Infer<typeof scramCredentialUpsertion> {}

export const alterUserScramCredentialsRequest = message(
  'AlterUserScramCredentialsRequest',
  { key: 51, versions: '0', flexible: '0+' },
  {
    deletions: list('0+', {
      name: string('0+'),
      mechanism: int8('0+'),
    }),
    upsertions: list('0+', scramCredentialUpsertion),
  },
)
export interface AlterUserScramCredentialsRequest extends Infer<typeof alterUserScramCredentialsRequest> {}

export const alterUserScramCredentialsResult = fields({
  user: string('0+'),
  errorCode: errorCode('0+'),
  errorMessage: string('0+', { nullable: '0+' }),
})
export interface AlterUserScramCredentialsResult extends Infer<typeof alterUserScramCredentialsResult> {}

export const alterUserScramCredentialsResponse = message(
  'AlterUserScramCredentialsResponse',
  { key: 51, versions: '0', flexible: '0+' },
  {
    throttleTimeMs: int32('0+'),
    results: list('0+', alterUserScramCredentialsResult),
  },
)
export interface AlterUserScramCredentialsResponse extends Infer<typeof alterUserScramCredentialsResponse> {}
