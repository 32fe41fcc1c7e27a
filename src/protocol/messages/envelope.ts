import { bytes, errorCode, type Infer, message } from '../schema.ts'

export const envelopeRequest = message(
  'EnvelopeRequest',
  { key: 58, versions: '0', flexible: '0+' },
  {
    requestData: bytes('0+'),
    requestPrincipal: bytes('0+', { nullable: '0+' }),
    clientHostAddress: bytes('0+'),
  },
)
export interface EnvelopeRequest extends Infer<typeof envelopeRequest> {}

export const envelopeResponse = message(
  'EnvelopeResponse',
  { key: 58, versions: '0', flexible: '0+' },
  {
    responseData: bytes('0+', { nullable: '0+', default: null }),
    errorCode: errorCode('0+'),
  },
)
export interface EnvelopeResponse extends Infer<typeof envelopeResponse> {}
