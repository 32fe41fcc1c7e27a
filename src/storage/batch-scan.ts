import type { DiskFile } from '../io/disk.ts'
import { batchHeaderBytes, batchSizeAt, corrupt, readBatchSize, truncated } from '../records/batch.ts'
import {
  type BatchPlace,
  findBatchProblem,
  isEpochContradicted,
  storedLastOffset,
  storedLeaderEpoch,
} from './stored-batch.ts'

export const scanWindowBytes = 1024 * 1024

/** Sees a valid batch; the bytes are valid only during the call. It ends the scan by answering `stop`. */
export type BatchVisitor = (bytes: Buffer, at: number, position: number, size: number) => unknown

export interface ScanRange {
  readonly position: number
  readonly end: number
  /** Of the first batch. */
  readonly place: BatchPlace
}

/** Where a scan ended: at the end, where the visitor stopped it, or at bytes that are not a whole and valid batch. */
export interface ScanEnd {
  readonly position: number
  /** Of the batch that would come next. */
  readonly place: BatchPlace
  readonly problem: string | undefined
}

/**
 * Checks the batches of a part of a file, which begins with a batch, one after the other, and shows each valid one to
 * `visit`. Rejects with `DiskError`.
 */
export async function scanBatches(file: DiskFile, range: ScanRange, visit: BatchVisitor): Promise<ScanEnd> {
  let { position, place } = range
  let windowBytes = scanWindowBytes
  while (position < range.end) {
    const bytes = await file.read(position, Math.min(windowBytes, range.end - position))
    const step = scanWindow(bytes, position, place, visit)
    position += step.length
    place = step.place
    if (step.isOver) return { position, place, problem: step.problem }
    if (step.length > 0) {
      windowBytes = scanWindowBytes
      continue
    }
    // The first batch of the window is not whole: it is larger than the window, or cut off.
    const needed = bytes.length < batchHeaderBytes ? Number.POSITIVE_INFINITY : readBatchSize(bytes, 0)
    if (position + needed > range.end || needed <= bytes.length)
      return { position, place, problem: 'the batch is cut off' }
    windowBytes = needed
  }
  return { position, place, problem: undefined }
}

interface WindowStep {
  /** Bytes of valid batches. */
  readonly length: number
  readonly place: BatchPlace
  readonly problem: string | undefined
  readonly isOver: boolean
}

function scanWindow(bytes: Buffer, position: number, first: BatchPlace, visit: BatchVisitor): WindowStep {
  let place = first
  let at = 0
  for (;;) {
    const size = batchSizeAt(bytes, at)
    if (size === truncated) return { length: at, place, problem: undefined, isOver: false }
    let problem = size === corrupt ? 'there is no batch here' : findBatchProblem(bytes, at, size, place)
    if (problem === undefined && isEpochContradicted(bytes, at, size, place))
      problem = 'the next batch is of an older epoch'
    if (problem !== undefined) return { length: at, place, problem, isOver: true }
    const isOver = visit(bytes, at, position + at, size) === 'stop'
    place = placeAfter(bytes, at, place)
    at += size
    if (isOver) return { length: at, place, problem: undefined, isOver }
  }
}

/** Where the batch belongs that follows the one at `at`. */
export function placeAfter(bytes: Buffer, at: number, place: BatchPlace): BatchPlace {
  const { to, isContiguous, epochs, areEpochsComplete } = place
  const from = storedLastOffset(bytes, at) + 1
  const minLeaderEpoch = Math.max(place.minLeaderEpoch, storedLeaderEpoch(bytes, at))
  return { from, to, isContiguous, minLeaderEpoch, epochs, areEpochsComplete }
}
