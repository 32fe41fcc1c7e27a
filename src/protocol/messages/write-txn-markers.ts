import { bool, errorCode, fields, type Infer, int8, int16, int32, int64, list, message, string } from '../schema.ts'

export const writableTxnMarker = fields({
  producerId: int64('0+'),
  producerEpoch: int16('0+'),
  transactionResult: bool('0+'),
  topics: list('0+', {
    name: string('0+'),
    partitionIndexes: list('0+', int32),
  }),
  coordinatorEpoch: int32('0+'),
  transactionVersion: int8('2+', { default: 0, ignorable: true }),
})
export interface WritableTxnMarker extends Infer<typeof writableTxnMarker> {}

export const writeTxnMarkersRequest = message(
  'WriteTxnMarkersRequest',
  { key: 27, versions: '1-2', flexible: '1+' },
  {
    markers: list('0+', writableTxnMarker),
  },
)
export interface WriteTxnMarkersRequest extends Infer<typeof writeTxnMarkersRequest> {}

export const writableTxnMarkerTopicResult = fields({
  name: string('0+'),
  partitions: list('0+', {
    partitionIndex: int32('0+'),
    errorCode: errorCode('0+'),
  }),
})
export interface WritableTxnMarkerTopicResult extends Infer<typeof writableTxnMarkerTopicResult> {}

export const writableTxnMarkerResult = fields({
  producerId: int64('0+'),
  topics: list('0+', writableTxnMarkerTopicResult),
})
export interface WritableTxnMarkerResult extends Infer<typeof writableTxnMarkerResult> {}

export const writeTxnMarkersResponse = message(
  'WriteTxnMarkersResponse',
  { key: 27, versions: '1-2', flexible: '1+' },
  {
    markers: list('0+', writableTxnMarkerResult),
  },
)
export interface WriteTxnMarkersResponse extends Infer<typeof writeTxnMarkersResponse> {}
