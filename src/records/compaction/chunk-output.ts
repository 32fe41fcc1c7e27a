import { assert } from '../../base/assert.ts'
import * as batch from '../batch.ts'
import { Codec } from '../compression/codec.ts'
import { compressSync } from '../compression/compress.ts'
import { copyBytes } from '../compression/copy-bytes.ts'
import type { RecordRuns } from './record-runs.ts'
import { maxRecordGrowth, maxTimestampOf, moveTimestamps } from './record-times.ts'

/** A batch of which some records stay, but not as they are: others go, or it gets a delete horizon. */
export interface ChangedBatch {
  /** Where the batch lies in the chunk. */
  readonly chunk: Buffer
  readonly at: number
  /** Its records, unpacked, and which of them stay. */
  readonly records: Buffer
  readonly runs: RecordRuns
  readonly keptRecords: number
  /** The delete horizon that it is to get. */
  readonly newHorizon: bigint | undefined
}

const codecMask = 0x07
const deleteHorizonBit = 0x40

/** The batches that stay, one behind the other, in memory that grows as needed. */
export class ChunkOutput {
  #bytes: Buffer
  #length = 0

  /** All memory that `memory` lies in is written to. */
  constructor(memory: Buffer) {
    assert(memory.byteOffset === 0, 'the memory of an output is its own')
    this.#bytes = Buffer.from(memory.buffer)
  }

  /** Everything that was added: a view of the beginning of the memory. */
  finish(): Buffer {
    return this.#bytes.subarray(0, this.#length)
  }

  /** Adds bytes that are a whole batch. */
  addCopy(bytes: Buffer, at: number, sizeBytes: number): void {
    this.#reserve(sizeBytes)
    this.#length = copyBytes(this.#bytes, this.#length, bytes, at, sizeBytes)
  }

  /** Adds what is left of a batch without records: how far its producer, or the log, had come. */
  addEmptied(chunk: Buffer, at: number): void {
    const start = this.#beginBatch(chunk, at, 0)
    this.#bytes[start + batch.attributesPosition + 1] &= ~(codecMask | deleteHorizonBit)
    this.#bytes.writeBigInt64BE(-1n, start + 27)
    this.#endBatch(start, 0)
  }

  /**
   * Adds the batch with the records that stay, in its own codec. Their bytes are as they were, for the base timestamp stays too,
   * unless the batch gets a delete horizon, which takes its place.
   */
  addChanged(changed: ChangedBatch): void {
    const { chunk, at, records, runs } = changed
    const codec = batch.readCodec(chunk, at)
    if (codec === Codec.none && changed.newHorizon === undefined) {
      const start = this.#beginBatch(chunk, at, runs.totalBytes)
      const recordsStart = this.#length
      this.#length = runs.copy(records, this.#bytes, recordsStart)
      this.#finishChanged(start, changed, this.#bytes.subarray(recordsStart, this.#length))
      return
    }
    const kept = Buffer.allocUnsafe(runs.totalBytes)
    runs.copy(records, kept, 0)
    const packed = compressSync(codec, changed.newHorizon === undefined ? kept : movedRecords(kept, changed))
    const start = this.#beginBatch(chunk, at, packed.length)
    this.#length = copyBytes(this.#bytes, this.#length, packed, 0, packed.length)
    this.#finishChanged(start, changed, kept)
  }

  /** `kept` has the records with their timestamps as they were. */
  #finishChanged(start: number, { keptRecords, newHorizon }: ChangedBatch, kept: Buffer): void {
    const bytes = this.#bytes
    if (batch.readTimestampType(bytes, start) === 'CreateTime') {
      bytes.writeBigInt64BE(maxTimestampOf(kept, batch.readBaseTimestamp(bytes, start)), start + 35)
    }
    if (newHorizon !== undefined) {
      bytes[start + batch.attributesPosition + 1] |= deleteHorizonBit
      bytes.writeBigInt64BE(newHorizon, start + 27)
    }
    this.#endBatch(start, keptRecords)
  }

  /** Makes room for so many bytes after the header, which is copied as it was. The answer is where the batch begins. */
  #beginBatch(chunk: Buffer, at: number, recordBytes: number): number {
    const start = this.#length
    this.#reserve(batch.batchHeaderBytes + recordBytes)
    this.#length = copyBytes(this.#bytes, start, chunk, at, batch.batchHeaderBytes)
    return start
  }

  #endBatch(start: number, recordCount: number): void {
    this.#bytes.writeInt32BE(this.#length - start - batch.batchPrefixBytes, start + 8)
    this.#bytes.writeInt32BE(recordCount, start + 57)
    batch.updateCrc(this.#bytes, start)
  }

  #reserve(extraBytes: number): void {
    const needed = this.#length + extraBytes
    if (needed <= this.#bytes.length) return
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, this.#bytes.length * 2))
    this.#bytes.copy(larger, 0, 0, this.#length)
    this.#bytes = larger
  }
}

function movedRecords(kept: Buffer, { chunk, at, keptRecords, newHorizon }: ChangedBatch): Buffer {
  assert(newHorizon !== undefined, 'timestamps are moved to a horizon')
  const moved = Buffer.allocUnsafe(kept.length + keptRecords * maxRecordGrowth)
  const end = moveTimestamps(kept, moved, { from: batch.readBaseTimestamp(chunk, at), to: newHorizon })
  return moved.subarray(0, end)
}
