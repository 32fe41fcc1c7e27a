/** As an entry of a transaction index has it. */
export interface AbortedTransaction {
  readonly producerId: number
  readonly firstOffset: number
  /** Of the ABORT marker. */
  readonly lastOffset: number
  readonly lastStableOffset: number
}

/** An aborted transaction whose marker has not been passed. */
export interface OngoingAbort {
  readonly transaction: AbortedTransaction
  /** Whether records of it were seen: its marker must stay as long as they may be in other copies of the log. */
  readonly hasData: boolean
}

/** What a walk over batches in the order of their offsets knows of transactions. May be cloned, and is never changed. */
export interface TransactionState {
  /** Not begun yet, in the order of their first offsets. */
  readonly upcoming: readonly AbortedTransaction[]
  readonly aborting: readonly OngoingAbort[]
  /** Producers with records, since their last marker, of a transaction that did not abort. */
  readonly committing: readonly number[]
}

export function noTransactions(upcoming: readonly AbortedTransaction[] = []): TransactionState {
  return withAborted({ upcoming: [], aborting: [], committing: [] }, upcoming)
}

/** The same, knowing of more transactions that aborted. Those it knows already may be among them. */
export function withAborted(state: TransactionState, transactions: readonly AbortedTransaction[]): TransactionState {
  if (transactions.length === 0) return state
  const upcoming = [...state.upcoming, ...transactions].sort((a, b) => a.firstOffset - b.firstOffset)
  return { ...state, upcoming }
}
