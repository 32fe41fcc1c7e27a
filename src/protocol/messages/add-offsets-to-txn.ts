import { errorCode, type Infer, int16, int32, int64, message, string } from '../schema.ts'

export const addOffsetsToTxnRequest = message(
  'AddOffsetsToTxnRequest',
  { key: 25, versions: '0-4', flexible: '3+' },
  {
    transactionalId: string('0+'),
    producerId: int64('0+'),
    producerEpoch: int16('0+'),
    groupId: string('0+'),
  },
)
export interface AddOffsetsToTxnRequest extends Infer<typeof addOffsetsToTxnRequest> {}

export const addOffsetsToTxnResponse = message(
  'AddOffsetsToTxnResponse',
  { key: 25, versions: '0-4', flexible: '3+' },
  {
    throttleTimeMs: int32('0+'),
    errorCode: errorCode('0+'),
  },
)
export interface AddOffsetsToTxnResponse extends Infer<typeof addOffsetsToTxnResponse> {}
