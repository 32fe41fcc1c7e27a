import { segmentFileName } from '../core/log/file-names.ts'
import { maxRelativeOffset } from '../core/log/segment-rolling.ts'
import { type Disk, DiskError, type DiskFile, replaceFile } from '../io/disk.ts'
import { batchHeaderBytes } from '../records/batch.ts'
import type { LogState } from './log-state.ts'
import { isEndLost, readLastIndexEntry } from './lost-end.ts'
import type { Segment } from './segment.ts'
import { locate } from './segment-locator.ts'
import { storedLastOffset } from './stored-batch.ts'

/** Offsets that neither of two segments has which follow one another. */
export interface Hole {
  readonly offset: number
  readonly to: number
}

/** A log may be cut within a gap that it was copied with: the file says up to where segments need not follow one another. */
const gapsFileName = 'millrace-gaps'

/**
 * Whether segments are lost from there. A segment begins where the one before it ends, also in a log that was copied from one with
 * gaps: those lie within segments. Compaction takes the last batches of a segment away, what cannot be in one index begins
 * another segment, and a cut may end within a gap.
 */
export function isLost(
  { offset, to }: Hole,
  { cleanedOffset = 0, gapsBelow }: { readonly cleanedOffset: number | undefined; readonly gapsBelow: number },
): boolean {
  return to - offset <= maxRelativeOffset && to > Math.max(cleanedOffset, gapsBelow)
}

/** 0 when the log was never cut within a gap. Throws `DiskError`. */
export function readGapsBelow(disk: Disk, directory: string): number {
  const bytes = disk.readSmallFile(`${directory}/${gapsFileName}`, 64)
  const match = bytes && /^1\n(\d{1,15})\n$/.exec(bytes.toString('latin1'))
  return match ? Number(match[1]) : 0
}

/** It has to be there before the segment that begins behind the gap. Rejects with `DiskError`. */
export async function writeGapsBelow(disk: Disk, directory: string, offset: number): Promise<void> {
  if (readGapsBelow(disk, directory) < offset)
    await replaceFile(disk, `${directory}/${gapsFileName}`, Buffer.from(`1\n${offset}\n`))
}

export function lossOf({ offset, to }: Hole): string {
  const range = to - offset === 1 ? `offset ${offset} is` : `offsets ${offset} to ${to - 1} are`
  return `${range} in no segment: a file is lost, unless the log was compacted before it came here`
}

/**
 * Looks whether each segment but the last reaches to the next one, and tells of what is lost between them: nothing else at the
 * start would notice that a segment is gone with its indexes. Reads go on with the next segment, as in Kafka. Answers how many
 * segments were looked at. Rejects with `DiskError`.
 */
export async function findHoles(state: LogState): Promise<number> {
  const { segments } = state
  let count = 0
  for (const segment of [...segments.all]) {
    const next = state.isUsable ? segments.after(segment) : undefined
    if (next === undefined || next.baseOffset <= state.logStartOffset) continue
    count++
    try {
      await lookBehind(state, segment, next)
    } catch (error) {
      // Retention or compaction has taken the file.
      if (!(error instanceof DiskError) || !segment.isGone) throw error
    }
  }
  return count
}

async function lookBehind(state: LogState, segment: Segment, next: Segment): Promise<void> {
  const { segments, missingSegments, context, config, home, cleanedOffset } = state
  const to = next.baseOffset
  const end = await endOf(context.disk, segment)
  if (end === undefined || end >= to) return
  const { sizeBytes } = segment
  const isEndGone = await isEndLost(context.disk, segment, { offset: end, sizeBytes, to })
  if (segments.after(segment) !== next || !state.isUsable) return
  const hole = { offset: Math.max(end, state.logStartOffset), to }
  if (hole.offset >= to) return
  if (isEndGone) {
    const reason = `the file ends before this offset`
    state.damageFound({ path: segment.filePath, position: sizeBytes, length: undefined, offset: hole.offset, reason })
    return
  }
  // Of those it was told when the log was opened.
  if (missingSegments.some(missing => missing >= end && missing < to)) return
  if (config.isCompacted) return
  // A cut within a gap has begun a segment before it says so.
  await state.changes.run(() => Promise.resolve())
  if (segments.after(segment) !== next || !state.isUsable) return
  if (!isLost(hole, { cleanedOffset, gapsBelow: readGapsBelow(context.disk, home.path) })) return
  const path = `${home.path}/${segmentFileName(end, 'log')}`
  state.damageFound({ path, position: 0, length: undefined, offset: hole.offset, reason: lossOf(hole) })
}

/** The offset after the last batch of a segment that does not change; undefined where something else is wrong with it. */
async function endOf(disk: Disk, segment: Segment): Promise<number | undefined> {
  const { filePath, baseOffset, sizeBytes } = segment
  if (sizeBytes === 0) return baseOffset
  // Not kept open: there may be many, and nobody has asked for them.
  const file = disk.open(filePath, 'read')
  try {
    const from = await lastIndexedPosition(disk, segment, file)
    const { isFound, expectedOffset } = await locate(file, from, Number.POSITIVE_INFINITY, sizeBytes)
    return isFound ? expectedOffset : undefined
  } finally {
    file.release()
  }
}

/** Where the batch of the last index entry begins, if that is a batch which the entry speaks of; else the beginning. */
async function lastIndexedPosition(disk: Disk, segment: Segment, file: DiskFile): Promise<number> {
  const entry = await readLastIndexEntry(disk, segment)
  if (entry === undefined || entry.position < 0 || entry.position >= segment.sizeBytes) return 0
  const header = await file.read(entry.position, batchHeaderBytes)
  return header.length === batchHeaderBytes && storedLastOffset(header, 0) === entry.offset ? entry.position : 0
}
