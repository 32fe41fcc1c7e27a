import { bool, errorCode, type Infer, int16, int32, int64, message, string } from '../schema.ts'

export const endTxnRequest = message(
  'EndTxnRequest',
  { key: 26, versions: '0-5', flexible: '3+' },
  {
    transactionalId: string('0+'),
    producerId: int64('0+'),
    producerEpoch: int16('0+'),
    committed: bool('0+'),
  },
)
export interface EndTxnRequest extends Infer<typeof endTxnRequest> {}

export const endTxnResponse = message(
  'EndTxnResponse',
  { key: 26, versions: '0-5', flexible: '3+' },
  {
    throttleTimeMs: int32('0+'),
    errorCode: errorCode('0+'),
    producerId: int64('5+', { default: -1, ignorable: true }),
    producerEpoch: int16('5+', { default: -1, ignorable: true }),
  },
)
export interface EndTxnResponse extends Infer<typeof endTxnResponse> {}
