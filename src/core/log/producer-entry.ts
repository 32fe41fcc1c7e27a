/** One batch of a producer, as far as it tells a duplicate from a gap. */
export interface ProducerBatch {
  readonly lastSequence: number
  readonly lastOffset: number
  /** Last offset minus base offset. */
  readonly offsetDelta: number
  /** The batch's max timestamp. */
  readonly timestamp: bigint
}

/** What a log knows of one producer id. Never changed after it is made: going back to an earlier one undoes an append. */
export interface ProducerEntry {
  /** -1: none known. */
  readonly producerEpoch: number
  /** Of the transaction coordinator that wrote the last marker; -1: none yet. */
  readonly coordinatorEpoch: number
  /** Where the open transaction began; -1: none is open. */
  readonly currentTxnFirstOffset: number
  /** Of the last batch or marker, in the producer's or coordinator's time. */
  readonly lastTimestamp: bigint
  /** The last five batches of the epoch, oldest first. */
  readonly batches: readonly ProducerBatch[]
}

const batchesToRetain = 5
const twoTo31 = 0x8000_0000

export const unknownProducer: ProducerEntry = Object.freeze({
  producerEpoch: -1,
  coordinatorEpoch: -1,
  currentTxnFirstOffset: -1,
  lastTimestamp: -1n,
  batches: Object.freeze([]),
})

/** -1 when the producer has written no batch that is still known. */
export function lastSequenceOf(entry: ProducerEntry): number {
  return entry.batches.at(-1)?.lastSequence ?? -1
}

export function firstSequenceOf(batch: ProducerBatch): number {
  const first = batch.lastSequence - batch.offsetDelta
  return first >= 0 ? first : first + twoTo31
}

/** Sequences run to 2^31 - 1 and go on at 0. */
export function follows(lastSequence: number, nextSequence: number): boolean {
  return nextSequence === (lastSequence + 1) % twoTo31
}

/** The batch among the last five that has exactly these sequences, if any. */
export function findDuplicate(
  entry: ProducerEntry,
  sent: { producerEpoch: number; baseSequence: number; lastSequence: number },
): ProducerBatch | undefined {
  if (entry.producerEpoch !== sent.producerEpoch) return undefined
  return entry.batches.find(
    batch => batch.lastSequence === sent.lastSequence && firstSequenceOf(batch) === sent.baseSequence,
  )
}

/** The entry after one more batch of records. A transactional one begins a transaction unless one is open. */
export function withBatch(
  entry: ProducerEntry,
  producerEpoch: number,
  batch: ProducerBatch,
  isTransactional: boolean,
): ProducerEntry {
  const kept = entry.producerEpoch === producerEpoch ? entry.batches : []
  const beginsTransaction = isTransactional && entry.currentTxnFirstOffset < 0
  return {
    producerEpoch,
    coordinatorEpoch: entry.coordinatorEpoch,
    currentTxnFirstOffset: beginsTransaction ? batch.lastOffset - batch.offsetDelta : entry.currentTxnFirstOffset,
    lastTimestamp: batch.timestamp,
    batches: kept.length < batchesToRetain ? [...kept, batch] : [...kept.slice(1), batch],
  }
}

/** The entry after a marker has ended its transaction. */
export function withMarker(
  entry: ProducerEntry,
  marker: { producerEpoch: number; coordinatorEpoch: number; timestamp: bigint },
): ProducerEntry {
  return {
    producerEpoch: marker.producerEpoch,
    coordinatorEpoch: marker.coordinatorEpoch,
    currentTxnFirstOffset: -1,
    lastTimestamp: marker.timestamp,
    batches: entry.producerEpoch === marker.producerEpoch ? entry.batches : [],
  }
}
