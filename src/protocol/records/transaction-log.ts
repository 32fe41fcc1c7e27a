import { type Infer, int8, int16, int32, int64, list, message, string } from '../schema.ts'

export const transactionLogKey = message(
  'TransactionLogKey',
  { key: 0, versions: '0', flexible: 'none' },
  {
    transactionalId: string('0+'),
  },
)
export interface TransactionLogKey extends Infer<typeof transactionLogKey> {}

export const transactionLogValue = message(
  'TransactionLogValue',
  { key: 0, versions: '0-1', flexible: '1+' },
  {
    producerId: int64('0+'),
    previousProducerId: int64('1+', { default: -1, tag: 0 }),
    nextProducerId: int64('1+', { default: -1, tag: 1 }),
    producerEpoch: int16('0+'),
    nextProducerEpoch: int16('1+', { default: -1, tag: 3 }),
    transactionTimeoutMs: int32('0+'),
    /** 0 Empty, 1 Ongoing, 2 PrepareCommit, 3 PrepareAbort, 4 CompleteCommit, 5 CompleteAbort, 6 Dead, 7 PrepareEpochFence. */
    transactionStatus: int8('0+'),
    transactionPartitions: list(
      '0+',
      {
        topic: string('0+'),
        partitionIds: list('0+', int32),
      },
      { nullable: '0+' },
    ),
    transactionLastUpdateTimestampMs: int64('0+'),
    transactionStartTimestampMs: int64('0+'),
    clientTransactionVersion: int16('1+', { default: 0, tag: 2 }),
  },
)
export interface TransactionLogValue extends Infer<typeof transactionLogValue> {}
