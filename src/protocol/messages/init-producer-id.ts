import { bool, errorCode, type Infer, int16, int32, int64, message, string } from '../schema.ts'

export const initProducerIdRequest = message(
  'InitProducerIdRequest',
  { key: 22, versions: '0-6', flexible: '2+' },
  {
    /** Null for an idempotent producer without transactions. */
    transactionalId: string('0+', { nullable: '0+' }),
    transactionTimeoutMs: int32('0+'),
    /** The one had so far, to get its next epoch; -1 for a new one. */
    producerId: int64('3+', { default: -1 }),
    producerEpoch: int16('3+', { default: -1 }),
    /** Two-phase commit is not stable in Kafka 4.4. */
    enable2Pc: bool('6+', { default: false }),
    keepPreparedTxn: bool('6+', { default: false }),
  },
)
export interface InitProducerIdRequest extends Infer<typeof initProducerIdRequest> {}

export const initProducerIdResponse = message(
  'InitProducerIdResponse',
  { key: 22, versions: '0-6', flexible: '2+' },
  {
    throttleTimeMs: int32('0+', { ignorable: true }),
    errorCode: errorCode('0+'),
    producerId: int64('0+', { default: -1 }),
    producerEpoch: int16('0+'),
    ongoingTxnProducerId: int64('6+', { default: -1 }),
    ongoingTxnProducerEpoch: int16('6+', { default: -1 }),
  },
)
export interface InitProducerIdResponse extends Infer<typeof initProducerIdResponse> {}
