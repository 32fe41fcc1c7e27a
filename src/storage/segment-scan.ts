import type { ProducerStates } from '../core/log/producer-states.ts'
import type { DiskFile } from '../io/disk.ts'
import {
  batchHeaderBytes,
  batchPrefixBytes,
  batchSizeAt,
  isCrcValid,
  magicPosition,
  readBaseOffset,
  readBatchSize,
  readLastOffset,
} from '../records/batch.ts'
import { type BatchVisitor, type ScanRange, scanBatches, scanWindowBytes } from './batch-scan.ts'
import { SegmentIndexes } from './index-entries.ts'
import { Segment } from './segment.ts'
import type { StorageContext } from './storage-context.ts'
import { type BatchPlace, isLegacy, storedLastOffset } from './stored-batch.ts'

/** Bytes of a segment that are no valid batches; valid ones follow, or the segment ends. */
export interface DamagedRange {
  readonly position: number
  readonly end: number
  /** The first offset that is missing. */
  readonly offset: number
  readonly reason: string
  /** Base offset of the valid batch of the segment that follows; undefined when none does. */
  readonly nextOffset: number | undefined
}

/**
 * Checks all batches of a part of a segment, marks them and shows them to `visit`. After damage the scan goes on with the
 * next valid batch. Rejects with `DiskError`.
 */
export async function scanSegment(
  context: StorageContext,
  segment: Segment,
  range: { position: number; end: number },
  visit: BatchVisitor,
): Promise<DamagedRange[]> {
  const file = context.openFiles.use(segment)
  file.retain()
  try {
    return await scanFile(file, { ...range, place: segment.placeOfFirst() }, (bytes, at, position, size) => {
      segment.verified.add(position, position + size)
      visit(bytes, at, position, size)
    })
  } finally {
    file.release()
  }
}

/**
 * The segment as its batches say, up to the first that reaches `endOffset`: a copy, with indexes. `states`, which is
 * the producers' state before the segment, becomes that after it. The segment is at rest meanwhile.
 */
export async function readSegment(
  context: StorageContext,
  segment: Segment,
  states: ProducerStates,
  endOffset: number,
  visit: (bytes: Buffer, at: number) => void = () => undefined,
): Promise<{ read: Segment; damaged: DamagedRange[] }> {
  const { home, baseOffset, writtenBytes } = segment
  const read = new Segment(home, baseOffset, { createdWallMs: segment.createdWallMs, jitterMs: 0, isOnDisk: true })
  read.indexes = new SegmentIndexes()
  const damaged = await scanSegment(context, segment, { position: 0, end: writtenBytes }, (bytes, at, position) => {
    if (storedLastOffset(bytes, at) >= endOffset) return
    read.sizeBytes = position
    read.note(bytes, at, home.indexIntervalBytes)
    if (isLegacy(bytes, at)) return
    visit(bytes, at)
    const aborted = states.append(bytes, at)
    states.complete(read.nextOffset)
    if (aborted !== undefined) read.addAborted(aborted)
  })
  if (segment.isSealed) read.endTimeIndex()
  return { read, damaged }
}

export async function scanFile(file: DiskFile, range: ScanRange, visit: BatchVisitor): Promise<DamagedRange[]> {
  const damaged: DamagedRange[] = []
  let { position, place } = range
  while (position < range.end) {
    const scan = await scanBatches(file, { position, end: range.end, place }, visit)
    if (scan.problem === undefined) break
    // What was acknowledged is rather kept: what looks like a batch is one, if nothing else is to be found.
    const search = { end: range.end, mayStandAlone: true }
    const next = await findBatchBehind(file, scan.position, search, scan.place)
    position = next?.position ?? range.end
    // How many offsets are lost is known from the batch that follows only.
    place = { ...scan.place, from: next?.baseOffset ?? scan.place.from, isAfterKnown: false }
    damaged.push({
      position: scan.position,
      end: position,
      offset: scan.place.from,
      reason: scan.problem,
      nextOffset: next?.baseOffset,
    })
  }
  return damaged
}

/** Bytes that are checked in one turn by a search among what looks like batches. */
const maxBytesInTurn = 8 * 1024 * 1024

/** Damaged batches, one after the other, that are passed by what they say of their lengths. */
const maxDamagedInRow = 16

interface SearchRange {
  readonly end: number
  readonly searchEnd?: number
  readonly mayStandAlone?: boolean
  readonly maxCheckedBytes?: number
}

export interface FoundBatch {
  readonly position: number
  readonly baseOffset: number
}

/**
 * The first valid batch behind bytes at `at` that are none; undefined when there is none up to `end`, or none that begins before
 * `searchEnd`. Records may hold batches of their own: where the bytes still say their length, the one after them goes before any
 * inside of them; otherwise it has to be followed by another, or by the end. With `mayStandAlone` one that is not is better than
 * none. The search is given up when what looks like batches comes to more than `maxCheckedBytes`.
 */
