import { assert } from '../base/assert.ts'
import { ErrorCode } from '../base/error-code.ts'
import type { AbortedTransaction, LogRead, ReadRefusal, ReadRequest } from '../core/log/partition-log.ts'
import { DiskError, type DiskFile, type FileRange } from '../io/disk.ts'
import { batchPrefixBytes, batchSizeAt, readBatchSize, readLastOffset } from '../records/batch.ts'
import { findBatchProblem } from './batch-scan.ts'
import type { LogState } from './log-state.ts'
import type { PositionHints } from './position-hints.ts'
import type { Segment } from './segment.ts'
import { confirmEntry, loadIndexes, rebuildIndexes } from './segment-indexes.ts'
import type { LogPosition, SegmentList } from './segment-list.ts'
import { indexedPosition, locate } from './segment-locator.ts'
import type { StorageContext } from './storage-context.ts'
import type { TailCache } from './tail-cache.ts'

export type ReadResult = LogRead<FileRange> | ReadRefusal

/** Bytes of a cold read: what is read and checked at once when the first batch is not larger. */
const coldReadBytes = 1024 * 1024
const maxRetries = 8

/** Reads of one log. What is at or above the limit that a read is given is never part of the answer. */
export class LogReader {
  readonly #state: LogState
  readonly #context: StorageContext
  readonly #segments: SegmentList
  readonly #hints: PositionHints
  tail: TailCache | undefined = undefined

  constructor(state: LogState) {
    this.#state = state
    this.#context = state.context
    this.#segments = state.segments
    this.#hints = state.hints
  }

  /** `offset` is below `limitOffset`, which is at most the log end offset, and not below the first segment. */
  read(request: ReadRequest, limitOffset: number): ReadResult | Promise<ReadResult> {
    assert(request.offset < limitOffset, 'a read begins below its limit')
    const start = this.#findNow(request.offset)
    const limit = start === undefined ? undefined : this.#limitNow(start.segment, limitOffset)
    if (start === undefined || limit === undefined) return this.#readLater(request, limitOffset)
    if (!start.segment.verified.covers(start.position, start.position + 1)) return this.#readLater(request, limitOffset)
    if (request.isolation === 'lastStableOffset' && !this.#hasAbortedInMemory(start.segment)) {
      return this.#readLater(request, limitOffset)
    }
    try {
      return this.#answer(request, start, limit, limitOffset)
    } catch (error) {
      return this.#failed(error)
    }
  }

  /** What is at or above the offset is gone, or some segments are. */
  forget(endOffset: number): void {
    this.tail?.truncate(endOffset)
    this.#hints.keepOnly(this.#segments, endOffset)
  }

  /** Where the batch that holds the offset, or the first one after it, begins, if that needs no disk. */
  #findNow(offset: number): LogPosition | undefined {
    const hint = this.#hints.get(offset)
    if (hint !== undefined) return this.#inNextSegment(hint)
    const cached = this.tail?.find(offset)
    if (cached === undefined) return undefined
    return { offset, segment: this.#segments.floor(offset), position: cached.position }
  }

  /** Where the limit lies in the segment, as a position, if that needs no disk. */
  #limitNow(segment: Segment, limitOffset: number): number | undefined {
    if (segment !== this.#segments.active && limitOffset >= segment.nextOffset) return segment.sizeBytes
    const hint = this.#hints.get(limitOffset)
    if (hint !== undefined && hint.segment === segment) return hint.position
    if (limitOffset === segment.nextOffset) return segment.sizeBytes
    return this.tail?.find(limitOffset)?.position
  }

