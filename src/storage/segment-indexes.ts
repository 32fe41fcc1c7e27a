import { OffsetIndex } from '../core/log/offset-index.ts'
import { TimeIndex } from '../core/log/time-index.ts'
import { decodeTransactionIndex } from '../core/log/transaction-index.ts'
import { type Disk, DiskError, type DiskFile, expectDiskError } from '../io/disk.ts'
import { batchHeaderBytes } from '../records/batch.ts'
import { SegmentIndexes } from './index-entries.ts'
import { producerStatesBefore } from './producer-recovery.ts'
import type { Segment } from './segment.ts'
import type { SegmentList } from './segment-list.ts'
import { readSegment } from './segment-scan.ts'
import type { StorageContext } from './storage-context.ts'
import { storedLastOffset } from './stored-batch.ts'

const maxRebuilds = 8
const maxIndexBytes = 64 * 1024 * 1024

/** The segment's indexes come into memory, from their files or, where those are missing or damaged, from its batches. */
export async function loadIndexes(
  context: StorageContext,
  segments: SegmentList,
  segment: Segment,
): Promise<SegmentIndexes> {
  if (segment.entries === undefined) {
    const read = decodeIndexes(segment, await readIndexFiles(context, segment))
    // Somebody else may have loaded them, or begun to append, meanwhile.
    if (segment.entries === undefined) segment.indexes = read
  }
  const { indexes } = segment
  if (indexes === undefined) return rebuildIndexes(context, segments, segment)
  touch(context, segments, segment)
  return indexes
}

/** They may leave memory when they can be made anew: not while batches are being written that they speak of. */
function touch(context: StorageContext, segments: SegmentList, segment: Segment): void {
  const isWritten = segment.writtenBytes === segment.sizeBytes
  if (isWritten && segment !== segments.active && !segment.isGone) context.indexCache.touch(segment)
}

/** The same within the turn, for the active segment: an index that is damaged is built anew in the background. */
export function loadIndexesNow(context: StorageContext, segment: Segment): void {
  if (segment.entries !== undefined) return
  const readNow = (path: string) => {
    try {
      return context.disk.readSmallFile(path, maxIndexBytes)
    } catch (error) {
      return unreadable(context, path, error)
    }
  }
  const read = decodeIndexes(segment, {
    offsets: readNow(segment.pathOf('index')),
    times: readNow(segment.pathOf('timeindex')),
    aborted: segment.hasTransactionIndex ? readNow(segment.pathOf('txnindex')) : undefined,
  })
  if (read === undefined) segment.beginLaterEntries()
  else segment.indexes = read
}

interface IndexFiles {
  readonly offsets: Buffer | undefined
  readonly times: Buffer | undefined
  readonly aborted: Buffer | undefined
}

function decodeIndexes(segment: Segment, files: IndexFiles): SegmentIndexes | undefined {
  if (segment.sizeBytes === 0) return new SegmentIndexes()
  const offsets = files.offsets && OffsetIndex.decode(files.offsets, segment.sizeBytes)
  const times = files.times && TimeIndex.decode(files.times)
  const aborted = segment.hasTransactionIndex ? files.aborted && decodeTransactionIndex(files.aborted, segment) : []
  if (offsets === undefined || times === undefined || aborted === undefined) return undefined
  const lastOffset = segment.nextOffset - 1 - segment.baseOffset
  if (offsets.length > 0 && offsets.relativeOffsetAt(offsets.length - 1) > lastOffset) return undefined
  if (times.length > 0 && times.relativeOffsetAt(times.length - 1) > lastOffset) return undefined
  const indexes = new SegmentIndexes(offsets, times, aborted)
  indexes.isTrusted = false
  return indexes
}

async function readIndexFiles(context: StorageContext, segment: Segment): Promise<IndexFiles> {
  const read = (path: string) => readWhole(context.disk, path).catch(error => unreadable(context, path, error))
  return {
    offsets: await read(segment.pathOf('index')),
    times: await read(segment.pathOf('timeindex')),
    aborted: segment.hasTransactionIndex ? await read(segment.pathOf('txnindex')) : undefined,
  }
}

/**
 * An index is made of the batches: one that cannot be read is made anew, as if it were missing. Not so for want of descriptors,
 * of which there may be some in a moment.
 */
