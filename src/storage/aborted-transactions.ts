import { assert } from '../base/assert.ts'
import type { AbortedTransaction } from '../core/log/partition-log.ts'
import type { AbortedTransactionEntry } from '../core/log/transaction-index.ts'
import type { Segment } from './segment.ts'
import type { SegmentList } from './segment-list.ts'

/** Entries that were read for one request: a bounded cache may have dropped them from their segments again. */
export type LoadedAborted = ReadonlyMap<Segment, readonly AbortedTransactionEntry[]>

/**
 * Whether no file has to be read to tell the aborted transactions of records from this segment on. Also after they were loaded
 * compaction may have put another segment in the place of one, and the cache dropped what that has.
 */
export function areAbortedInMemory(segments: SegmentList, from: Segment, loaded?: LoadedAborted): boolean {
  for (let at = Math.max(0, segments.indexOf(from)); at < segments.all.length; at++) {
    const segment = segments.all[at]
    if (!segment.hasAbortedInMemory && loaded?.has(segment) !== true) return false
  }
  return true
}

/** Aborted transactions that may have records from `offset` up to `end`, which is a position; by first offset. */
export function abortedTransactions(
  segments: SegmentList,
  offset: number,
  end: { segment: Segment; position: number },
  limitOffset: number,
  loaded: LoadedAborted | undefined,
): AbortedTransaction[] {
  const found: AbortedTransaction[] = []
  const upperBound = Math.min(limitOffset, upperBoundOf(end.segment, end.position))
  // A transaction that began in these bytes may end in any later segment, up to where none can have begun so early.
  // Retention may have taken the segment while it was read; the read is then made again.
  search: for (let at = Math.max(0, segments.indexOf(end.segment)); at < segments.all.length; at++) {
    const segment = segments.all[at]
    const entries = loaded?.get(segment) ?? segment.indexes?.aborted ?? []
    assert(
      entries.length > 0 || segment.hasAbortedInMemory || loaded?.has(segment),
      'aborted transactions are read before they are told',
    )
    for (const entry of entries) {
      if (entry.lastOffset >= offset && entry.firstOffset < upperBound) {
        found.push({ producerId: entry.producerId, firstOffset: entry.firstOffset })
      }
      if (entry.lastStableOffset >= upperBound) break search
    }
  }
  return found.sort((a, b) => a.firstOffset - b.firstOffset)
}

/** An offset that is not below the offsets of the batches that begin before the position. */
function upperBoundOf(segment: Segment, endPosition: number): number {
  const offsets = segment.indexes?.offsets
  const entry = offsets?.firstFromPosition(endPosition) ?? 0
  if (offsets === undefined || entry >= offsets.length) return segment.nextOffset
  return segment.baseOffset + offsets.relativeOffsetAt(entry)
}