  /** The end of a segment is the beginning of the next. */
  #inNextSegment(place: LogPosition): LogPosition {
    if (place.position < place.segment.sizeBytes) return place
    const next = this.#segments.after(place.segment)
    return next === undefined ? place : { offset: place.offset, segment: next, position: 0 }
  }

  #answer(request: ReadRequest, start: LogPosition, limit: number, limitOffset: number): ReadResult {
    const { segment, position } = start
    assert(position < limit, 'a read begins below its limit')
    const end = Math.min(limit, segment.verified.endOfCover(position))
    const length = this.#lengthOf(request, start, end - position)
    const abortedTransactions = this.#aborted(request, segment, position + length, limitOffset)
    if (length === 0) return { type: 'read', parts: [], byteLength: 0, abortedTransactions }
    if (position + length === limit)
      this.#hints.add({ offset: Math.min(limitOffset, segment.nextOffset), segment, position: limit })
    const parts = this.#parts(start, length)
    return { type: 'read', parts, byteLength: length, abortedTransactions }
  }

  /** How much of what is there may leave: at most `maxBytes`, but the first batch whole if the caller wants one. */
  #lengthOf({ maxBytes, minOneBatch }: ReadRequest, start: LogPosition, available: number): number {
    if (available <= maxBytes) return available
    const first = Math.min(available, this.#batchSize(start))
    if (first <= maxBytes) return maxBytes
    return minOneBatch ? first : 0
  }

  #batchSize({ offset, segment, position }: LogPosition): number {
    const cached = this.tail?.find(offset)
    if (cached !== undefined && cached.position === position) return this.tail?.batchSize(cached) as number
    const prefix = Buffer.allocUnsafe(batchPrefixBytes)
    this.#file(segment).readNow(position, prefix)
    return readBatchSize(prefix, 0)
  }

  #parts(start: LogPosition, length: number): (Buffer | FileRange)[] {
    const { segment, position } = start
    if (length < this.#context.limits.fileRangeFromBytes) {
      const cached = this.tail?.find(start.offset)
      const views = cached?.position === position ? this.tail?.view(cached, position + length) : undefined
      if (views !== undefined) return views
    }
    const file = this.#file(segment)
    file.retain()
    return [{ file, position, length }]
  }

  #file(segment: Segment): DiskFile {
    return this.#context.openFiles.use(segment)
  }

  async #readLater(request: ReadRequest, limitOffset: number): Promise<ReadResult> {
    try {
      for (let attempt = 0; attempt < maxRetries; attempt++) {
        const removals = this.#segments.removals
        const result = await this.#readFromDisk(request, limitOffset)
        if (removals === this.#segments.removals) return result
        // Something was cut or removed meanwhile: what was found may be gone, and another segment may hold the offset.
        if (result.type === 'read') releaseParts(result.parts)
        if (request.offset < this.#segments.first.baseOffset) return refused(ErrorCode.offsetOutOfRange)
        if (request.offset >= Math.min(limitOffset, this.#segments.active.nextOffset)) return nothing(request)
      }
      return nothing(request)
    } catch (error) {
      return this.#failed(error)
    }
  }

  async #readFromDisk(request: ReadRequest, limitOffset: number): Promise<ReadResult> {
    let segment = this.#segments.floor(request.offset)
    while (request.offset >= segment.nextOffset && segment !== this.#segments.active) {
      segment = this.#segments.after(segment) as Segment
    }
    await loadIndexes(this.#context, this.#segments, segment)
    const end = segment.sizeBytes
    const from = Math.max(indexedPosition(segment, request.offset), 0)
    const file = this.#file(segment)
    file.retain()
    try {
      if (!(await confirmEntry(file, segment, request.offset))) {
        segment.indexes = await rebuildIndexes(this.#context, this.#segments, segment)
        return await this.#readFromDisk(request, limitOffset)
      }
      const isChecked = segment.verified.endOfCover(from) > from
      if (!isChecked) return await this.#readCold(request, segment, file, from, limitOffset)
      const known = segment.verified.endOfCover(from)
      const start = await locate(file, from, request.offset, known)
      if (!start.isFound) return this.#damaged(segment, start.position, request.offset, 'there is no batch here')
      if (start.position >= known && known < end)
        return await this.#readCold(request, segment, file, known, limitOffset)
      const limit = limitOffset >= segment.nextOffset ? end : (await locate(file, from, limitOffset, known)).position
      if (start.position >= limit) return nothing(request)
      await this.#loadAborted(request, segment)
      return this.#answer(request, { offset: request.offset, segment, position: start.position }, limit, limitOffset)
    } finally {
      file.release()
    }
  }

  /**
   * The first read of bytes that this process has not checked: they come through the pool, every whole batch is checked, and
   * only whole ones are handed out. `from` is where a batch begins that is not after the one asked for.
   */
  async #readCold(
    request: ReadRequest,
    segment: Segment,
    file: DiskFile,
    from: number,
    limitOffset: number,
  ): Promise<ReadResult> {
    const end = segment.sizeBytes
    let position = from
    let wanted = coldReadBytes
    for (;;) {
      const bytes = await file.read(position, Math.min(wanted, end - position))
      const walk = this.#checkWalk(bytes, position, segment, request, limitOffset)
      segment.verified.add(position, position + walk.checked)
      if (walk.length > 0) {
        await this.#loadAborted(request, segment)
        const start = position + walk.start
        this.#hints.add({ offset: walk.nextOffset, segment, position: start + walk.length })
        const abortedTransactions = this.#aborted(request, segment, start + walk.length, limitOffset)
        const parts = [bytes.subarray(walk.start, walk.start + walk.length)]
        return { type: 'read', parts, byteLength: walk.length, abortedTransactions }
      }
      if (walk.problem !== undefined)
        return this.#damaged(segment, position + walk.checked, request.offset, walk.problem)
      if (walk.isOver) return nothing(request)
      position += walk.checked
      wanted = Math.max(coldReadBytes, walk.needed)
      if (position >= end) return nothing(request)
    }
  }

  #checkWalk(
    bytes: Buffer,
    position: number,
    segment: Segment,
    request: ReadRequest,
    limitOffset: number,
  ): CheckedWalk {
    const walk = {
      checked: 0,
      start: 0,
      length: 0,
      nextOffset: 0,
      needed: 0,
      isOver: false,
      problem: undefined as string | undefined,
    }
    const bounds = { from: segment.baseOffset, to: segment.nextOffset }
    while (!walk.isOver) {
      const at = walk.checked
      const size = batchSizeAt(bytes, at)
      if (size <= 0) {
        const rest = segment.sizeBytes - position - at
        const claimed = bytes.length - at >= batchPrefixBytes ? readBatchSize(bytes, at) : 0
        if (size < 0) walk.problem = 'there is no batch here'
        else if (claimed > rest || bytes.length === at + rest)
          walk.problem = rest > 0 ? 'the batch is cut off' : undefined
        walk.needed = claimed
        break
      }
      walk.problem = findBatchProblem(bytes, at, size, bounds)
      if (walk.problem !== undefined) break
      const lastOffset = readLastOffset(bytes, at)
      walk.isOver = lastOffset >= limitOffset
      walk.checked += size
      bounds.from = lastOffset + 1
      if (walk.isOver || lastOffset < request.offset) continue
      const isFirst = walk.length === 0
      if (isFirst) walk.start = at
      const isWithin = walk.length + size <= request.maxBytes
      walk.isOver = !isWithin
      if (!isWithin && !(isFirst && request.minOneBatch)) continue
      walk.length += size
      walk.nextOffset = lastOffset + 1
    }
    return walk
  }

  #damaged(segment: Segment, position: number, offset: number, reason: string): ReadRefusal {
    this.#state.damageFound({ path: segment.filePath, position, length: undefined, offset, reason })
    return refused(ErrorCode.corruptMessage)
  }

  #failed(error: unknown): ReadRefusal {
    if (!(error instanceof DiskError)) throw error
    this.#state.directory.readFailed(error)
    return refused(ErrorCode.kafkaStorageError)
  }

  #hasAbortedInMemory(segment: Segment): boolean {
    for (let at = this.#segments.indexOf(segment); at < this.#segments.all.length; at++) {
      if (!this.#segments.all[at].hasAbortedInMemory) return false
    }
    return true
  }

  async #loadAborted({ isolation }: ReadRequest, from: Segment): Promise<void> {
    if (isolation !== 'lastStableOffset') return
    for (let segment: Segment | undefined = from; segment !== undefined; segment = this.#segments.after(segment)) {
      if (!segment.hasAbortedInMemory) await loadIndexes(this.#context, this.#segments, segment)
    }
  }

  /** Aborted transactions that the bytes up to `endPosition` may hold records of, by first offset. */
  #aborted(
    { isolation, offset }: ReadRequest,
    from: Segment,
    endPosition: number,
    limitOffset: number,
  ): AbortedTransaction[] | undefined {
    if (isolation !== 'lastStableOffset') return undefined
    const found: AbortedTransaction[] = []
    const upperBound = Math.min(limitOffset, upperBoundOf(from, endPosition))
    for (let segment: Segment | undefined = from; segment !== undefined; segment = this.#segments.after(segment)) {
      for (const entry of segment.indexes?.aborted ?? []) {
        if (entry.lastOffset >= offset && entry.firstOffset < upperBound) {
          found.push({ producerId: entry.producerId, firstOffset: entry.firstOffset })
        }
        if (entry.lastStableOffset >= upperBound) return found.sort((a, b) => a.firstOffset - b.firstOffset)
      }
    }
    return found.sort((a, b) => a.firstOffset - b.firstOffset)
  }
}

