import { errorCode, fields, type Infer, int32, int64, list, message, string } from '../schema.ts'

export const listTransactionsRequest = message(
  'ListTransactionsRequest',
  { key: 66, versions: '0-2', flexible: '0+' },
  {
    stateFilters: list('0+', string),
    producerIdFilters: list('0+', int64),
    durationFilter: int64('1+', { default: -1 }),
    transactionalIdPattern: string('2+', { nullable: '2+', default: null }),
  },
)
export interface ListTransactionsRequest extends Infer<typeof listTransactionsRequest> {}

export const transactionState = fields({
  transactionalId: string('0+'),
  producerId: int64('0+'),
  transactionState: string('0+'),
})
export interface TransactionState extends Infer<typeof transactionState> {}

export const listTransactionsResponse = message(
  'ListTransactionsResponse',
  { key: 66, versions: '0-2', flexible: '0+' },
  {
    throttleTimeMs: int32('0+'),
    errorCode: errorCode('0+'),
    unknownStateFilters: list('0+', string),
    transactionStates: list('0+', transactionState),
  },
)
export interface ListTransactionsResponse extends Infer<typeof listTransactionsResponse> {}
