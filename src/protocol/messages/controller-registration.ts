import { bool, errorCode, fields, type Infer, int16, int32, list, message, string, uint16, uuid } from '../schema.ts'

export const listener = fields({
  name: string('0+'),
  host: string('0+'),
  port: uint16('0+'),
  securityProtocol: int16('0+'),
})
export interface Listener extends Infer<typeof listener> {}

export const feature = fields({
  name: string('0+'),
  minSupportedVersion: int16('0+'),
  maxSupportedVersion: int16('0+'),
})
export interface Feature extends Infer<typeof feature> {}

export const controllerRegistrationRequest = message(
  'ControllerRegistrationRequest',
  { key: 70, versions: '0', flexible: '0+' },
  {
    controllerId: int32('0+'),
    incarnationId: uuid('0+'),
    zkMigrationReady: bool('0+'),
    listeners: list('0+', listener),
    features: list('0+', feature),
  },
)
export interface ControllerRegistrationRequest extends Infer<typeof controllerRegistrationRequest> {}

export const controllerRegistrationResponse = message(
  'ControllerRegistrationResponse',
  { key: 70, versions: '0', flexible: '0+' },
  {
    throttleTimeMs: int32('0+'),
    errorCode: errorCode('0+'),
    errorMessage: string('0+', { nullable: '0+' }),
  },
)
export interface ControllerRegistrationResponse extends Infer<typeof controllerRegistrationResponse> {}
