import type { DiskFile } from '../io/disk.ts'
import {
  batchHeaderBytes,
  batchSizeAt,
  corrupt,
  isCrcValid,
  readBaseOffset,
  readLastOffset,
  readLastOffsetDelta,
  readMagic,
  truncated,
} from '../records/batch.ts'

export const scanWindowBytes = 1024 * 1024

/** Which offsets the batches of a file may have. */
export interface OffsetBounds {
  /** The next batch does not begin below this. */
  readonly from: number
  /** No batch reaches this. */
  readonly to: number
}

/** Why the bytes at a position are no batch of this log; undefined when they are one. The batch is whole: `size` bytes at `at`. */
export function findBatchProblem(bytes: Buffer, at: number, size: number, bounds: OffsetBounds): string | undefined {
  if (readMagic(bytes, at) !== 2) return `the batch has magic ${readMagic(bytes, at)}`
  if (!isCrcValid(bytes, at, size)) return 'the CRC of the batch is wrong'
  const baseOffset = readBaseOffset(bytes, at)
  if (readLastOffsetDelta(bytes, at) < 0) return 'the batch ends before it begins'
  if (!(baseOffset >= bounds.from)) return `the batch has offset ${baseOffset}, below ${bounds.from}`
  if (!(readLastOffset(bytes, at) < bounds.to)) return `the batch reaches offset ${readLastOffset(bytes, at)}`
  return undefined
}

/** Sees a valid batch; the bytes are valid only during the call. It ends the scan by answering `stop`. */
export type BatchVisitor = (bytes: Buffer, at: number, position: number, size: number) => unknown

/** Where a scan ended: at the end, or at bytes that are not a whole and valid batch. */
export interface ScanEnd {
  readonly position: number
  /** The offset after the last valid batch. */
  readonly nextOffset: number
  readonly problem: string | undefined
}

/**
 * Checks the batches of a file from `position` to `end`, one after the other, and shows each valid one to `visit`.
 * Rejects with `DiskError`.
 */
export async function scanBatches(
  file: DiskFile,
  range: { position: number; end: number; bounds: OffsetBounds },
  visit: BatchVisitor,
): Promise<ScanEnd> {
  let { position } = range
  let nextOffset = range.bounds.from
  let windowBytes = scanWindowBytes
  while (position < range.end) {
    const bytes = await file.read(position, Math.min(windowBytes, range.end - position))
    windowBytes = scanWindowBytes
    let at = 0
    let problem: string | undefined
    for (;;) {
      const size = batchSizeAt(bytes, at)
      if (size === truncated) break
      if (size === corrupt) problem = 'there is no batch here'
      else problem = findBatchProblem(bytes, at, size, { from: nextOffset, to: range.bounds.to })
      if (problem !== undefined) break
      const isOver = visit(bytes, at, position + at, size)
      nextOffset = readLastOffset(bytes, at) + 1
      at += size
      if (isOver === 'stop') return { position: position + at, nextOffset, problem: undefined }
    }
    position += at
    if (problem !== undefined) return { position, nextOffset, problem }
    if (at > 0) continue
    const needed = bytes.length < batchHeaderBytes ? Number.POSITIVE_INFINITY : bytes.readInt32BE(8) + 12
    if (position + needed > range.end || bytes.length < Math.min(windowBytes, range.end - position)) {
      return { position, nextOffset, problem: 'the batch is cut off' }
    }
    windowBytes = needed
  }
  return { position, nextOffset, problem: undefined }
}
