import type { DiskFile } from '../io/disk.ts'
import { batchHeaderBytes, batchSizeAt, corrupt } from '../records/batch.ts'
import type { Segment } from './segment.ts'
import { storedLastOffset } from './stored-batch.ts'

/** Bytes that are read at once when looking for a batch: an index interval, and the header of the batch that ends it. */
const stepBytes = 8 * 1024

/** Where the walk got to. `isFound` false: the bytes at `position` are no batch. */
export interface Located {
  readonly isFound: boolean
  readonly position: number
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
  while (position < end) {
    const bytes = await file.read(position, Math.min(stepBytes, end - position))
    const step = walk(bytes, position, offset, end)
    if (step.type === 'found') return { isFound: true, position: step.position }
    if (step.type === 'lost') return { isFound: false, position: step.position }
    position = step.position
  }
  return { isFound: true, position: end }
}

interface Step {
  readonly type: 'found' | 'lost' | 'onwards'
  readonly position: number
}

function walk(bytes: Buffer, position: number, offset: number, end: number): Step {
  let at = 0
  while (bytes.length - at >= batchHeaderBytes) {
    const size = batchSizeAt(bytes, at, end - position)
    if (size <= 0) return { type: 'lost', position: position + at }
    if (storedLastOffset(bytes, at) >= offset) return { type: 'found', position: position + at }
    at += size
  }
  if (at === 0 || (batchSizeAt(bytes, at) === corrupt && at < bytes.length))
    return { type: 'lost', position: position + at }
  return { type: 'onwards', position: position + at }
}
