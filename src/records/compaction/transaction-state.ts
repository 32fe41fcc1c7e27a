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
  /** Transactions that abort, in the order of their first offsets. Shared, for there may be very many of them. */
  readonly upcoming: SharedArrayBuffer
  /** How many of them have begun. */
  readonly begun: number
  readonly aborting: readonly OngoingAbort[]
  /** Producers with records, since their last marker, of a transaction that did not abort. */
  readonly committing: readonly number[]
}

const numbersEach = 4

export function noTransactions(upcoming: readonly AbortedTransaction[] = []): TransactionState {
  return { upcoming: encode(upcoming), begun: 0, aborting: [], committing: [] }
}

/** The same, knowing of more transactions that aborted. Those it knows already may be among them. */
export function withAborted(state: TransactionState, transactions: readonly AbortedTransaction[]): TransactionState {
  if (transactions.length === 0) return state
  const known = new Float64Array(state.upcoming)
  const left = Array.from({ length: countOf(known) - state.begun }, (_, index) => readAt(known, state.begun + index))
  return { ...state, upcoming: encode([...left, ...transactions]), begun: 0 }
}

export function countOf(upcoming: Float64Array): number {
  return upcoming.length / numbersEach
}

export function firstOffsetAt(upcoming: Float64Array, index: number): number {
  return upcoming[index * numbersEach]
}

export function readAt(upcoming: Float64Array, index: number): AbortedTransaction {
  const [firstOffset, producerId, lastOffset, lastStableOffset] = upcoming.subarray(index * numbersEach)
  return { producerId, firstOffset, lastOffset, lastStableOffset }
}

function encode(transactions: readonly AbortedTransaction[]): SharedArrayBuffer {
  const sorted = [...transactions].sort((a, b) => a.firstOffset - b.firstOffset)
  const memory = new SharedArrayBuffer(sorted.length * numbersEach * Float64Array.BYTES_PER_ELEMENT)
  const numbers = new Float64Array(memory)
  for (const [index, { producerId, firstOffset, lastOffset, lastStableOffset }] of sorted.entries()) {
    numbers.set([firstOffset, producerId, lastOffset, lastStableOffset], index * numbersEach)
  }
  return memory
}