function unreadable({ faults }: StorageContext, path: string, error: unknown): undefined {
  expectDiskError(error)
  if (error.code === 'tooManyOpenFiles') throw error
  faults.readFailed(path, error)
}

async function readWhole(disk: Disk, path: string): Promise<Buffer | undefined> {
  if (disk.status(path) === undefined) return undefined
  const file = disk.open(path, 'read')
  try {
    return await file.read(0, Math.min(file.sizeBytes, maxIndexBytes))
  } finally {
    file.release()
  }
}

/**
 * Whether an index that came from a file points to the batch that it says. A flipped bit there has no checksum that
 * tells; a lookup that begins at a confirmed entry finds what a scan finds.
 */
export async function confirmEntry(file: DiskFile, segment: Segment, offset: number): Promise<boolean> {
  const { indexes } = segment
  if (indexes === undefined || indexes.isTrusted) return true
  const entry = indexes.offsets.floor(offset - segment.baseOffset)
  if (entry < 0) return true
  const claimed = segment.baseOffset + indexes.offsets.relativeOffsetAt(entry)
  const header = await file.read(indexes.offsets.positionAt(entry), batchHeaderBytes)
  return header.length === batchHeaderBytes && storedLastOffset(header, 0) === claimed
}

/**
 * The segment's indexes, made anew from its batches. What is damaged is left out; batches that are appended meanwhile are
 * not.
 */
export function rebuildIndexes(
  context: StorageContext,
  segments: SegmentList,
  segment: Segment,
): Promise<SegmentIndexes> {
  segment.rebuilding ??= rebuild(context, segments, segment).finally(() => {
    segment.rebuilding = undefined
  })
  return segment.rebuilding
}

/** Earlier segments may be replaced while they are read, or this one cut: then it begins anew, with what is there now. */
async function rebuild(context: StorageContext, segments: SegmentList, segment: Segment): Promise<SegmentIndexes> {
  for (let attempt = 1; ; attempt++) {
    const { layout } = segments
    try {
      const made = await rebuildOnce(context, segments, segment)
      if (made !== undefined) return made
      if (attempt === maxRebuilds)
        throw new DiskError('io', 'read', segment.filePath, new Error('it is cut all the time'))
    } catch (error) {
      const isMoved = layout !== segments.layout && !segment.isGone
      if (!(error instanceof DiskError) || !isMoved || attempt === maxRebuilds) throw error
    }
  }
}

/** Undefined when the segment was cut meanwhile: what was read is not what it holds now. */
async function rebuildOnce(
  context: StorageContext,
  segments: SegmentList,
  segment: Segment,
): Promise<SegmentIndexes | undefined> {
  const { cuts, isSealed: wasSealed } = segment
  const states = await producerStatesBefore(context, segments, segment)
  const { writtenBytes } = segment
  const { read } = await readSegment(context, segment, states, Number.POSITIVE_INFINITY)
  const made = read.indexes as SegmentIndexes
  // Whoever has it goes on with what it was.
  if (segment.isGone) return made
  if (cuts !== segment.cuts) return undefined
  // Also one that had ended before: of its last batches some may not have been written yet.
  const mayHaveGrown = !wasSealed || !segment.isSealed || segment.sizeBytes > writtenBytes
  read.endTimeIndex()
  if (mayHaveGrown) takeLater(made, read, segment)
  segment.indexes = made
  segment.noteEarlier(read)
  if (mayHaveGrown && segment.isSealed) segment.endTimeIndex()
  segment.hasTransactionIndex = made.aborted.length > 0
  touch(context, segments, segment)
  return made
}

/** Entries of batches that were appended while the earlier ones were read. */
function takeLater(made: SegmentIndexes, read: Segment, { entries, baseOffset }: Segment): void {
  if (entries === undefined) return
  const from = read.nextOffset - baseOffset
  for (let at = entries.offsets.floor(from - 1) + 1; at < entries.offsets.length; at++) {
    made.offsets.append(entries.offsets.relativeOffsetAt(at), entries.offsets.positionAt(at))
  }
  for (const [timestamp, offset] of entries.times.entries())
    if (offset >= from) made.times.maybeAppend(timestamp, offset)
  for (const entry of entries.aborted) if (entry.lastOffset >= read.nextOffset) made.aborted.push(entry)
}
