import type { StoredBatch } from './stored-log.ts'

/**
 * Where a pass over the log ends at most: the base of the segment that is written to, or of the one in which the first open
 * transaction begins, or of the first with a record from `youngFromMs` on. `undefined` when no segment lies below it.
 */
export function firstUncleanableOffset(
  batches: readonly StoredBatch[],
  segments: readonly number[],
  youngFromMs = Number.POSITIVE_INFINITY,
): number | undefined {
  const young = batches.find(({ header }) => Number(header.maxTimestamp) > youngFromMs)?.segment
  const unstable = Math.min(firstUnstableOffset(batches), young ?? Number.POSITIVE_INFINITY)
  const candidates = segments.filter(base => base <= unstable)
  const found = candidates.at(-1)
  return found === undefined || found === segments[0] ? undefined : found
}

/** The first offset of the earliest transaction that is open at the end of the log; Infinity when none is. */
export function firstUnstableOffset(batches: readonly StoredBatch[]): number {
  const open = new Map<number, number>()
  for (const { header } of batches) {
    if (!header.isTransactional) continue
    if (header.isControl) open.delete(header.producerId)
    else if (!open.has(header.producerId)) open.set(header.producerId, header.baseOffset)
  }
  return Math.min(Number.POSITIVE_INFINITY, ...open.values())
}
