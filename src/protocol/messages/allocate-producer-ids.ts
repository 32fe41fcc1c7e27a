import { errorCode, type Infer, int32, int64, message } from '../schema.ts'

export const allocateProducerIdsRequest = message(
  'AllocateProducerIdsRequest',
  { key: 67, versions: '0', flexible: '0+' },
  {
    brokerId: int32('0+'),
    brokerEpoch: int64('0+', { default: -1 }),
  },
)
export interface AllocateProducerIdsRequest extends Infer<typeof allocateProducerIdsRequest> {}

export const allocateProducerIdsResponse = message(
  'AllocateProducerIdsResponse',
  { key: 67, versions: '0', flexible: '0+' },
  {
    throttleTimeMs: int32('0+'),
    errorCode: errorCode('0+'),
    producerIdStart: int64('0+'),
    producerIdLen: int32('0+'),
  },
)
export interface AllocateProducerIdsResponse extends Infer<typeof allocateProducerIdsResponse> {}
