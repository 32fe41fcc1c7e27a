import { scanBatches } from './batch-scan.ts'
import type { LogState } from './log-state.ts'
import type { Segment } from './segment.ts'
import { findBatchBehind } from './segment-scan.ts'

/**
 * Where a scrub goes on: a segment, and the position of a batch in it. Compaction puts another segment in its place, and what
 * follows a cut lies elsewhere: then the position says nothing any more.
 */
export interface ScrubCursor {
  readonly segment: Segment
  /** How often it had been cut. */
  readonly cuts: number
  readonly position: number
  /** Where the batch before it ends; undefined when that is damaged. */
  readonly offset: number | undefined
}

export interface ScrubStep {
  /** Undefined when the end of the log is reached. */
  readonly next: ScrubCursor | undefined
  readonly bytes: number
}

/**
 * Reads a part of the log again and checks it, also where it was checked before: disks forget. Damage is told and no longer
 * served. Rejects with `DiskError`.
 */
export async function scrub(state: LogState, cursor: ScrubCursor | undefined, maxBytes: number): Promise<ScrubStep> {
  const { segments, context } = state
  const segment = segments.floor(cursor?.segment.baseOffset ?? 0)
  const isSame = segment === cursor?.segment && segment.cuts === cursor.cuts
  const from = isSame ? cursor.position : 0
  const end = segment.writtenBytes
  const next = segments.after(segment)
  const inNext = next && { segment: next, cuts: next.cuts, position: 0, offset: next.baseOffset }
  if (from >= end) return { next: inNext, bytes: 0 }

  const { cuts } = segment
  const file = context.openFiles.use(segment)
  file.retain()
  try {
    const first = segment.placeOfFirst()
    const before = isSame ? cursor.offset : first.from
    const place = { ...first, from: before ?? first.from, isAfterKnown: before !== undefined }
    let bytes = 0
    const scan = await scanBatches(file, { position: from, end, place }, (_batch, _at, position, size) => {
      segment.verified.add(position, position + size)
      bytes += size
      return bytes >= maxBytes ? 'stop' : undefined
    })
    if (segment.isGone || segment.cuts !== cuts)
      return { next: { segment, cuts, position: from, offset: before }, bytes }
    if (scan.problem === undefined) {
      const isDone = scan.position >= end
      return {
        next: isDone ? inNext : { segment, cuts, position: scan.position, offset: scan.place.from },
        bytes,
      }
    }
    const found = await findBatchBehind(file, scan.position, { end }, scan.place)
    const damageEnd = found?.position ?? end
    segment.verified.remove(scan.position, damageEnd)
    const { position, problem: reason, place: after } = scan
    state.damageFound({ path: segment.filePath, position, length: damageEnd - position, offset: after.from, reason })
    return { next: found ? { segment, cuts, position: found.position, offset: undefined } : inNext, bytes }
  } finally {
    file.release()
  }
}
