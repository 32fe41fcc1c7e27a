import type { ReadRequest } from '../core/log/partition-log.ts'
import type { DiskFile } from '../io/disk.ts'
import {
  batchHeaderBytes,
  batchPrefixBytes,
  batchSizeAt,
  corrupt,
  readBaseOffset,
  readBatchSize,
  truncated,
} from '../records/batch.ts'
import { freeBytes } from '../records/compression/free-bytes.ts'
import { placeAfter, problemOf } from './batch-scan.ts'
import { DamageMemory, type KnownDamage } from './damage-memory.ts'
import type { Segment } from './segment.ts'
import { findBatchBehind } from './segment-scan.ts'
import { type BatchPlace, storedLastOffset } from './stored-batch.ts'

/** Bytes that are read and checked at once, when the first batch is not larger. */
export const coldReadBytes = 1024 * 1024

export interface ColdRequest {
  readonly segment: Segment
  readonly file: DiskFile
  readonly request: ReadRequest
  readonly limitOffset: number
  /** Where a batch begins that is not after the one asked for; its offset, where what comes before it is known. */
  readonly from: { readonly position: number; readonly expectedOffset: number | undefined }
}

export type ColdRead =
  /** Whole batches; none when there are none below the limit. `nextOffset` is the one after them. */
  | {
      readonly type: 'read'
      readonly bytes: Buffer
      readonly position: number
      readonly nextOffset: number
      readonly checkedBytes: number
    }
  /** The segment ends below the offset. */
  | { readonly type: 'beyond'; readonly checkedBytes: number }
  | { readonly type: 'damaged'; readonly position: number; readonly reason: string; readonly checkedBytes: number }

/** How far behind the beginning of damage a read looks for a batch. What lies further away is found when it is scrubbed. */
const maxPassedBytes = 4 * 1024 * 1024
/** What it checks of bytes that look like batches meanwhile: records may be full of those. */
const maxCheckedBytes = 64 * 1024 * 1024

/**
 * The first read of bytes that this process has not checked: they come through the pool, every whole batch is checked and
 * marked, and only whole ones are handed out. Rejects with `DiskError`.
 */
export async function readCold(cold: ColdRequest): Promise<ColdRead> {
  const { segment, file, request, limitOffset, from } = cold
  const first = segment.placeOfFirst()
  let { position } = from
  let wanted = coldReadBytes
  let checkedBytes = 0
  // The read may begin at any batch of the segment; after that one it is known what follows.
  let place: BatchPlace = {
    ...first,
    to: segment.nextOffset,
    from: from.expectedOffset ?? first.from,
    isAfterKnown: from.expectedOffset !== undefined,
  }
  for (;;) {
    const end = segment.writtenBytes
    if (position >= end) return { type: 'beyond', checkedBytes }
    const known = segment.damage?.find(position, place, segment.cuts)
    if (known !== undefined) {
      const next = await afterDamage(cold, known, place)
      if (next === undefined) return { type: 'damaged', position, reason: known.reason, checkedBytes }
      position = next
      place = { ...place, from: segment.baseOffset, isAfterKnown: false }
      continue
    }
    const bytes = await file.read(position, Math.min(wanted, end - position))
    const walk = walkCold(bytes, place, request, { limitOffset, restBytes: end - position })
    segment.verified.add(position, position + walk.checked)
    checkedBytes += walk.checked
    if (walk.length > 0 || walk.isOver) {
      const found = takeOut(bytes, walk)
      return { type: 'read', bytes: found, position: position + walk.start, nextOffset: walk.nextOffset, checkedBytes }
    }
    place = walk.place
    const problem = walk.problem ?? findCut(walk, bytes.length, Math.min(wanted, end - position), end - position)
    if (problem === undefined) {
      position += walk.checked
      wanted = Math.max(coldReadBytes, walk.needed)
      continue
    }
    position += walk.checked
    segment.damage ??= new DamageMemory()
    segment.damage.add({
      position,
      from: place.from,
      isAfterKnown: place.isAfterKnown,
      cuts: segment.cuts,
      reason: problem,
      behind: undefined,
      searchedTo: position,
    })
  }
}

