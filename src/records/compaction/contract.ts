import type { AbortedTransaction, TransactionState } from './transaction-state.ts'

export interface OffsetRange {
  readonly from: number
  readonly to: number
}

/**
 * Compaction of one log, as two kinds of jobs over chunks of whole batches. Both are pure functions of their job and keep
 * nothing: state that goes from chunk to chunk is in the job and comes back in the result, so that a chunk can be worked on in
 * another thread, and a pass can end between any two.
 *
 * One pass:
 *
 * 1. *Index.* A map is made (`createOffsetMap`, or `clearOffsetMap` on one that was used) and the segments from the first
 *    dirty offset to the first uncleanable one, which is the base of a segment, go through `indexKeys` in the order of their
 *    offsets. The transaction state starts as `noTransactions(abortedTransactions)`, with all transactions that aborted and
 *    touch this range. Each result says how far the map speaks (`mapEndOffset`). When a whole segment was indexed, the map
 *    speaks up to the base of the next one, also where the last offsets of the segment have no batch. When the map is full it
 *    speaks up to where it came, which may be in the middle of a batch; that is where the pass ends, and the next one begins.
 *    A map takes one key at least, so each pass comes further.
 * 2. *Filter.* All segments from the start of the log that begin below `mapEndOffset` go through `filterBatches`, each as a
 *    whole and in order, with a new transaction state for the pass: before the first chunk of each segment the transactions
 *    that aborted and touch that segment are added (`withAborted`). Outputs are appended to the new segment; its indexes
 *    are made from the headers of the batches in them, its transaction index from `abortedTransactions`.
 *
 * Who reads the chunks: `batches` begins with a batch and may end in the middle of one. `consumedBytes` is where the next
 * chunk begins. Nothing consumed and no damage means that the first batch is longer than the chunk: `neededBytes` then is
 * its size, or the smallest size of a chunk that tells. `followingBytes` is what the segment holds behind the chunk: with it
 * a batch that ends beyond the segment is damage, not a chunk that is too short.
 *
 * Memory: the job takes the memory of `batches` and `output` over, which must be alone in theirs (`Buffer.allocUnsafeSlow`);
 * the result gives both back, perhaps as other Buffers of the same memory, and perhaps a larger one for `output`. Whoever
 * wants no garbage goes round with the same two. Until then they must not be touched: in a world where the job is done by
 * another thread they have length 0.
 *
 * Damage (a CRC that is wrong, a header or records that cannot be) ends the pass: `at` is the position of the batch in the
 * chunk. Batches before it are not in the result; nothing of it may be used.
 */
interface ChunkJob {
  /** Of `createOffsetMap`; shared with the job, which `indexKeys` changes and `filterBatches` only reads. */
  readonly map: SharedArrayBuffer
  readonly batches: Buffer
  /** How many bytes the segment holds behind this chunk. */
  readonly followingBytes: number
  /** A batch that begins below `from` or ends at `to` or beyond is damage: no CRC covers its offset. Any may come unless given. */
  readonly offsets?: OffsetRange
  readonly transactions: TransactionState
  /** A batch that unpacks to more is damage (`millrace.max.uncompressed.batch.bytes`). */
  readonly maxUncompressedBytes: number
}

interface ChunkResult {
  readonly type: 'done'
  /** The chunk, given back with its content. */
  readonly batches: Buffer
  /** Of whole batches that are done with. */
  readonly consumedBytes: number
  /** The offset after them. */
  readonly nextOffset: number
  /** At least how long a chunk that begins at `consumedBytes` must be to go on. */
  readonly neededBytes: number
  readonly transactions: TransactionState
  /** In the consumed batches; of a batch that was left out as a whole, what its header says. */
  readonly readRecords: number
  readonly readBatches: number
}

export interface DamagedBatch {
  readonly type: 'damaged'
  readonly batches: Buffer
  /** Position in the chunk. */
  readonly at: number
  /** For the log, without position. */
  readonly reason: string
}

