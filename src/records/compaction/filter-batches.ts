import * as batch from '../batch.ts'
import { malformed } from '../record-walk.ts'
import { ChunkOutput } from './chunk-output.ts'
import { ChunkWalk } from './chunk-walk.ts'
import type { BatchesFiltered, DamagedBatch, FilterBatchesJob } from './contract.ts'
import { filterLegacyEntry } from './legacy-filter.ts'
import { OffsetMap } from './offset-map.ts'
import { columnsLength, RecordColumns } from './record-columns.ts'
import { RecordRuns } from './record-runs.ts'
import { TransactionWalk } from './transaction-walk.ts'
import { UnpackedRecords } from './unpacked-records.ts'

const malformedRecords = 'its records are malformed'
/** A horizon so far away that no int64 says how far. */
const never = 2n ** 63n - 1n

/** Does `filterBatches` jobs. Between them it keeps nothing but memory. */
export class BatchFilter {
  readonly #scratch: Scratch = {
    columns: new RecordColumns(),
    hashes: new Int32Array(4 * columnsLength),
    found: new Float64Array(columnsLength),
    runs: new RecordRuns(),
  }

  run(job: FilterBatchesJob): BatchesFiltered | DamagedBatch {
    return new FilterRun(job, this.#scratch).run()
  }
}

interface Scratch {
  readonly columns: RecordColumns
  readonly hashes: Int32Array
  readonly found: Float64Array
  readonly runs: RecordRuns
}

class FilterRun {
  readonly #job: FilterBatchesJob
  readonly #chunk: Buffer
  readonly #scratch: Scratch
  readonly #map: OffsetMap
  readonly #transactions: TransactionWalk
  readonly #activeProducers: Float64Array
  readonly #records: UnpackedRecords
  readonly #output: ChunkOutput
  #readRecords = 0
  #readBatches = 0
  #keptRecords = 0
  #keptBatches = 0
  #keylessRecords = 0
  #earliestHorizonMs = Number.POSITIVE_INFINITY
  /** Of the batch that is looked at: among its records that stay is a tombstone. */
  #hasTombstones = false

  constructor(job: FilterBatchesJob, scratch: Scratch) {
    this.#job = job
    this.#chunk = job.batches
    this.#scratch = scratch
    this.#map = new OffsetMap(job.map)
    this.#transactions = new TransactionWalk(job.transactions)
    this.#activeProducers = new Float64Array(job.activeProducers)
    this.#records = new UnpackedRecords(job.batches, job.maxUncompressedBytes)
    this.#output = new ChunkOutput(job.output)
  }

