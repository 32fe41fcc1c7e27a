import { isTransactional, readBaseOffset, readLastOffset, readProducerId, readRecordCount } from '../batch.ts'
import { ControlType, readControlType, readTransactionMarker } from '../control.ts'
import { RecordReader } from '../record.ts'
import { type AbortedTransaction, countOf, firstOffsetAt, readAt, type TransactionState } from './transaction-state.ts'

interface Aborting {
  readonly transaction: AbortedTransaction
  hasData: boolean
}

/** Goes through the batches of a log in the order of their offsets and says which belong to transactions that aborted. */
export class TransactionWalk {
  readonly #start: TransactionState
  readonly #upcoming: Float64Array
  #begun: number
  readonly #aborting: Map<number, Aborting>
  readonly #committing: Set<number>
  readonly #kept: AbortedTransaction[] = []

  constructor(state: TransactionState) {
    this.#start = state
    this.#upcoming = new Float64Array(state.upcoming)
    this.#begun = state.begun
    this.#aborting = new Map(state.aborting.map(one => [one.transaction.producerId, { ...one }]))
    this.#committing = new Set(state.committing)
  }

  get state(): TransactionState {
    return {
      upcoming: this.#start.upcoming,
      begun: this.#begun,
      aborting: [...this.#aborting.values()].map(one => ({ ...one })),
      committing: [...this.#committing],
    }
  }

  /** The aborted transactions whose markers were passed and have data, in the order of the markers. */
  get keptTransactions(): readonly AbortedTransaction[] {
    return this.#kept
  }

  /** Whether this batch of records is part of an aborted transaction. */
  passRecords(bytes: Buffer, at: number): boolean {
    this.#begin(readLastOffset(bytes, at))
    if (!isTransactional(bytes, at)) return false
    const producerId = readProducerId(bytes, at)
    const aborting = this.#abortingAt(producerId, readBaseOffset(bytes, at))
    if (aborting === undefined) {
      this.#committing.add(producerId)
      return false
    }
    aborting.hasData = true
    return true
  }

  /**
   * Whether nothing is left of the transaction that this control batch ended, so that it may go too. An empty one may; what is
   * no marker may not. Undefined when its record is malformed.
   */
  passControl(bytes: Buffer, at: number, sizeBytes: number): boolean | undefined {
    this.#begin(readLastOffset(bytes, at))
    if (readRecordCount(bytes, at) === 0) return true
    const record = new RecordReader(bytes, at, sizeBytes).next()
    if (record === undefined) return undefined
    const marker = readTransactionMarker(record.key, record.value)
    if (marker === undefined) return isMarkerKey(record.key) ? undefined : false
    const producerId = readProducerId(bytes, at)
    if (marker.isCommit) return !this.#committing.delete(producerId)
    const aborting = this.#abortingAt(producerId, readBaseOffset(bytes, at))
    this.#aborting.delete(producerId)
    if (!aborting?.hasData) return true
    this.#kept.push(aborting.transaction)
    return false
  }

  /** The marker of an aborted transaction may be gone already; what lies behind where it was is of another transaction. */
  #abortingAt(producerId: number, offset: number): Aborting | undefined {
    const aborting = this.#aborting.get(producerId)
    if (aborting === undefined || offset <= aborting.transaction.lastOffset) return aborting
    this.#aborting.delete(producerId)
    return undefined
  }

  /** Transactions that begin at or before the offset have begun. */
  #begin(offset: number): void {
    const count = countOf(this.#upcoming)
    for (; this.#begun < count && firstOffsetAt(this.#upcoming, this.#begun) <= offset; this.#begun++) {
      const transaction = readAt(this.#upcoming, this.#begun)
      if (this.#abortingAt(transaction.producerId, transaction.firstOffset) !== undefined) continue
      this.#aborting.set(transaction.producerId, { transaction, hasData: false })
    }
  }
}

function isMarkerKey(key: Buffer | null): boolean {
  const type = readControlType(key)
  return type === ControlType.abort || type === ControlType.commit
}
