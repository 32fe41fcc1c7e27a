import * as batch from '../../records/batch.ts'
import { Codec } from '../../records/compression/codec.ts'
import { ControlType, readControlType } from '../../records/control.ts'
import { isLegacyCrcValid, readLegacyRecords } from '../../records/legacy.ts'
import { openBatch } from '../../records/open-batch.ts'
import { type Record, RecordReader } from '../../records/record.ts'

export interface AbortedTransaction {
  readonly producerId: number
  readonly firstOffset: number
}

export interface ChunkOptions {
  readonly bytes: Buffer
  /** undefined: a reader of everything; otherwise what the broker named, in any order. */
  readonly abortedTransactions: readonly AbortedTransaction[] | undefined
  readonly checksCrcs: boolean
  readonly maxUncompressedBytes: number
}

/** What is wrong with fetched bytes. `offset` is that of the batch. */
export interface ChunkFault {
  readonly type: 'fault'
  readonly offset: number
  readonly reason: string
}

/** A batch whose records are to be unpacked off the loop. */
export interface SlowBatch {
  readonly at: number
  readonly codec: number
  readonly packed: Buffer
}

/** gzip and zstd are unpacked off the loop from this size on. */
const slowFromBytes = 16 * 1024

/**
 * Whole batches of one partition, as one fetch brought them, and how far they have been read. Records are made as they are
 * asked for; their bytes are views of the fetched ones.
 */
export class FetchedChunk {
  /** The offset behind the last whole batch: where to fetch on. Offsets that compaction took away are passed over. */
  readonly nextOffset: number
  /** Of the last batch; -1 if it does not say. */
  readonly lastLeaderEpoch: number
  readonly sizeBytes: number
  readonly #options: ChunkOptions
  readonly #unpacked = new Map<number, Buffer>()
  /** Aborted transactions that begin further on, by their first offset. */
  readonly #aborted: AbortedTransaction[]
  /** Producers whose records here are of an aborted transaction. */
  readonly #abortedProducers = new Set<number>()
  /** Where the next batch begins that was not opened yet. */
  #at = 0
  #reader: Pick<RecordReader, 'next' | 'isCorrupt'> | undefined
  /** Of the batch that is being read. */
  #batchEnd = -1
  /** What keeps this chunk from being read on. */
  #fault: ChunkFault | undefined
  /** The offset behind what was read. */
  position: number
  /** The leader epoch of what was read last. */
  leaderEpoch = -1

  private constructor(options: ChunkOptions, scanned: { sizeBytes: number; nextOffset: number; leaderEpoch: number }) {
    this.#options = options
    this.sizeBytes = scanned.sizeBytes
    this.nextOffset = scanned.nextOffset
    this.lastLeaderEpoch = scanned.leaderEpoch
    this.position = -1
    this.#aborted = [...(options.abortedTransactions ?? [])].sort((a, b) => a.firstOffset - b.firstOffset)
  }

  /**
   * Checks the batches. A truncated one at the end is left out: brokers cut there. So is a bad one behind good ones: the
   * next fetch begins with it, and finds the fault. undefined: there is no whole batch.
   */
  static scan(options: ChunkOptions): FetchedChunk | ChunkFault | undefined {
    const { bytes } = options
    let at = 0
    let lastOffset = -1
    let leaderEpoch = -1
    for (;;) {
      const size = batch.batchSizeAt(bytes, at)
      if (size === batch.truncated) break
      const found = faultOf(bytes, at, size, lastOffset, options.checksCrcs)
      if (found !== undefined && at === 0) return found
      if (found !== undefined) break
      lastOffset = lastOffsetAt(bytes, at)
      leaderEpoch = isLegacy(bytes, at) ? -1 : batch.readPartitionLeaderEpoch(bytes, at)
      at += size
    }
    return at === 0 ? undefined : new FetchedChunk(options, { sizeBytes: at, nextOffset: lastOffset + 1, leaderEpoch })
  }

  /** Batches that are better unpacked elsewhere; `unpack` takes what came of it. */
  slowBatches(): SlowBatch[] {
    const { bytes } = this.#options
    const slow: SlowBatch[] = []
    for (let at = 0; at < this.sizeBytes; ) {
      const size = batch.batchSizeAt(bytes, at)
      const codec = isLegacy(bytes, at) ? Codec.none : batch.readCodec(bytes, at)
      const isSlow = (codec === Codec.gzip || codec === Codec.zstd) && size >= slowFromBytes
      if (isSlow) slow.push({ at, codec, packed: bytes.subarray(at + batch.batchHeaderBytes, at + size) })
      at += size
    }
    return slow
  }

  unpack(at: number, records: Buffer): void {
    this.#unpacked.set(at, records)
  }

  get isExhausted(): boolean {
    return this.#reader === undefined && this.#at >= this.sizeBytes && this.#fault === undefined
  }

