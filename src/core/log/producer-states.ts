import { assert } from '../../base/assert.ts'
import { ErrorCode } from '../../base/error-code.ts'
import {
  isControlBatch,
  isTransactional,
  readBaseOffset,
  readBaseSequence,
  readBatchSize,
  readLastOffset,
  readLastOffsetDelta,
  readLastSequence,
  readMagic,
  readMaxTimestamp,
  readProducerEpoch,
  readProducerId,
} from '../../records/batch.ts'
import { readTransactionMarker, type TransactionMarker } from '../../records/control.ts'
import { RecordReader } from '../../records/record.ts'
import type { AppendOrigin } from './partition-log.ts'
import {
  findDuplicate,
  follows,
  lastSequenceOf,
  type ProducerBatch,
  type ProducerEntry,
  unknownProducer,
  withBatch,
  withMarker,
} from './producer-entry.ts'
import type { AbortedTransactionEntry } from './transaction-index.ts'

export interface ProducerRefusal {
  readonly errorCode: ErrorCode
  readonly message: string
}

export type ProducerCheck =
  | { readonly type: 'next' }
  | { readonly type: 'duplicate'; readonly batch: ProducerBatch }
  | { readonly type: 'refused'; readonly errorCode: ErrorCode; readonly message: string }

/** A transaction whose marker is in the log; it holds the last stable offset until the marker is below the high watermark. */
interface EndedTransaction {
  readonly firstOffset: number
  readonly markerOffset: number
}

interface Undo {
  readonly offset: number
  readonly producerId: number
  readonly before: ProducerEntry | undefined
}

const next: ProducerCheck = Object.freeze({ type: 'next' })

/**
 * What one log knows of its producers, batches in flight included: their last sequences, epochs and open transactions.
 * It is changed by `append` only, live and on replay alike, so both lead to the same state.
 */
export class ProducerStates {
  readonly #entries = new Map<number, ProducerEntry>()
  /** Producer id to first offset, in the order of the offsets. */
  readonly #open = new Map<number, number>()
  /** In the order of their markers. */
  #ended: EndedTransaction[] = []
  /** One for each append that may still fail, in the order of the offsets. */
  readonly #undo: Undo[] = []
  #undoFrom = 0

  get entries(): ReadonlyMap<number, ProducerEntry> {
    return this.#entries
  }

  get hasOpenTransaction(): boolean {
    return this.#open.size > 0
  }

  /** Whether the batch at `at`, which has a producer id, may follow. Changes nothing. */
  check(bytes: Buffer, at: number, origin: AppendOrigin): ProducerCheck {
    const entry = this.#entries.get(readProducerId(bytes, at)) ?? unknownProducer
    const producerEpoch = readProducerEpoch(bytes, at)
    if (isControlBatch(bytes, at)) return checkMarker(bytes, at, entry, producerEpoch)
    if (origin === 'client') {
      const baseSequence = readBaseSequence(bytes, at)
      const sent = { producerEpoch, baseSequence, lastSequence: readLastSequence(bytes, at) }
      const batch = findDuplicate(entry, sent)
      if (batch !== undefined) return { type: 'duplicate', batch }
      if (producerEpoch < entry.producerEpoch) return stale(producerEpoch, entry)
      if (!isInSequence(entry, producerEpoch, baseSequence)) return outOfOrder(baseSequence, producerEpoch, entry)
    }
    if (producerEpoch < entry.producerEpoch) return stale(producerEpoch, entry)
    if (entry.currentTxnFirstOffset >= 0 && !isTransactional(bytes, at)) {
      const message = 'the producer has an open transaction: its batches must be transactional'
      return { type: 'refused', errorCode: ErrorCode.invalidTxnState, message }
    }
    return next
  }