export async function findBatchBehind(
  file: DiskFile,
  at: number,
  { end, searchEnd = end, mayStandAlone = false, maxCheckedBytes = Number.POSITIVE_INFINITY }: SearchRange,
  place: BatchPlace,
): Promise<FoundBatch | undefined> {
  const behind = await batchAfterLength(file, at, end, place)
  if (behind !== undefined) return behind
  let alone: FoundBatch | undefined
  for await (const { position, size, baseOffset } of validBatches(
    file,
    at + 1,
    { end, searchEnd, maxCheckedBytes },
    place,
  )) {
    const next = position + size
    if (next === end || (await batchAt(file, next, end, place)) !== undefined) return { position, baseOffset }
    alone ??= { position, baseOffset }
  }
  return mayStandAlone ? alone : undefined
}

/**
 * The batch that begins where the bytes at `at` say that they end; if it is damaged, too, the one behind it, and so on, as long as
 * what is there looks like a batch.
 */
async function batchAfterLength(
  file: DiskFile,
  at: number,
  end: number,
  place: BatchPlace,
): Promise<FoundBatch | undefined> {
  let position = at
  for (let passed = 0; passed < maxDamagedInRow && position < end; passed++) {
    const header = await file.read(position, Math.min(batchHeaderBytes, end - position))
    if (passed > 0 && header[magicPosition] !== 2) return undefined
    const size = header.length < batchPrefixBytes ? 0 : readBatchSize(header, 0)
    if (size < batchHeaderBytes) return undefined
    position += size
    const found = await batchAt(file, position, end, place)
    if (found !== undefined) return found
  }
  return undefined
}

/** The batch that begins exactly there, if one does. */
async function batchAt(
  file: DiskFile,
  position: number,
  end: number,
  place: BatchPlace,
): Promise<FoundBatch | undefined> {
  if (end - position < batchHeaderBytes) return undefined
  const header = await file.read(position, batchHeaderBytes)
  if (header.length < batchHeaderBytes || !mayBegin(header, 0, end - position, place)) return undefined
  const size = readBatchSize(header, 0)
  const batch = await file.read(position, size)
  const isValid = batch.length === size && isCrcValid(batch, 0, size)
  return isValid ? { position, baseOffset: readBaseOffset(header, 0) } : undefined
}

/**
 * The next bytes from `from` on that are a valid batch: the header makes sense, the offsets fit and the CRC is right. Undefined
 * when there are none up to `end`.
 */
export async function findNextBatch(
  file: DiskFile,
  from: number,
  end: number,
  place: BatchPlace,
): Promise<FoundBatch | undefined> {
  for await (const found of validBatches(
    file,
    from,
    { end, searchEnd: end, maxCheckedBytes: Number.POSITIVE_INFINITY },
    place,
  ))
    return found
  return undefined
}

async function* validBatches(
  file: DiskFile,
  from: number,
  { end, searchEnd, maxCheckedBytes }: Required<Omit<SearchRange, 'mayStandAlone'>>,
  place: BatchPlace,
): AsyncGenerator<FoundBatch & { readonly size: number }, void, undefined> {
  let windowAt = from
  let checkedBytes = 0
  while (end - windowAt >= batchHeaderBytes && windowAt < searchEnd) {
    const bytes = await file.read(windowAt, Math.min(scanWindowBytes, end - windowAt))
    if (bytes.length < batchHeaderBytes) return
    const last = bytes.length - batchHeaderBytes
    for (let at = 0; at <= last && windowAt + at < searchEnd; at++) {
      if (!mayBegin(bytes, at, end - windowAt, place)) continue
      const size = batchSizeAt(bytes, at, end - windowAt)
      checkedBytes += size
      if (checkedBytes > maxCheckedBytes) return
      // A read from the file, needed or not, lets others run.
      const isWhole = at + size <= bytes.length && checkedBytes % maxBytesInTurn >= size
      const batch = isWhole ? bytes : await file.read(windowAt + at, size)
      if (batch.length < size || !isCrcValid(batch, isWhole ? at : 0, size)) continue
      yield { position: windowAt + at, baseOffset: readBaseOffset(bytes, at), size }
    }
    windowAt += last + 1
  }
}

function mayBegin(bytes: Buffer, at: number, end: number, place: BatchPlace): boolean {
  if (bytes[at + magicPosition] !== 2 || batchSizeAt(bytes, at, end) < batchHeaderBytes) return false
  const baseOffset = readBaseOffset(bytes, at)
  const lastOffset = readLastOffset(bytes, at)
  return baseOffset >= place.from && lastOffset >= baseOffset && lastOffset < place.to
}
