import type { DiskFile } from '../io/disk.ts'
import { batchHeaderBytes, batchSizeAt, corrupt, magicPosition } from '../records/batch.ts'
import type { Segment } from './segment.ts'
import { isLegacy, storedLastOffset } from './stored-batch.ts'

/** Bytes that are read at once when looking for a batch: an index interval, and the header of the batch that ends it. */
const stepBytes = 8 * 1024

/** Where the walk got to. `isFound` false: the bytes at `position` are no batch. */
export interface Located {
  readonly isFound: boolean
  readonly position: number
  /** The offset after the batch before this position; undefined when none was looked at. */
  readonly expectedOffset: number | undefined
}

/** Where to begin to look for an offset, as the index says. */
export function indexedPosition(segment: Segment, offset: number): number {
  const offsets = segment.indexes?.offsets
  const entry = offsets?.floor(offset - segment.baseOffset) ?? -1
  return offsets === undefined || entry < 0 ? 0 : offsets.positionAt(entry)
}

/**
 * The first batch from `from` on that ends at or after the offset; `end` when there is none before. Walks over bytes
 * that have been checked already.
 */
export async function locate(file: DiskFile, from: number, offset: number, end: number): Promise<Located> {
  let position = from
  let expectedOffset: number | undefined
  while (position < end) {
    const bytes = await file.read(position, Math.min(stepBytes, end - position))
    const step = walk(bytes, position, offset, end)
    position = step.position
    expectedOffset = step.expectedOffset ?? expectedOffset
    if (step.type !== 'onwards') return { isFound: step.type === 'found', position, expectedOffset }
  }
  return { isFound: true, position: end, expectedOffset }
}

/** The same within the call, for a file that is in the kernel's memory. */
export function locateNow(file: DiskFile, from: number, offset: number, end: number): Located {
  const scratch = Buffer.allocUnsafe(stepBytes)
  let position = from
  let expectedOffset: number | undefined
  while (position < end) {
    const length = file.readNow(position, scratch.subarray(0, Math.min(stepBytes, end - position)))
    const step = walk(scratch.subarray(0, length), position, offset, end)
    position = step.position
    expectedOffset = step.expectedOffset ?? expectedOffset
    if (step.type !== 'onwards') return { isFound: step.type === 'found', position, expectedOffset }
  }
  return { isFound: true, position: end, expectedOffset }
}

interface Step {
  readonly type: 'found' | 'lost' | 'onwards'
  readonly position: number
  readonly expectedOffset: number | undefined
}

function walk(bytes: Buffer, position: number, offset: number, end: number): Step {
  let at = 0
  let expectedOffset: number | undefined
  while (isHeaderWhole(bytes, at)) {
    const size = batchSizeAt(bytes, at, end - position)
    if (size <= 0) return { type: 'lost', position: position + at, expectedOffset }
    const lastOffset = storedLastOffset(bytes, at)
    if (lastOffset >= offset) return { type: 'found', position: position + at, expectedOffset }
    expectedOffset = lastOffset + 1
    at += size
  }
  const isLost = at === 0 || (at < bytes.length && batchSizeAt(bytes, at) === corrupt)
  return { type: isLost ? 'lost' : 'onwards', position: position + at, expectedOffset }
}

/** Entries from before an upgrade may be shorter than the header of a batch. */
function isHeaderWhole(bytes: Buffer, at: number): boolean {
  const restBytes = bytes.length - at
  return restBytes >= batchHeaderBytes || (restBytes > magicPosition && isLegacy(bytes, at))
}
