import { isTransactional, readBaseOffset, readLastOffset, readProducerId, readRecordCount } from '../batch.ts'
import { ControlType, readControlType, readTransactionMarker } from '../control.ts'
import { RecordReader } from '../record.ts'
import type { AbortedTransaction, TransactionState } from './transaction-state.ts'

interface Aborting {
  readonly transaction: AbortedTransaction
  hasData: boolean
}

/** Goes through the batches of a log in the order of their offsets and says which belong to transactions that aborted. */
export class TransactionWalk {
  readonly #upcoming: readonly AbortedTransaction[]
  #next = 0
  readonly #aborting: Map<number, Aborting>
  readonly #committing: Set<number>
  readonly #kept: AbortedTransaction[] = []

  constructor({ upcoming, aborting, committing }: TransactionState) {
    this.#upcoming = upcoming
    this.#aborting = new Map(aborting.map(one => [one.transaction.producerId, { ...one }]))
    this.#committing = new Set(committing)
  }

  get state(): TransactionState {
    return {
      upcoming: this.#upcoming.slice(this.#next),
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
    for (; this.#next < this.#upcoming.length; this.#next++) {
      const transaction = this.#upcoming[this.#next]
      if (transaction.firstOffset > offset) break
      if (this.#abortingAt(transaction.producerId, transaction.firstOffset) !== undefined) continue
      this.#aborting.set(transaction.producerId, { transaction, hasData: false })
    }
  }
}

function isMarkerKey(key: Buffer | null): boolean {
  const type = readControlType(key)
  return type === ControlType.abort || type === ControlType.commit
}
