import { assert } from '../base/assert.ts'
import * as batch from './batch.ts'
import { BatchBuilder } from './builder.ts'
import { Codec } from './compression/codec.ts'
import { compressSync } from './compression/compress.ts'
import { decompressSync } from './compression/decompress.ts'
import type { Decompressed, DecompressFailure } from './compression/decompressed.ts'
import { RecordReader } from './record.ts'
import { RecordWalk } from './record-walk.ts'

/**
 * Makes a batch that was accepted with `needsRebuild` into one that may be stored: with the log's codec, and with the
 * records at consecutive offsets. It keeps everything else; `setMaxTimestampAndType` and the offsets follow as for any
 * other batch. Its size may have changed, so `max.message.bytes` has to be looked at again, as Kafka does.
 */
export function rebuildBatch(
  bytes: Buffer,
  { codec, level, maxBytes }: { codec: number; level?: number; maxBytes: number },
): Buffer | DecompressFailure {
  const unpacked = unpackRecords(bytes, maxBytes)
  if (unpacked.type !== 'done') return unpacked
  const records = areConsecutive(bytes, unpacked.output) ? unpacked.output : renumbered(bytes, unpacked.output)
  if (records === undefined) return { type: 'corrupt', reason: 'the records do not fill the batch' }
  return repackBatch(bytes, codec, compressSync(codec, records, level))
}

/**
 * As `rebuildBatch`, of a batch at consecutive offsets whose records were compressed with `codec` already. Its header is
 * copied, not read and written: what a client says of its producer need not be a number that we can hold.
 */
export function repackBatch(bytes: Buffer, codec: number, packedRecords: Buffer): Buffer {
  assert(!batch.isControlBatch(bytes, 0), 'control batches are never rebuilt')
  const rebuilt = Buffer.allocUnsafe(batch.batchHeaderBytes + packedRecords.length)
  bytes.copy(rebuilt, 0, 0, batch.batchHeaderBytes)
  packedRecords.copy(rebuilt, batch.batchHeaderBytes)
  batch.setBatchSize(rebuilt, 0, rebuilt.length)
  batch.setCodec(rebuilt, 0, codec)
  batch.updateCrc(rebuilt, 0)
  return rebuilt
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
    maxRecordBytes: Number.POSITIVE_INFINITY,
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
