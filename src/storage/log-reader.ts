import { assert } from '../base/assert.ts'
import { ErrorCode } from '../base/error-code.ts'
import type { AbortedTransaction, LogRead, ReadRefusal, ReadRequest } from '../core/log/partition-log.ts'
import { DiskError, type DiskFile, type FileRange } from '../io/disk.ts'
import {
  batchHeaderBytes,
  batchPrefixBytes,
  batchSizeAt,
  corrupt,
  readBaseOffset,
  readBatchSize,
  truncated,
} from '../records/batch.ts'
import { placeAfter } from './batch-scan.ts'
import type { LogState } from './log-state.ts'
import type { PositionHints } from './position-hints.ts'
import type { Segment } from './segment.ts'
import { confirmEntry, loadIndexes, rebuildIndexes } from './segment-indexes.ts'
import type { LogPosition, SegmentList } from './segment-list.ts'
import { indexedPosition, locate } from './segment-locator.ts'
import type { StorageContext } from './storage-context.ts'
import { type BatchPlace, findBatchProblem, storedLastOffset } from './stored-batch.ts'
import type { TailCache } from './tail-cache.ts'

/** Where a read ends at the latest. */
interface Limit {
  readonly position: number
  /** The limit of the request lies exactly there; otherwise only what is known of the segment ends. */
  readonly isExact: boolean
}

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
    if (start === undefined || limit === undefined || start.position >= limit)
      return this.#readLater(request, limitOffset)
    if (!start.segment.verified.covers(start.position, start.position + 1)) return this.#readLater(request, limitOffset)
    if (request.isolation === 'lastStableOffset' && !this.#hasAbortedInMemory(start.segment)) {
      return this.#readLater(request, limitOffset)
    }
    try {
      return this.#answer(request, start, { position: limit, isExact: true }, limitOffset)
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

  /** The end of a segment is the beginning of the next, unless batches are missing between them. */
  #inNextSegment(place: LogPosition): LogPosition | undefined {
    if (place.position < place.segment.sizeBytes) return place
    const next = this.#segments.after(place.segment)
    if (next === undefined) return place
    return next.baseOffset === place.offset ? { offset: place.offset, segment: next, position: 0 } : undefined
  }

  #answer(request: ReadRequest, start: LogPosition, limit: Limit, limitOffset: number): ReadResult {
    const { segment, position } = start
    assert(position < limit.position, 'a read begins below its limit')
    const end = Math.min(limit.position, segment.verified.endOfCover(position))
    const length = this.#lengthOf(request, start, end - position)
    const abortedTransactions = this.#aborted(request, segment, position + length, limitOffset)
    if (length === 0) return { type: 'read', parts: [], byteLength: 0, abortedTransactions }
    if (limit.isExact && position + length === limit.position)
      this.#hints.add({ offset: Math.min(limitOffset, segment.nextOffset), segment, position: limit.position })
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
        if (result === 'again') continue
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

  async #readFromDisk(request: ReadRequest, limitOffset: number): Promise<ReadResult | 'again'> {
    let segment = this.#segments.floor(request.offset)
    for (;;) {
      const result = await this.#readFromSegment(request, segment, limitOffset)
      if (result !== 'beyond') return result
      // The last batches of a segment are missing: the cleaner has removed them, or they are lost.
      const next = this.#segments.after(segment)
      if (next === undefined || request.offset >= segment.home.gapsBelow) {
        return this.#damaged(segment, segment.sizeBytes, request.offset, 'the file ends before this offset')
      }
      segment = next
    }
  }

  async #readFromSegment(
    request: ReadRequest,
    segment: Segment,
    limitOffset: number,
  ): Promise<ReadResult | 'beyond' | 'again'> {
    await loadIndexes(this.#context, this.#segments, segment)
    await this.#loadAborted(request, segment)
    const file = this.#file(segment)
    file.retain()
    try {
      if (!(await confirmEntry(file, segment, request.offset))) {
        segment.indexes = await rebuildIndexes(this.#context, this.#segments, segment)
        return 'again'
      }
      const from = indexedPosition(segment, request.offset)
      const known = segment.verified.endOfCover(from)
      const unread = { isFound: true, position: from, expectedOffset: from === 0 ? segment.baseOffset : undefined }
      const start = known > from ? await locate(file, from, request.offset, known) : unread
      if (!start.isFound) return this.#damaged(segment, start.position, request.offset, 'there is no batch here')
      if (start.position >= known) return await this.#readCold(request, segment, file, start, limitOffset)
      const limit = await this.#findLimit(segment, file, from, limitOffset)
      if (start.position >= limit.position) return nothing(request)
      return this.#answer(request, { offset: request.offset, segment, position: start.position }, limit, limitOffset)
    } finally {
      file.release()
    }
  }

  /** Where a read that begins in the checked bytes at `from` has to end: with those bytes at the latest. */
  async #findLimit(segment: Segment, file: DiskFile, from: number, limitOffset: number): Promise<Limit> {
    const written = this.#writtenEnd(segment)
    const end = Math.min(segment.verified.endOfCover(from), written)
    if (limitOffset >= segment.nextOffset) return { position: end, isExact: end === segment.sizeBytes }
    const { position } = await locate(file, from, limitOffset, end)
    return { position, isExact: position < end }
  }

  /** Bytes beyond it are still being written. */
  #writtenEnd(segment: Segment): number {
    const { written } = this.#state
    return segment === written.segment ? written.position : segment.sizeBytes
  }

  /**
   * The first read of bytes that this process has not checked: they come through the pool, every whole batch is checked, and
   * only whole ones are handed out. It begins at a batch that is not after the one asked for; where what comes before it is
   * known, so is its offset.
   */
  async #readCold(
    request: ReadRequest,
    segment: Segment,
    file: DiskFile,
    { position: from, expectedOffset }: { position: number; expectedOffset: number | undefined },
    limitOffset: number,
  ): Promise<ReadResult | 'beyond'> {
    let position = from
    let wanted = coldReadBytes
    const { isContiguous, ...first } = segment.placeOfFirst()
    // The read may begin at any batch of the segment; after that one it is known what follows.
    const isKnown = expectedOffset !== undefined
    let place = {
      ...first,
      to: segment.nextOffset,
      from: expectedOffset ?? first.from,
      isContiguous: isContiguous && isKnown,
    }
    for (;;) {
      const end = this.#writtenEnd(segment)
      if (position >= end) return 'beyond'
      const bytes = await file.read(position, Math.min(wanted, end - position))
      const walk = walkCold(bytes, place, request, { limitOffset, isContiguous })
      segment.verified.add(position, position + walk.checked)
      if (walk.length > 0) return this.#handOut(request, segment, bytes, position, walk, limitOffset)
      if (walk.isOver) return nothing(request)
      place = walk.place
      const problem =
        walk.problem ?? (bytes.length < Math.min(wanted, end - position) ? 'the file is cut off' : undefined)
      const isCutOff = walk.checked === 0 && walk.needed > end - position
      if (problem !== undefined || isCutOff) {
        const at = position + walk.checked
        const next = await this.#afterDamage(segment, file, at, request.offset)
        if (next === undefined) return this.#damaged(segment, at, request.offset, problem ?? 'the batch is cut off')
        position = next
        place = { ...place, from: segment.baseOffset, isContiguous: false }
        continue
      }
      position += walk.checked
      wanted = Math.max(coldReadBytes, walk.needed)
    }
  }

  #handOut(
    request: ReadRequest,
    segment: Segment,
    bytes: Buffer,
    position: number,
    { start, length, nextOffset }: ColdWalk,
    limitOffset: number,
  ): ReadResult {
    const end = position + start + length
    this.#hints.add({ offset: nextOffset, segment, position: end })
    const abortedTransactions = this.#aborted(request, segment, end, limitOffset)
    return { type: 'read', parts: [bytes.subarray(start, start + length)], byteLength: length, abortedTransactions }
  }

  /** The position of the first batch after damage, if it is known and does not begin above the offset. */
  async #afterDamage(segment: Segment, file: DiskFile, position: number, offset: number): Promise<number | undefined> {
    const next = segment.verified.nextBeginning(position)
    if (next >= this.#writtenEnd(segment)) return undefined
    const header = await file.read(next, batchHeaderBytes)
    return header.length === batchHeaderBytes && readBaseOffset(header, 0) <= offset ? next : undefined
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

interface ColdWalk {
  /** Bytes of whole and valid batches. */
  readonly checked: number
  /** Where in the bytes the answer begins, and its length. */
  readonly start: number
  readonly length: number
  /** The offset after the answer. */
  readonly nextOffset: number
  /** Bytes of the first batch that was not whole. */
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
  request: ReadRequest,
  { limitOffset, isContiguous }: { limitOffset: number; isContiguous: boolean },
): ColdWalk {
  const walk = { checked: 0, start: 0, length: 0, nextOffset: 0, needed: 0, place: first, isOver: false }
  const { maxBytes, minOneBatch } = request
  while (!walk.isOver) {
    const at = walk.checked
    const size = batchSizeAt(bytes, at)
    if (size === truncated) {
      const needed = bytes.length - at >= batchPrefixBytes ? readBatchSize(bytes, at) : batchHeaderBytes
      return { ...walk, needed, problem: undefined }
    }
    const problem = size === corrupt ? 'there is no batch here' : findBatchProblem(bytes, at, size, walk.place)
    if (problem !== undefined) return { ...walk, problem }
    const lastOffset = storedLastOffset(bytes, at)
    walk.isOver = lastOffset >= limitOffset
    walk.checked += size
    walk.place = { ...placeAfter(bytes, at, walk.place), isContiguous }
    if (walk.isOver || lastOffset < request.offset) continue
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
