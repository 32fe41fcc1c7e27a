import type { DecompressFailure } from './compression/decompressed.ts'
import { openBatch } from './open-batch.ts'

export interface FoundRecord {
  readonly type: 'found'
  readonly offset: number
  readonly timestamp: bigint
}

/** Undefined: no record of the batch fits. */
export type Finding = FoundRecord | undefined | DecompressFailure

/**
 * The first record of the batch at `at` whose timestamp is not below `timestamp` and whose offset is not below
 * `startOffset`. Unpacks to at most `maxBytes`.
 */
export function findByTimestamp(
  bytes: Buffer,
  at: number,
  { timestamp, startOffset, maxBytes }: { timestamp: bigint; startOffset: number; maxBytes: number },
): Finding {
  const reader = openBatch(bytes, at, maxBytes)
  if ('type' in reader) return reader
  for (let record = reader.next(); record !== undefined; record = reader.next()) {
    if (record.timestamp >= timestamp && record.offset >= startOffset) {
      return { type: 'found', offset: record.offset, timestamp: record.timestamp }
    }
  }
  return reader.isCorrupt ? { type: 'corrupt', reason: 'the records do not fill the batch' } : undefined
}

/** The record of the batch with the largest timestamp, the earliest of several; undefined when it has no records. */
export function findMaxTimestamp(bytes: Buffer, at: number, maxBytes: number): Finding {
  const reader = openBatch(bytes, at, maxBytes)
  if ('type' in reader) return reader
  let found: FoundRecord | undefined
  for (let record = reader.next(); record !== undefined; record = reader.next()) {
    if (found === undefined || record.timestamp > found.timestamp) {
      found = { type: 'found', offset: record.offset, timestamp: record.timestamp }
    }
  }
  return reader.isCorrupt ? { type: 'corrupt', reason: 'the records do not fill the batch' } : found
}
