import { bool, errorCode, type Infer, int8, int32, list, message, string, uuid } from '../schema.ts'

export const getTelemetrySubscriptionsRequest = message(
  'GetTelemetrySubscriptionsRequest',
  { key: 71, versions: '0', flexible: '0+' },
  {
    clientInstanceId: uuid('0+'),
  },
)
export interface GetTelemetrySubscriptionsRequest extends Infer<typeof getTelemetrySubscriptionsRequest> {}

export const getTelemetrySubscriptionsResponse = message(
  'GetTelemetrySubscriptionsResponse',
  { key: 71, versions: '0', flexible: '0+' },
  {
    throttleTimeMs: int32('0+'),
    errorCode: errorCode('0+'),
    clientInstanceId: uuid('0+'),
    subscriptionId: int32('0+'),
    acceptedCompressionTypes: list('0+', int8),
    pushIntervalMs: int32('0+'),
    telemetryMaxBytes: int32('0+'),
    deltaTemporality: bool('0+'),
    requestedMetrics: list('0+', string),
  },
)
export interface GetTelemetrySubscriptionsResponse extends Infer<typeof getTelemetrySubscriptionsResponse> {}
