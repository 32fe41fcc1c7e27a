import { BatchBuilder } from '../builder.ts'
import { readLegacyCodec, readLegacyRecords, readLegacyTimestamp, readLegacyTimestampType } from '../legacy.ts'
import type { Record } from '../record.ts'
import { type FilterBatchesJob, unpacksTooFar } from './contract.ts'
import type { OffsetMap } from './offset-map.ts'
import { viewOf } from './unpacked-records.ts'

export interface FilteredEntry {
  readonly readRecords: number
  readonly keptRecords: number
  readonly keylessRecords: number
  /** What the entry becomes; undefined when it stays as it is, or goes. */
  readonly rebuilt: Buffer | undefined
}

/**
 * An entry of magic 0 or 1, of a segment from before an upgrade. It stays as it is or goes; one of which some records stay is
 * written anew as a batch of magic 2, as Kafka does. The answer is text when it cannot be read.
 */
export function filterLegacyEntry(
  { bytes, at, sizeBytes }: { readonly bytes: Buffer; readonly at: number; readonly sizeBytes: number },
  job: FilterBatchesJob,
  map: OffsetMap,
): FilteredEntry | string {
  const records = readLegacyRecords(bytes, at, sizeBytes, job.maxUncompressedBytes)
  if ('type' in records) {
    return records.type === 'corrupt' ? records.reason : unpacksTooFar
  }
  const kept = records.filter(record => stays(record, job, map))
  const keylessRecords = records.filter(({ key, offset }) => key === null && offset < job.mapEndOffset).length
  const counts = { readRecords: records.length, keptRecords: kept.length, keylessRecords }
  if (kept.length === 0 || kept.length === records.length) return { ...counts, rebuilt: undefined }
  return { ...counts, rebuilt: rebuild(kept, bytes, at) }
}

function stays({ key, value, offset }: Record, job: FilterBatchesJob, map: OffsetMap): boolean {
  if (offset >= job.mapEndOffset) return true
  if (key === null) return false
  const hash = new Int32Array(4)
  const found = new Float64Array(1)
  map.keyHash.into(hash, 0, key, viewOf(key), 0, key.length)
  map.find(hash, 1, found)
  return offset >= found[0] && (value !== null || !job.dropsLegacyTombstones)
}

function rebuild(kept: readonly Record[], bytes: Buffer, at: number): Buffer {
  const isAppendTime = readLegacyTimestampType(bytes, at) === 'LogAppendTime'
  const baseOffset = kept[0].offset
  const builder = new BatchBuilder()
  for (const { offset, timestamp, key, value } of kept) builder.appendAt(offset - baseOffset, timestamp, key, value)
  return builder.finish({
    baseOffset,
    codec: readLegacyCodec(bytes, at),
    logAppendTime: isAppendTime ? readLegacyTimestamp(bytes, at) : undefined,
  })
}
