import { type CoordinatorRecord, type CoordinatorRecordInput, coordinatorRecordCodec } from './coordinator-record.ts'
import { transactionLogKey, transactionLogValue } from './records/transaction-log.ts'

/** What `__transaction_state` holds. */
const types = {
  transactionLog: { key: transactionLogKey, value: transactionLogValue },
}

export type TransactionRecord = CoordinatorRecord<typeof types>
export type TransactionRecordInput = CoordinatorRecordInput<typeof types>

export const transactionRecords = coordinatorRecordCodec(types)