/** The reason of a batch that may be sound: its records unpack to more than `maxUncompressedBytes`. */
export const unpacksTooFar = 'its records unpack to more than is allowed'

/**
 * The thread that did the job has ended, had no memory for it, or broke an invariant. The memory of the job is lost, the map good
 * for nothing. Whatever it was may have had nothing to do with the job: it may be tried again, with a new map.
 */
export interface FailedJob {
  readonly type: 'failed'
  readonly reason: string
}

export interface IndexKeysJob extends ChunkJob {
  readonly type: 'indexKeys'
  /** The first dirty offset: records below it are not indexed. */
  readonly fromOffset: number
  /** What the last result said; for the first chunk of a pass `fromOffset`. */
  readonly mapEndOffset: number
}

export interface KeysIndexed extends ChunkResult {
  /** For all records from `fromOffset` up to here the map has the last offset of their keys. */
  readonly mapEndOffset: number
  /** The map takes no more: the batch at `consumedBytes` was indexed in part or not at all. The pass ends at `mapEndOffset`. */
  readonly isFull: boolean
}

export type IndexKeysResult = KeysIndexed | DamagedBatch | FailedJob

export interface FilterBatchesJob extends ChunkJob {
  readonly type: 'filterBatches'
  /** Where the result is written. Best as long as `batches`; replaced by a longer one where it does not suffice. */
  readonly output: Buffer
  /** Records from here on stay, whatever the map says (aborted ones are dropped even so). */
  readonly mapEndOffset: number
  /** A batch that ends just below it stays, empty if need be: no batch follows it that says where the log ends. -1 where one does. */
  readonly keptEndOffset: number
  /** Of `encodeActiveProducers`; shared, so that it is made once a pass. */
  readonly activeProducers: SharedArrayBuffer
  /** The same for all that goes to one new segment. */
  readonly wallMs: number
  readonly deleteRetentionMs: number
  /** Nothing gets a delete horizon in this pass: a batch that loses nothing stays as large as it is. */
  readonly setsNoHorizons?: boolean
  /**
   * Whether tombstones of magic 0 and 1, which have no horizon of their own, go: the segment was last modified at least
   * `deleteRetentionMs` before the last segment that begins below the first dirty offset.
   */
  readonly dropsLegacyTombstones: boolean
}

export interface BatchesFiltered extends ChunkResult {
  /** Whole batches; a view of the beginning of its memory, so `output.buffer` is all of it. */
  readonly output: Buffer
  readonly keptRecords: number
  readonly keptBatches: number
  /** Dropped because they have no key. */
  readonly keylessRecords: number
  /** For the transaction index of the new segment, in the order of the markers. */
  readonly abortedTransactions: readonly AbortedTransaction[]
  /** The earliest delete horizon of a kept batch; undefined when none has one. */
  readonly earliestDeleteHorizonMs: number | undefined
}

export type FilterBatchesResult = BatchesFiltered | DamagedBatch | FailedJob

export type CompactionJob = IndexKeysJob | FilterBatchesJob

/** What a pass must know of a producer that may still send. */
export interface ActiveProducer {
  readonly producerId: number
  readonly producerEpoch: number
  /** The last offset of its last batch of records; -1 when all that is known is its last marker. */
  readonly lastDataOffset: number
}

/** Three numbers for each, in the order of their ids. */
export function encodeActiveProducers(producers: readonly ActiveProducer[]): SharedArrayBuffer {
  const memory = new SharedArrayBuffer(producers.length * 3 * Float64Array.BYTES_PER_ELEMENT)
  const numbers = new Float64Array(memory)
  const sorted = [...producers].sort((a, b) => a.producerId - b.producerId)
  for (const [index, { producerId, producerEpoch, lastDataOffset }] of sorted.entries()) {
    numbers.set([producerId, producerEpoch, lastDataOffset], index * 3)
  }
  return memory
}