  /**
   * Takes the batch at `at`, whose offsets are final, into the state. Answers the aborted transaction that it ended, if
   * it did. Batches without a producer id change nothing, nor do entries from before an upgrade.
   */
  append(bytes: Buffer, at: number): AbortedTransactionEntry | undefined {
    if (readMagic(bytes, at) < 2) return undefined
    const producerId = readProducerId(bytes, at)
    if (producerId < 0) return undefined
    const offset = readBaseOffset(bytes, at)
    const before = this.#entries.get(producerId)
    if (isControlBatch(bytes, at)) return this.#appendMarker(bytes, at, producerId, before)
    const batch: ProducerBatch = {
      lastSequence: readLastSequence(bytes, at),
      lastOffset: readLastOffset(bytes, at),
      offsetDelta: readLastOffsetDelta(bytes, at),
      timestamp: readMaxTimestamp(bytes, at),
    }
    const after = withBatch(before ?? unknownProducer, readProducerEpoch(bytes, at), batch, isTransactional(bytes, at))
    this.#put(offset, producerId, before, after)
    if (after.currentTxnFirstOffset === offset) this.#open.set(producerId, offset)
    return undefined
  }

  /** Appends below this offset cannot fail any more. */
  complete(endOffset: number): void {
    while (this.#undoFrom < this.#undo.length && this.#undo[this.#undoFrom].offset < endOffset) this.#undoFrom++
    if (this.#undoFrom === this.#undo.length) {
      this.#undo.length = 0
      this.#undoFrom = 0
    }
  }

  /** Undoes every append from `offset` on. Only appends that are not complete can be undone. */
  rollBack(offset: number): void {
    while (this.#undo.length > this.#undoFrom && this.#undo[this.#undo.length - 1].offset >= offset) {
      const { producerId, before } = this.#undo.pop() as Undo
      if (before === undefined) this.#entries.delete(producerId)
      else this.#entries.set(producerId, before)
    }
    this.#ended = this.#ended.filter(ended => ended.markerOffset < offset)
    this.#collectOpen()
  }

  /**
   * Below it no transaction is open, nor ended by a marker that is not below the high watermark yet; Infinity when there
   * is no such transaction.
   */
  firstUnstableOffset(highWatermark: number): number {
    while (this.#ended.length > 0 && this.#ended[0].markerOffset < highWatermark) this.#ended.shift()
    let first = Number.POSITIVE_INFINITY
    for (const offset of this.#open.values()) {
      first = offset
      break
    }
    for (const ended of this.#ended) first = Math.min(first, ended.firstOffset)
    return first
  }

  /** Forgets producers that have written nothing for this long and have no open transaction. */
  expire({ wallMs, expirationMs }: { wallMs: number; expirationMs: number }): void {
    const latest = BigInt(Math.floor(wallMs - expirationMs))
    for (const [producerId, entry] of this.#entries) {
      if (entry.currentTxnFirstOffset < 0 && entry.lastTimestamp <= latest) this.#entries.delete(producerId)
    }
  }

  /** The log now begins at `logStartOffset`: transactions that ended below it hold nothing back. */
  truncateFromStart(logStartOffset: number): void {
    this.#ended = this.#ended.filter(ended => ended.markerOffset >= logStartOffset)
  }

  /** Replaces everything by what a snapshot says. */
  reset(entries: Iterable<readonly [number, ProducerEntry]>): void {
    this.#entries.clear()
    for (const [producerId, entry] of entries) this.#entries.set(producerId, entry)
    this.#ended = []
    this.#undo.length = 0
    this.#undoFrom = 0
    this.#collectOpen()
  }

  /** Becomes the same as another, of which no append can fail any more. */
  adopt(states: ProducerStates): void {
    this.reset(states.#entries)
    this.#ended = [...states.#ended]
  }

  /** Whether a transaction of one of them has ended: its marker may not be below the high watermark. */
  get knowsMarkers(): boolean {
    for (const { coordinatorEpoch } of this.#entries.values()) if (coordinatorEpoch >= 0) return true
    return false
  }

  #appendMarker(
    bytes: Buffer,
    at: number,
    producerId: number,
    before: ProducerEntry | undefined,
  ): AbortedTransactionEntry | undefined {
    const marker = readMarker(bytes, at)
    if (marker === undefined) return undefined
    const offset = readBaseOffset(bytes, at)
    const { isCommit, coordinatorEpoch, timestamp } = marker
    const producerEpoch = readProducerEpoch(bytes, at)
    this.#put(
      offset,
      producerId,
      before,
      withMarker(before ?? unknownProducer, { producerEpoch, coordinatorEpoch, timestamp }),
    )
    const firstOffset = before?.currentTxnFirstOffset ?? -1
    if (firstOffset < 0) return undefined
    this.#open.delete(producerId)
    this.#ended.push({ firstOffset, markerOffset: offset })
    if (isCommit) return undefined
    const lastStableOffset = this.#open.values().next().value ?? offset + 1
    return { producerId, firstOffset, lastOffset: offset, lastStableOffset }
  }

  #put(offset: number, producerId: number, before: ProducerEntry | undefined, after: ProducerEntry): void {
    assert(offset >= (this.#undo.at(-1)?.offset ?? 0), 'producer state follows the log in order')
    this.#entries.set(producerId, after)
    this.#undo.push({ offset, producerId, before })
  }

  #collectOpen(): void {
    const open: [number, number][] = []
    for (const [producerId, { currentTxnFirstOffset }] of this.#entries) {
      if (currentTxnFirstOffset >= 0) open.push([producerId, currentTxnFirstOffset])
    }
    open.sort((a, b) => a[1] - b[1])
    this.#open.clear()
    for (const [producerId, firstOffset] of open) this.#open.set(producerId, firstOffset)
  }
}

/**
 * Undefined for other control records, and for a batch whose record the cleaner has removed. The time is the record's: the base
 * timestamp of the batch may be a delete horizon.
 */
function readMarker(bytes: Buffer, at: number): (TransactionMarker & { readonly timestamp: bigint }) | undefined {
  const record = new RecordReader(bytes, at, readBatchSize(bytes, at)).next()
  const marker = record && readTransactionMarker(record.key, record.value)
  return record && marker && { ...marker, timestamp: record.timestamp }
}

function isInSequence(entry: ProducerEntry, producerEpoch: number, baseSequence: number): boolean {
  // Everything of an unknown producer may have been deleted, so any beginning is taken.
  if (entry.producerEpoch < 0) return true
  if (entry.producerEpoch !== producerEpoch) return baseSequence === 0
  return follows(lastSequenceOf(entry), baseSequence)
}

function checkMarker(bytes: Buffer, at: number, entry: ProducerEntry, producerEpoch: number): ProducerCheck {
  const marker = readMarker(bytes, at)
  if (marker === undefined) return next
  if (producerEpoch < entry.producerEpoch) return stale(producerEpoch, entry)
  if (marker.coordinatorEpoch < entry.coordinatorEpoch) {
    const message = `the marker's coordinator epoch ${marker.coordinatorEpoch} is below ${entry.coordinatorEpoch}`
    return { type: 'refused', errorCode: ErrorCode.transactionCoordinatorFenced, message }
  }
  return next
}

function stale(producerEpoch: number, entry: ProducerEntry): ProducerCheck {
  const message = `the producer's epoch ${producerEpoch} is below the last one seen, ${entry.producerEpoch}`
  return { type: 'refused', errorCode: ErrorCode.invalidProducerEpoch, message }
}

function outOfOrder(baseSequence: number, producerEpoch: number, entry: ProducerEntry): ProducerCheck {
  const message =
    producerEpoch === entry.producerEpoch
      ? `the batch begins with sequence ${baseSequence}, the last one ended with ${lastSequenceOf(entry)}`
      : `epoch ${producerEpoch} of the producer begins with sequence ${baseSequence}, not with 0`
  return { type: 'refused', errorCode: ErrorCode.outOfOrderSequenceNumber, message }
}
