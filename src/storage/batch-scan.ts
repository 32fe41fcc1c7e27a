import type { DiskFile } from '../io/disk.ts'
import { batchHeaderBytes, batchSizeAt, corrupt, readBatchSize, truncated } from '../records/batch.ts'
import {
  type BatchPlace,
  contradiction,
  findBatchProblem,
  isEpochContradicted,
  isOffsetContradicted,
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
    const wantedBytes = Math.min(windowBytes, range.end - position)
    const bytes = await file.read(position, wantedBytes)
    const restBytes = bytes.length < wantedBytes ? bytes.length : range.end - position
    const step = scanWindow(bytes, { position, restBytes }, place, visit)
    position += step.length
    place = step.place
    if (step.isOver) return { position, place, problem: step.problem }
    if (step.length > 0) {
      windowBytes = scanWindowBytes
      continue
    }
    // The first batch of the window, or what it takes to judge it, is not whole: it is larger than the window, or cut off.
    if (step.needed > restBytes || step.needed <= bytes.length)
      return { position, place, problem: 'the batch is cut off' }
    windowBytes = step.needed
  }
  return { position, place, problem: undefined }
}

interface WindowStep {
  /** Bytes of valid batches. */
  readonly length: number
  /** Bytes from there on that have to be at hand for the next one. */
  readonly needed: number
  readonly place: BatchPlace
  readonly problem: string | undefined
  readonly isOver: boolean
}

function scanWindow(
  bytes: Buffer,
  { position, restBytes }: { readonly position: number; readonly restBytes: number },
  first: BatchPlace,
  visit: BatchVisitor,
): WindowStep {
  let place = first
  let at = 0
  for (;;) {
    const size = batchSizeAt(bytes, at)
    if (size === truncated) return unfinished(at, place, wholeSize(bytes, at))
    const problem =
      size === corrupt ? 'there is no batch here' : problemOf(bytes, at, { size, restBytes: restBytes - at, place })
    if (typeof problem === 'number') return unfinished(at, place, problem)
    if (problem !== undefined) return { length: at, needed: 0, place, problem, isOver: true }
    const isOver = visit(bytes, at, position + at, size) === 'stop'
    place = placeAfter(bytes, at, place)
    at += size
    if (isOver) return { length: at, needed: 0, place, problem: undefined, isOver }
  }
}

function unfinished(length: number, place: BatchPlace, needed: number): WindowStep {
  return { length, needed, place, problem: undefined, isOver: false }
}

function wholeSize(bytes: Buffer, at: number): number {
  return bytes.length - at < batchHeaderBytes ? Number.POSITIVE_INFINITY : readBatchSize(bytes, at)
}

/** Why the whole batch does not belong here. A number: so many bytes from `at` on are needed to tell. */
export function problemOf(
  bytes: Buffer,
  at: number,
  { size, restBytes, place }: { readonly size: number; readonly restBytes: number; readonly place: BatchPlace },
): string | number | undefined {
  const problem = findBatchProblem(bytes, at, size, place)
  if (problem !== undefined) return problem
  const isFalse = isOffsetContradicted(bytes, at, { size, restBytes, place })
  if (typeof isFalse === 'number') return isFalse
  if (isFalse) return contradiction(bytes, at, at + size)
  return isEpochContradicted(bytes, at, size, place) ? 'the next batch is of an older epoch' : undefined
}

/** Where the batch belongs that follows the one at `at`. */
export function placeAfter(bytes: Buffer, at: number, place: BatchPlace): BatchPlace {
  const { to, isContiguous, epochs, areEpochsComplete } = place
  const from = storedLastOffset(bytes, at) + 1
  const minLeaderEpoch = Math.max(place.minLeaderEpoch, storedLeaderEpoch(bytes, at))
  return { from, isAfterKnown: true, to, isContiguous, minLeaderEpoch, epochs, areEpochsComplete }
}
