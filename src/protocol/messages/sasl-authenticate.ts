import { bytes, errorCode, type Infer, int64, message, string } from '../schema.ts'

export const saslAuthenticateRequest = message(
  'SaslAuthenticateRequest',
  { key: 36, versions: '0-2', flexible: '2+' },
  {
    authBytes: bytes('0+'),
  },
)
export interface SaslAuthenticateRequest extends Infer<typeof saslAuthenticateRequest> {}

export const saslAuthenticateResponse = message(
  'SaslAuthenticateResponse',
  { key: 36, versions: '0-2', flexible: '2+' },
  {
    errorCode: errorCode('0+'),
    errorMessage: string('0+', { nullable: '0+' }),
    authBytes: bytes('0+'),
    sessionLifetimeMs: int64('1+', { default: 0, ignorable: true }),
  },
)
export interface SaslAuthenticateResponse extends Infer<typeof saslAuthenticateResponse> {}
