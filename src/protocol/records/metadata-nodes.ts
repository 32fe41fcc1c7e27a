import { bool, fields, type Infer, int8, int16, int32, int64, list, message, string, uint16, uuid } from '../schema.ts'

export const brokerEndpoint = fields({
  name: string('0+'),
  host: string('0+'),
  port: uint16('0+'),
  securityProtocol: int16('0+'),
})
export interface BrokerEndpoint extends Infer<typeof brokerEndpoint> {}

export const brokerFeature = fields({
  name: string('0+'),
  minSupportedVersion: int16('0+'),
  maxSupportedVersion: int16('0+'),
})
export interface BrokerFeature extends Infer<typeof brokerFeature> {}

export const registerBrokerRecord = message(
  'RegisterBrokerRecord',
  { key: 0, versions: '0-4', flexible: '0+' },
  {
    brokerId: int32('0+'),
    isMigratingZkBroker: bool('2+', { default: false }),
    incarnationId: uuid('0+'),
    brokerEpoch: int64('0+'),
    endPoints: list('0+', brokerEndpoint),
    features: list('0+', brokerFeature),
    rack: string('0+', { nullable: '0+' }),
    /** A new broker leads nothing until it has caught up with the metadata. */
    fenced: bool('0+', { default: true }),
    inControlledShutdown: bool('1+', { default: false }),
    logDirs: list('3+', uuid, { tag: 0 }),
    cordonedLogDirs: list('4+', uuid, { nullable: '0+', default: null, tag: 1 }),
  },
)
export interface RegisterBrokerRecord extends Infer<typeof registerBrokerRecord> {}

export const unregisterBrokerRecord = message(
  'UnregisterBrokerRecord',
  { key: 1, versions: '0', flexible: '0+' },
  {
    brokerId: int32('0+'),
    brokerEpoch: int64('0+'),
  },
)
export interface UnregisterBrokerRecord extends Infer<typeof unregisterBrokerRecord> {}

export const fenceBrokerRecord = message(
  'FenceBrokerRecord',
  { key: 7, versions: '0', flexible: '0+' },
  {
    id: int32('0+'),
    epoch: int64('0+'),
  },
)
export interface FenceBrokerRecord extends Infer<typeof fenceBrokerRecord> {}

export const unfenceBrokerRecord = message(
  'UnfenceBrokerRecord',
  { key: 8, versions: '0', flexible: '0+' },
  {
    id: int32('0+'),
    epoch: int64('0+'),
  },
)
export interface UnfenceBrokerRecord extends Infer<typeof unfenceBrokerRecord> {}

export const brokerRegistrationChangeRecord = message(
  'BrokerRegistrationChangeRecord',
  { key: 17, versions: '0-3', flexible: '0+' },
  {
    brokerId: int32('0+'),
    brokerEpoch: int64('0+'),
    fenced: int8('0+', { tag: 0 }),
    inControlledShutdown: int8('1+', { tag: 1 }),
    logDirs: list('2+', uuid, { tag: 2 }),
    cordonedLogDirs: list('3+', uuid, { nullable: '0+', default: null, tag: 3 }),
  },
)
export interface BrokerRegistrationChangeRecord extends Infer<typeof brokerRegistrationChangeRecord> {}

export const controllerEndpoint = fields({
  name: string('0+'),
  host: string('0+'),
  port: uint16('0+'),
  securityProtocol: int16('0+'),
})
export interface ControllerEndpoint extends Infer<typeof controllerEndpoint> {}

export const controllerFeature = fields({
  name: string('0+'),
  minSupportedVersion: int16('0+'),
  maxSupportedVersion: int16('0+'),
})
export interface ControllerFeature extends Infer<typeof controllerFeature> {}

export const registerControllerRecord = message(
  'RegisterControllerRecord',
  { key: 27, versions: '0', flexible: '0+' },
  {
    controllerId: int32('0+'),
    incarnationId: uuid('0+'),
    zkMigrationReady: bool('0+'),
    endPoints: list('0+', controllerEndpoint),
    features: list('0+', controllerFeature),
  },
)
export interface RegisterControllerRecord extends Infer<typeof registerControllerRecord> {}

export const unregisterControllerRecord = message(
  'UnregisterControllerRecord',
  { key: 29, versions: '0', flexible: '0+' },
  {
    controllerId: int32('0+'),
  },
)
export interface UnregisterControllerRecord extends Infer<typeof unregisterControllerRecord> {}
