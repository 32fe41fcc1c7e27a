import { errorCode, type Infer, int32, message, string } from '../schema.ts'

export const unregisterControllerRequest = message(
  'UnregisterControllerRequest',
  { key: 94, versions: '0', flexible: '0+' },
  {
    controllerId: int32('0+'),
  },
)
export interface UnregisterControllerRequest extends Infer<typeof unregisterControllerRequest> {}

export const unregisterControllerResponse = message(
  'UnregisterControllerResponse',
  { key: 94, versions: '0', flexible: '0+' },
  {
    throttleTimeMs: int32('0+'),
    errorCode: errorCode('0+'),
    errorMessage: string('0+', { nullable: '0+' }),
  },
)
export interface UnregisterControllerResponse extends Infer<typeof unregisterControllerResponse> {}
