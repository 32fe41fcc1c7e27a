import { errorCode, type Infer, int32, message, string } from '../schema.ts'

export const unregisterBrokerRequest = message(
  'UnregisterBrokerRequest',
  { key: 64, versions: '0', flexible: '0+' },
  {
    brokerId: int32('0+'),
  },
)
export interface UnregisterBrokerRequest extends Infer<typeof unregisterBrokerRequest> {}

export const unregisterBrokerResponse = message(
  'UnregisterBrokerResponse',
  { key: 64, versions: '0', flexible: '0+' },
  {
    throttleTimeMs: int32('0+'),
    errorCode: errorCode('0+'),
    errorMessage: string('0+', { nullable: '0+' }),
  },
)
export interface UnregisterBrokerResponse extends Infer<typeof unregisterBrokerResponse> {}
