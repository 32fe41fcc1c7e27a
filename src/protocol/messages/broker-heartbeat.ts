import { bool, errorCode, type Infer, int32, int64, list, message, uuid } from '../schema.ts'

export const brokerHeartbeatRequest = message(
  'BrokerHeartbeatRequest',
  { key: 63, versions: '0-2', flexible: '0+' },
  {
    brokerId: int32('0+'),
    brokerEpoch: int64('0+', { default: -1 }),
    /** How far the broker has read the metadata log. */
    currentMetadataOffset: int64('0+'),
    wantFence: bool('0+'),
    wantShutDown: bool('0+'),
    offlineLogDirs: list('1+', uuid, { tag: 0 }),
    cordonedLogDirs: list('2+', uuid, { nullable: '0+', default: null, tag: 1 }),
  },
)
export interface BrokerHeartbeatRequest extends Infer<typeof brokerHeartbeatRequest> {}

export const brokerHeartbeatResponse = message(
  'BrokerHeartbeatResponse',
  { key: 63, versions: '0-2', flexible: '0+' },
  {
    throttleTimeMs: int32('0+'),
    errorCode: errorCode('0+'),
    isCaughtUp: bool('0+', { default: false }),
    isFenced: bool('0+', { default: true }),
    shouldShutDown: bool('0+'),
  },
)
export interface BrokerHeartbeatResponse extends Infer<typeof brokerHeartbeatResponse> {}
