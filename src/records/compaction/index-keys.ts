import { isControlBatch, readBaseOffset, readLastOffsetDelta, readRecordCount } from '../batch.ts'
import { readLegacyRecords } from '../legacy.ts'
import { malformed } from '../record-walk.ts'
import { ChunkWalk } from './chunk-walk.ts'
import { type DamagedBatch, type IndexKeysJob, type KeysIndexed, unpacksTooFar } from './contract.ts'
import { OffsetMap } from './offset-map.ts'
import { columnsLength, RecordColumns } from './record-columns.ts'
import { TransactionWalk } from './transaction-walk.ts'
import { UnpackedRecords, viewOf } from './unpacked-records.ts'

/** Whether a batch was indexed, or why it was not. */
type Outcome = 'indexed' | 'full' | { readonly damage: string }

const malformedRecords: Outcome = { damage: 'its records are malformed' }

/** Does `indexKeys` jobs. Between them it keeps nothing but memory. */
export class KeyIndexer {
  readonly #columns = new RecordColumns()
  readonly #hashes = new Int32Array(4 * columnsLength)
  readonly #deltas = new Int32Array(columnsLength)

  run(job: IndexKeysJob): KeysIndexed | DamagedBatch {
    return new IndexRun(job, this.#columns, this.#hashes, this.#deltas).run()
  }
}

class IndexRun {
  readonly #job: IndexKeysJob
  readonly #columns: RecordColumns
  readonly #hashes: Int32Array
  readonly #deltas: Int32Array
  readonly #map: OffsetMap
  readonly #transactions: TransactionWalk
  readonly #records: UnpackedRecords
  #mapEndOffset: number
  #readRecords = 0
  #readBatches = 0

  constructor(job: IndexKeysJob, columns: RecordColumns, hashes: Int32Array, deltas: Int32Array) {
    this.#job = job
    this.#columns = columns
    this.#hashes = hashes
    this.#deltas = deltas
    this.#map = new OffsetMap(job.map)
    this.#transactions = new TransactionWalk(job.transactions)
    this.#records = new UnpackedRecords(job.batches, job.maxUncompressedBytes)
    this.#mapEndOffset = job.mapEndOffset
  }

  run(): KeysIndexed | DamagedBatch {
    const { batches, followingBytes, offsets } = this.#job
    const walk = new ChunkWalk(batches, followingBytes, offsets)
    let isFull = false
    while (!isFull && walk.next()) {
      const outcome = walk.isBatch
        ? this.#indexBatch(walk.at, walk.sizeBytes)
        : this.#indexLegacy(walk.at, walk.sizeBytes)
      if (typeof outcome === 'object') return { type: 'damaged', batches, at: walk.at, reason: outcome.damage }
      isFull = outcome === 'full'
      if (!isFull) this.#speakUpTo(walk.lastOffset + 1)
    }
    if (walk.damage !== undefined) return { type: 'damaged', batches, at: walk.at, reason: walk.damage }
    return {
      type: 'done',
      batches,
      consumedBytes: walk.at,
      nextOffset: walk.lastOffset + 1,
      neededBytes: walk.neededBytes,
      transactions: this.#transactions.state,
      readRecords: this.#readRecords,
      readBatches: this.#readBatches,
      mapEndOffset: this.#mapEndOffset,
      isFull,
    }
  }

  #speakUpTo(offset: number): void {
    if (offset > this.#mapEndOffset) this.#mapEndOffset = offset
  }

  #indexBatch(at: number, sizeBytes: number): Outcome {
    const { batches } = this.#job
    const count = readRecordCount(batches, at)
    this.#readBatches++
    this.#readRecords += count
    if (isControlBatch(batches, at)) {
      return this.#transactions.passControl(batches, at, sizeBytes) === undefined ? malformedRecords : 'indexed'
    }
    if (this.#transactions.passRecords(batches, at)) return 'indexed'
    const damage = this.#records.open(at, sizeBytes)
    if (damage !== undefined) return { damage }
    return this.#indexRecords(readBaseOffset(batches, at), readLastOffsetDelta(batches, at), count)
  }

  #indexRecords(baseOffset: number, lastOffsetDelta: number, count: number): Outcome {
    const { bytes, start, end } = this.#records
    let notedDelta = -1
    let at = start
    for (let left = count; left > 0; ) {
      const slice = Math.min(left, columnsLength)
      at = this.#columns.read(bytes, at, end, slice)
      if (at === malformed) return malformedRecords
      const keys = this.#hashKeys(baseOffset, slice)
      const put = this.#map.put(this.#hashes, baseOffset, this.#deltas, keys)
      if (put > 0) notedDelta = this.#deltas[put - 1]
      if (put < keys) {
        // Producers may give any deltas.
        this.#speakUpTo(baseOffset + Math.min(notedDelta, lastOffsetDelta) + 1)
        return 'full'
      }
      left -= slice
    }
    return at === end ? 'indexed' : malformedRecords
  }

  /** Of the records in the columns: those that have a key, and are not below the first dirty offset. */
  #hashKeys(baseOffset: number, count: number): number {
    const { keyStarts, keyEnds, offsetDeltas } = this.#columns
    const { bytes, view } = this.#records
    const hashes = this.#hashes
    const deltas = this.#deltas
    const { keyHash } = this.#map
    const firstDelta = this.#job.fromOffset - baseOffset
    let keys = 0
    for (let index = 0; index < count; index++) {
      const keyEnd = keyEnds[index]
      const delta = offsetDeltas[index]
      if (keyEnd < 0 || delta < firstDelta) continue
      keyHash.into(hashes, keys * 4, bytes, view, keyStarts[index], keyEnd)
      deltas[keys++] = delta
    }
    return keys
  }

  #indexLegacy(at: number, sizeBytes: number): Outcome {
    const { batches, fromOffset, maxUncompressedBytes } = this.#job
    const records = readLegacyRecords(batches, at, sizeBytes, maxUncompressedBytes)
    if ('type' in records) {
      return { damage: records.type === 'corrupt' ? records.reason : unpacksTooFar }
    }
    this.#readBatches++
    this.#readRecords += records.length
    this.#deltas[0] = 0
    for (const { key, offset } of records) {
      if (key === null || offset < fromOffset) continue
      this.#map.keyHash.into(this.#hashes, 0, key, viewOf(key), 0, key.length)
      if (this.#map.put(this.#hashes, offset, this.#deltas, 1) === 0) return 'full'
      this.#speakUpTo(offset + 1)
    }
    return 'indexed'
  }
}
