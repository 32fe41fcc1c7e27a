import { assert } from '../base/assert.ts'
import * as batch from './batch.ts'
import { BatchBuilder, type BatchHeaderFields, writeBatchHeader } from './builder.ts'
import { Codec } from './compression/codec.ts'
import { compressSync } from './compression/compress.ts'
import { decompressSync } from './compression/decompress.ts'
import type { Decompressed, DecompressFailure } from './compression/decompressed.ts'
import { RecordReader } from './record.ts'
import { RecordWalk } from './record-walk.ts'

/** A batch on its way to another codec: its uncompressed records, at consecutive offsets, and its header to be. */
export interface UnpackedBatch {
  readonly type: 'unpacked'
  readonly fields: BatchHeaderFields
  /** May be a view of the bytes it came from. */
  readonly records: Buffer
}

/**
 * Makes a batch that was accepted with `needsRebuild` into one that may be stored: with the log's codec, and with the
 * records at consecutive offsets. It keeps everything else; `setMaxTimestampAndType` and the offsets follow as for any
 * other batch. Its size may have changed, so `max.message.bytes` has to be looked at again, as Kafka does.
 */
export function rebuildBatch(
  bytes: Buffer,
  { codec, level, maxBytes, unpacked }: { codec: number; level?: number; maxBytes: number; unpacked?: Decompressed },
): Buffer | DecompressFailure {
  const whole = unpackBatch(bytes, maxBytes, unpacked)
  if (whole.type !== 'unpacked') return whole
  return packBatch(whole.fields, codec, compressSync(codec, whole.records, level))
}

/** As `rebuildBatch`, of a batch at consecutive offsets whose records were compressed with `codec` already. */
export function repackBatch(bytes: Buffer, codec: number, packedRecords: Buffer): Buffer {
  return packBatch(fieldsOf(bytes), codec, packedRecords)
}

/** The first half of `rebuildBatch`, for a caller that compresses off the loop and then calls `packBatch`. */
export function unpackBatch(
  bytes: Buffer,
  maxBytes: number,
  unpacked: Decompressed = unpackRecords(bytes, maxBytes),
): UnpackedBatch | DecompressFailure {
  if (unpacked.type !== 'done') return unpacked
  const records = areConsecutive(bytes, unpacked.output) ? unpacked.output : renumbered(bytes, unpacked.output)
  if (records === undefined) return { type: 'corrupt', reason: 'the records do not fill the batch' }
  return { type: 'unpacked', records, fields: fieldsOf(bytes) }
}

/** The second half of `rebuildBatch`: `records` are compressed with `codec`. */
export function packBatch(fields: BatchHeaderFields, codec: number, records: Buffer): Buffer {
  const bytes = Buffer.allocUnsafe(batch.batchHeaderBytes + records.length)
  records.copy(bytes, batch.batchHeaderBytes)
  writeBatchHeader(bytes, { ...fields, codec })
  return bytes
}

function unpackRecords(bytes: Buffer, maxBytes: number): Decompressed {
  const records = bytes.subarray(batch.batchHeaderBytes, batch.readBatchSize(bytes, 0))
  const codec = batch.readCodec(bytes, 0)
  return codec === Codec.none ? { type: 'done', output: records } : decompressSync(codec, records, maxBytes)
}

function areConsecutive(bytes: Buffer, records: Buffer): boolean {
  const walk = new RecordWalk()
  walk.start({
    recordCount: batch.readRecordCount(bytes, 0),
    baseTimestamp: batch.readBaseTimestamp(bytes, 0),
    appendTime: undefined,
    requiresKey: false,
    timestampBounds: undefined,
  })
  return walk.feed(records, 0, records.length) === records.length && walk.isComplete && walk.isConsecutive
}

/** The records anew, at offsets 0, 1, 2 and so on; undefined when they are corrupt. */
function renumbered(bytes: Buffer, records: Buffer): Buffer | undefined {
  const reader = new RecordReader(bytes, 0, batch.readBatchSize(bytes, 0), records)
  const builder = new BatchBuilder(records.length + records.length / 8)
  const baseTimestamp = batch.readBaseTimestamp(bytes, 0)
  builder.countTimestampsFrom(baseTimestamp)
  for (let record = reader.next(); record !== undefined; record = reader.next()) {
    builder.append(record.timestamp, record.key, record.value, record.headers)
  }
  return reader.isCorrupt ? undefined : builder.records
}

function fieldsOf(bytes: Buffer): BatchHeaderFields {
  const recordCount = batch.readRecordCount(bytes, 0)
  assert(!batch.isControlBatch(bytes, 0), 'control batches are never rebuilt')
  return {
    partitionLeaderEpoch: batch.readPartitionLeaderEpoch(bytes, 0),
    lastOffsetDelta: recordCount - 1,
    baseTimestamp: batch.readBaseTimestamp(bytes, 0),
    maxTimestamp: batch.readMaxTimestamp(bytes, 0),
    logAppendTime: batch.readTimestampType(bytes, 0) === 'LogAppendTime' ? batch.readMaxTimestamp(bytes, 0) : undefined,
    producerId: batch.readProducerId(bytes, 0),
    producerEpoch: batch.readProducerEpoch(bytes, 0),
    baseSequence: batch.readBaseSequence(bytes, 0),
    isTransactional: batch.isTransactional(bytes, 0),
    recordCount,
  }
}
