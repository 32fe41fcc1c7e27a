import { errorCode, fields, type Infer, int16, int32, int64, list, message, string } from '../schema.ts'

export const describeTransactionsRequest = message(
  'DescribeTransactionsRequest',
  { key: 65, versions: '0', flexible: '0+' },
  {
    transactionalIds: list('0+', string),
  },
)
export interface DescribeTransactionsRequest extends Infer<typeof describeTransactionsRequest> {}

export const transactionState = fields({
  errorCode: errorCode('0+'),
  transactionalId: string('0+'),
  transactionState: string('0+'),
  transactionTimeoutMs: int32('0+'),
  transactionStartTimeMs: int64('0+'),
  producerId: int64('0+'),
  producerEpoch: int16('0+'),
  topics: list('0+', {
    topic: string('0+'),
    partitions: list('0+', int32),
  }),
})
export interface TransactionState extends Infer<typeof transactionState> {}

export const describeTransactionsResponse = message(
  'DescribeTransactionsResponse',
  { key: 65, versions: '0', flexible: '0+' },
  {
    throttleTimeMs: int32('0+'),
    transactionStates: list('0+', transactionState),
  },
)
export interface DescribeTransactionsResponse extends Infer<typeof describeTransactionsResponse> {}