  run(): BatchesFiltered | DamagedBatch {
    const chunk = this.#chunk
    const walk = new ChunkWalk(chunk, this.#job.followingBytes, this.#job.offsets)
    while (walk.next()) {
      const damage = walk.isBatch
        ? this.#filterBatch(walk.at, walk.sizeBytes)
        : this.#filterLegacy(walk.at, walk.sizeBytes)
      if (damage !== undefined) return { type: 'damaged', batches: chunk, at: walk.at, reason: damage }
    }
    if (walk.damage !== undefined) return { type: 'damaged', batches: chunk, at: walk.at, reason: walk.damage }
    return {
      type: 'done',
      batches: chunk,
      consumedBytes: walk.at,
      nextOffset: walk.lastOffset + 1,
      neededBytes: walk.neededBytes,
      transactions: this.#transactions.state,
      readRecords: this.#readRecords,
      readBatches: this.#readBatches,
      output: this.#output.finish(),
      keptRecords: this.#keptRecords,
      keptBatches: this.#keptBatches,
      keylessRecords: this.#keylessRecords,
      abortedTransactions: this.#transactions.keptTransactions,
      earliestDeleteHorizonMs:
        this.#earliestHorizonMs === Number.POSITIVE_INFINITY ? undefined : this.#earliestHorizonMs,
    }
  }

  /** The answer is what is wrong with the batch, if anything is. */
  #filterBatch(at: number, sizeBytes: number): string | undefined {
    this.#readBatches++
    this.#readRecords += batch.readRecordCount(this.#chunk, at)
    if (batch.isControlBatch(this.#chunk, at)) return this.#filterControl(at, sizeBytes)
    if (this.#transactions.passRecords(this.#chunk, at)) this.#drop(at)
    else return this.#filterRecords(at, sizeBytes)
    return undefined
  }

  /**
   * A marker stays as long as there is data of its transaction, then gets a horizon, and goes at the first pass after that: until
   * then a reader that had seen some of the data learns what became of it.
   */
  #filterControl(at: number, sizeBytes: number): string | undefined {
    const chunk = this.#chunk
    const mayGo = this.#transactions.passControl(chunk, at, sizeBytes)
    if (mayGo === undefined) return malformedRecords
    const horizon = batch.readDeleteHorizon(chunk, at)
    const count = batch.readRecordCount(chunk, at)
    if (count === 0 || (mayGo && horizon !== undefined && this.#isOver(horizon))) {
      this.#drop(at)
      return undefined
    }
    if (!mayGo || horizon !== undefined || this.#job.setsNoHorizons === true) {
      this.#copy(at, sizeBytes)
      return undefined
    }
    const damage = this.#records.open(at, sizeBytes)
    if (damage !== undefined) return damage
    const damagedSelection = this.#selectAll(count)
    if (damagedSelection !== undefined) return damagedSelection
    this.#change(at, count, this.#newHorizon)
    return undefined
  }

  #filterRecords(at: number, sizeBytes: number): string | undefined {
    const chunk = this.#chunk
    const { mapEndOffset } = this.#job
    const count = batch.readRecordCount(chunk, at)
    if (batch.readBaseOffset(chunk, at) >= mapEndOffset && count > 0) {
      this.#copy(at, sizeBytes)
      return undefined
    }
    const damage = this.#records.open(at, sizeBytes)
    if (damage !== undefined) return damage
    const kept = this.#select(at, count)
    if (kept === malformed) return malformedRecords
    if (kept === 0) {
      this.#drop(at)
      return undefined
    }
    // A tombstone that the map does not speak of yet has replaced nothing: its time begins with the pass that gets there.
    const needsHorizon =
      this.#hasTombstones &&
      this.#job.setsNoHorizons !== true &&
      batch.readDeleteHorizon(chunk, at) === undefined &&
      batch.readLastOffset(chunk, at) < mapEndOffset
    if (kept === count && !needsHorizon) this.#copy(at, sizeBytes)
    else this.#change(at, kept, needsHorizon ? this.#newHorizon : undefined)
    return undefined
  }

  /** Which of the records stay goes to the runs, how many is the answer; or `malformed`. */
  #select(at: number, count: number): number {
    const { bytes, start, end } = this.#records
    const { columns, hashes, found, runs } = this.#scratch
    const baseOffset = batch.readBaseOffset(this.#chunk, at)
    const horizon = batch.readDeleteHorizon(this.#chunk, at)
    const keepsTombstones = horizon === undefined || !this.#isOver(horizon)
    runs.clear()
    this.#hasTombstones = false
    let kept = 0
    let position = start
    for (let left = count; left > 0; ) {
      const slice = Math.min(left, columnsLength)
      position = columns.read(bytes, position, end, slice)
      if (position === malformed) return malformed
      this.#hashKeys(slice)
      this.#map.find(hashes, slice, found)
      kept += this.#selectSlice(slice, baseOffset, keepsTombstones)
      left -= slice
    }
    return position === end ? kept : malformed
  }

  #hashKeys(count: number): void {
    const { hashes, columns } = this.#scratch
    const { keyStarts, keyEnds } = columns
    const { bytes, view } = this.#records
    const { keyHash } = this.#map
    for (let index = 0; index < count; index++) {
      const keyEnd = keyEnds[index]
      if (keyEnd >= 0) keyHash.into(hashes, index * 4, bytes, view, keyStarts[index], keyEnd)
    }
  }

  #selectSlice(count: number, baseOffset: number, keepsTombstones: boolean): number {
    const { found, runs, columns } = this.#scratch
    const { starts, keyEnds, offsetDeltas, hasNoValue } = columns
    const { mapEndOffset } = this.#job
    let kept = 0
    for (let index = 0; index < count; index++) {
      const offset = baseOffset + offsetDeltas[index]
      if (offset < mapEndOffset) {
        if (keyEnds[index] < 0) {
          this.#keylessRecords++
          continue
        }
        if (offset < found[index] || (hasNoValue[index] === 1 && !keepsTombstones)) continue
      }
      if (hasNoValue[index] === 1) this.#hasTombstones = true
      runs.add(starts[index], starts[index + 1])
      kept++
    }
    return kept
  }

  #selectAll(count: number): string | undefined {
    const { columns, runs } = this.#scratch
    const { bytes, start, end } = this.#records
    runs.clear()
    let position = start
    for (let left = count; left > 0; left -= columnsLength) {
      const from = position
      position = columns.read(bytes, from, end, Math.min(left, columnsLength))
      if (position === malformed) return malformedRecords
      runs.add(from, position)
    }
    return position === end ? undefined : malformedRecords
  }