interface CheckedWalk {
  /** Bytes of whole and valid batches. */
  readonly checked: number
  /** Where in the bytes the answer begins, and its length. */
  readonly start: number
  readonly length: number
  /** The offset after the answer. */
  readonly nextOffset: number
  /** Bytes of the first batch that was not whole. */
  readonly needed: number
  /** What follows is not wanted. */
  readonly isOver: boolean
  readonly problem: string | undefined
}

/** An offset that is not below the offsets of the batches that begin before the position. */
function upperBoundOf(segment: Segment, endPosition: number): number {
  const offsets = segment.indexes?.offsets
  const entry = offsets?.firstFromPosition(endPosition) ?? 0
  if (offsets === undefined || entry >= offsets.length) return segment.nextOffset
  return segment.baseOffset + offsets.relativeOffsetAt(entry)
}

export function releaseParts(parts: readonly (Buffer | FileRange)[]): void {
  for (const part of parts) if (!Buffer.isBuffer(part)) part.file.release()
}

function refused(errorCode: ErrorCode): ReadRefusal {
  return { type: 'refused', errorCode }
}

function nothing({ isolation }: ReadRequest): ReadResult {
  const abortedTransactions = isolation === 'lastStableOffset' ? [] : undefined
  return { type: 'read', parts: [], byteLength: 0, abortedTransactions }
}