  /**
   * Up to `maxRecords` records from `fromOffset` on that are for applications: none of control batches, and for readers of
   * committed ones none of aborted transactions. Fewer, even none, only where the chunk ends or cannot be read on; a fault
   * comes when there are no records before it, and again each time. Moves `position`.
   */
  take(fromOffset: number, maxRecords: number): Record[] | ChunkFault {
    const records: Record[] = []
    while (records.length < maxRecords && this.#fault === undefined) {
      if (this.#reader === undefined) {
        if (this.#at >= this.sizeBytes) break
        this.#fault = this.#openNext(fromOffset)
        continue
      }
      const record = this.#reader.next()
      if (record !== undefined) {
        if (record.offset < fromOffset) continue
        records.push(record)
        this.position = record.offset + 1
      } else if (this.#reader.isCorrupt) {
        this.#fault = fault(this.position, 'the records of the batch are malformed')
      } else {
        this.#reader = undefined
        this.position = this.#batchEnd
      }
    }
    return records.length === 0 && this.#fault !== undefined ? this.#fault : records
  }

  /** Opens the next batch for reading, or passes over it. */
  #openNext(fromOffset: number): ChunkFault | undefined {
    const { bytes, maxUncompressedBytes } = this.#options
    const at = this.#at
    this.#at += batch.batchSizeAt(bytes, at)
    const lastOffset = lastOffsetAt(bytes, at)
    this.#batchEnd = lastOffset + 1
    if (isLegacy(bytes, at)) return this.#openLegacy(at)
    this.leaderEpoch = batch.readPartitionLeaderEpoch(bytes, at)
    const isHidden = this.#isAborted(at, lastOffset) || batch.isControlBatch(bytes, at)
    if (isHidden || lastOffset < fromOffset) {
      this.position = this.#batchEnd
      return undefined
    }
    const unpacked = this.#unpacked.get(at)
    if (unpacked !== undefined) {
      this.#unpacked.delete(at)
      this.#reader = new RecordReader(bytes, at, this.#at - at, unpacked)
      return undefined
    }
    const reader = openBatch(bytes, at, maxUncompressedBytes)
    if (reader instanceof RecordReader) this.#reader = reader
    else return fault(batch.readBaseOffset(bytes, at), reader.type === 'tooLarge' ? tooLargeText : reader.reason)
    return undefined
  }

  #openLegacy(at: number): ChunkFault | undefined {
    const { bytes, maxUncompressedBytes } = this.#options
    const records = readLegacyRecords(bytes, at, this.#at - at, maxUncompressedBytes)
    if (!Array.isArray(records)) return fault(batch.readBaseOffset(bytes, at), 'the message set is malformed')
    this.leaderEpoch = -1
    const left = records.values()
    this.#reader = { isCorrupt: false, next: () => left.next().value }
    return undefined
  }

  /** Follows the aborted transactions up to this batch, and tells whether it belongs to one. */
  #isAborted(at: number, lastOffset: number): boolean {
    const { bytes, abortedTransactions } = this.#options
    if (abortedTransactions === undefined || batch.readProducerId(bytes, at) < 0) return false
    while (this.#aborted.length > 0 && this.#aborted[0].firstOffset <= lastOffset) {
      this.#abortedProducers.add(this.#aborted.shift()!.producerId)
    }
    const producerId = batch.readProducerId(bytes, at)
    if (batch.isControlBatch(bytes, at)) {
      if (isAbortMarker(bytes, at)) this.#abortedProducers.delete(producerId)
      return true
    }
    return batch.isTransactional(bytes, at) && this.#abortedProducers.has(producerId)
  }
}

function faultOf(
  bytes: Buffer,
  at: number,
  size: number,
  lastOffset: number,
  checksCrcs: boolean,
): ChunkFault | undefined {
  if (size === batch.corrupt) return fault(lastOffset + 1, 'the bytes are no record batch')
  const offset = batch.readBaseOffset(bytes, at)
  if (checksCrcs && !isSound(bytes, at, size)) return fault(offset, 'the CRC of the batch is wrong')
  const last = lastOffsetAt(bytes, at)
  return last > lastOffset && last < Number.POSITIVE_INFINITY ? undefined : fault(offset, 'offsets do not grow')
}

const tooLargeText = 'its records unpack to more than maxUncompressedBytes'

function isAbortMarker(bytes: Buffer, at: number): boolean {
  const record = new RecordReader(bytes, at, batch.readBatchSize(bytes, at)).next()
  return record !== undefined && readControlType(record.key) === ControlType.abort
}

function isLegacy(bytes: Buffer, at: number): boolean {
  return batch.readMagic(bytes, at) < 2
}

function isSound(bytes: Buffer, at: number, size: number): boolean {
  return isLegacy(bytes, at) ? isLegacyCrcValid(bytes, at, size) : batch.isCrcValid(bytes, at, size)
}

/** A legacy entry has the offset of the last record in it. */
function lastOffsetAt(bytes: Buffer, at: number): number {
  return isLegacy(bytes, at) ? batch.readBaseOffset(bytes, at) : batch.readLastOffset(bytes, at)
}

function fault(offset: number, reason: string): ChunkFault {
  return { type: 'fault', offset, reason }
}
