import { errorCode, type Infer, list, message, string } from '../schema.ts'

export const saslHandshakeRequest = message(
  'SaslHandshakeRequest',
  { key: 17, versions: '0-1', flexible: 'none' },
  {
    mechanism: string('0+'),
  },
)
export interface SaslHandshakeRequest extends Infer<typeof saslHandshakeRequest> {}

export const saslHandshakeResponse = message(
  'SaslHandshakeResponse',
  { key: 17, versions: '0-1', flexible: 'none' },
  {
    errorCode: errorCode('0+'),
    mechanisms: list('0+', string),
  },
)
export interface SaslHandshakeResponse extends Infer<typeof saslHandshakeResponse> {}
