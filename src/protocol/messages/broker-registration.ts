import {
  bool,
  errorCode,
  fields,
  type Infer,
  int16,
  int32,
  int64,
  list,
  message,
  string,
  uint16,
  uuid,
} from '../schema.ts'

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

export const brokerRegistrationRequest = message(
  'BrokerRegistrationRequest',
  { key: 62, versions: '0-4', flexible: '0+' },
  {
    brokerId: int32('0+'),
    clusterId: string('0+'),
    /** Random, one for each start of the process. */
    incarnationId: uuid('0+'),
    listeners: list('0+', listener),
    features: list('0+', feature),
    rack: string('0+', { nullable: '0+' }),
    isMigratingZkBroker: bool('1+', { default: false }),
    logDirs: list('2+', uuid, { ignorable: true }),
    /** That of the last clean shutdown; -1 if it was none. */
    previousBrokerEpoch: int64('3+', { default: -1, ignorable: true }),
  },
)
export interface BrokerRegistrationRequest extends Infer<typeof brokerRegistrationRequest> {}

export const brokerRegistrationResponse = message(
  'BrokerRegistrationResponse',
  { key: 62, versions: '0-4', flexible: '0+' },
  {
    throttleTimeMs: int32('0+'),
    errorCode: errorCode('0+'),
    brokerEpoch: int64('0+', { default: -1 }),
  },
)
export interface BrokerRegistrationResponse extends Infer<typeof brokerRegistrationResponse> {}
