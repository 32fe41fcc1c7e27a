import { bool, bytes, errorCode, type Infer, int8, int32, message, uuid } from '../schema.ts'

export const pushTelemetryRequest = message(
  'PushTelemetryRequest',
  { key: 72, versions: '0', flexible: '0+' },
  {
    clientInstanceId: uuid('0+'),
    subscriptionId: int32('0+'),
    terminating: bool('0+'),
    compressionType: int8('0+'),
    metrics: bytes('0+'),
  },
)
export interface PushTelemetryRequest extends Infer<typeof pushTelemetryRequest> {}

export const pushTelemetryResponse = message(
  'PushTelemetryResponse',
  { key: 72, versions: '0', flexible: '0+' },
  {
    throttleTimeMs: int32('0+'),
    errorCode: errorCode('0+'),
  },
)
export interface PushTelemetryResponse extends Infer<typeof pushTelemetryResponse> {}