/** The answer. Where it is little of what was read it is copied: it may wait long to be sent, and counts as what it is. */
function takeOut(bytes: Buffer, { start, length }: ColdWalk): Buffer {
  const found = bytes.subarray(start, start + length)
  if (length >= bytes.length / 2) return found
  const copy = Buffer.from(found)
  freeBytes(bytes)
  return copy
}

function findCut(walk: ColdWalk, readBytes: number, wantedBytes: number, restBytes: number): string | undefined {
  if (readBytes < wantedBytes) return 'the file is cut off'
  return walk.checked === 0 && walk.needed > restBytes ? 'the batch is cut off' : undefined
}

/** The position of the first batch behind damage, unless the offset comes before it, or nobody knows of it. */
async function afterDamage(cold: ColdRequest, known: KnownDamage, place: BatchPlace): Promise<number | undefined> {
  const { segment, file, request } = cold
  const { position: at, searchedTo } = known
  let { behind } = known
  const verified = segment.verified.nextBeginning(at)
  const searchEnd = Math.min(at + maxPassedBytes, segment.writtenBytes)
  // What was appended since the search is known to be good.
  if (behind === undefined && searchedTo < Math.min(searchEnd, verified)) {
    const { cuts, writtenBytes: end } = segment
    behind = await findBatchBehind(file, at, { end, searchEnd, maxCheckedBytes }, place)
    if (cuts === segment.cuts) segment.damage?.add({ ...known, behind, searchedTo: searchEnd })
  }
  if (behind !== undefined) return behind.baseOffset <= request.offset ? behind.position : undefined
  if (verified >= segment.writtenBytes) return undefined
  const header = await file.read(verified, batchHeaderBytes)
  return header.length === batchHeaderBytes && readBaseOffset(header, 0) <= request.offset ? verified : undefined
}

/** What the bytes of a cold read hold. */
interface ColdWalk {
  /** Bytes of whole and valid batches. */
  readonly checked: number
  /** Where in the bytes the answer begins, and its length. */
  readonly start: number
  readonly length: number
  /** The offset after the answer. */
  readonly nextOffset: number
  /** Bytes of the first batch that was not whole, or of what it takes to judge it. */
  readonly needed: number
  /** Of the batch that comes next. */
  readonly place: BatchPlace
  /** What follows is not wanted. */
  readonly isOver: boolean
  readonly problem: string | undefined
}

/** Checks what was read and finds in it whole batches that answer the request. */
function walkCold(
  bytes: Buffer,
  first: BatchPlace,
  { offset, maxBytes, minOneBatch }: ReadRequest,
  { limitOffset, restBytes }: { limitOffset: number; restBytes: number },
): ColdWalk {
  const walk = { checked: 0, start: 0, length: 0, nextOffset: 0, needed: 0, place: first, isOver: false }
  while (!walk.isOver) {
    const at = walk.checked
    const size = batchSizeAt(bytes, at)
    if (size === truncated) {
      const needed = bytes.length - at >= batchPrefixBytes ? readBatchSize(bytes, at) : batchHeaderBytes
      return { ...walk, needed, problem: undefined }
    }
    const question = { size, restBytes: restBytes - at, place: walk.place }
    const problem = size === corrupt ? 'there is no batch here' : problemOf(bytes, at, question)
    if (typeof problem === 'number') return { ...walk, needed: problem, problem: undefined }
    if (problem !== undefined) return { ...walk, problem }
    const lastOffset = storedLastOffset(bytes, at)
    walk.isOver = lastOffset >= limitOffset
    walk.checked += size
    walk.place = placeAfter(bytes, at, walk.place)
    if (walk.isOver || lastOffset < offset) continue
    const isFirst = walk.length === 0
    if (isFirst) walk.start = at
    const isWithin = walk.length + size <= maxBytes
    walk.isOver = !isWithin
    if (!isWithin && !(isFirst && minOneBatch)) continue
    walk.length += size
    walk.nextOffset = lastOffset + 1
  }
  return { ...walk, problem: undefined }
}