  #filterLegacy(at: number, sizeBytes: number): string | undefined {
    const filtered = filterLegacyEntry({ bytes: this.#chunk, at, sizeBytes }, this.#job, this.#map)
    if (typeof filtered === 'string') return filtered
    this.#readBatches++
    this.#readRecords += filtered.readRecords
    this.#keylessRecords += filtered.keylessRecords
    if (filtered.keptRecords === 0) return undefined
    this.#keptBatches++
    this.#keptRecords += filtered.keptRecords
    if (filtered.rebuilt === undefined) this.#output.addCopy(this.#chunk, at, sizeBytes)
    else this.#output.addCopy(filtered.rebuilt, 0, filtered.rebuilt.length)
    return undefined
  }

  /** Drops the records; the batch too, unless it says where its producer, or the log, ended. */
  #drop(at: number): void {
    if (!this.#isNeededEmpty(at)) return
    this.#keptBatches++
    this.#output.addEmptied(this.#chunk, at)
  }

  #copy(at: number, sizeBytes: number): void {
    this.#count(batch.readRecordCount(this.#chunk, at), batch.readDeleteHorizon(this.#chunk, at))
    this.#output.addCopy(this.#chunk, at, sizeBytes)
  }

  #change(at: number, keptRecords: number, newHorizon: bigint | undefined): void {
    this.#count(keptRecords, newHorizon ?? batch.readDeleteHorizon(this.#chunk, at))
    const { runs } = this.#scratch
    this.#output.addChanged({ chunk: this.#chunk, at, records: this.#records.bytes, runs, keptRecords, newHorizon })
  }

  #count(keptRecords: number, horizon: bigint | undefined): void {
    this.#keptBatches++
    this.#keptRecords += keptRecords
    if (horizon !== undefined) this.#earliestHorizonMs = Math.min(this.#earliestHorizonMs, Number(horizon))
  }

  get #newHorizon(): bigint {
    const horizonMs = this.#job.wallMs + this.#job.deleteRetentionMs
    return Number.isSafeInteger(horizonMs) ? BigInt(horizonMs) : never
  }

  #isOver(horizon: bigint): boolean {
    return horizon <= BigInt(this.#job.wallMs)
  }

  #isNeededEmpty(at: number): boolean {
    const chunk = this.#chunk
    const lastOffset = batch.readLastOffset(chunk, at)
    if (lastOffset + 1 === this.#job.keptEndOffset) return true
    const index = this.#findProducer(batch.readProducerId(chunk, at))
    if (index === undefined) return false
    const lastDataOffset = this.#activeProducers[index + 2]
    if (lastDataOffset >= 0) return lastOffset === lastDataOffset
    return batch.isControlBatch(chunk, at) && batch.readProducerEpoch(chunk, at) === this.#activeProducers[index + 1]
  }

  #findProducer(producerId: number): number | undefined {
    if (producerId < 0) return undefined
    const numbers = this.#activeProducers
    let low = 0
    let high = numbers.length / 3
    while (low < high) {
      const middle = (low + high) >> 1
      if (numbers[middle * 3] < producerId) low = middle + 1
      else high = middle
    }
    return numbers[low * 3] === producerId ? low * 3 : undefined
  }
}
