import { assert } from '../base/assert.ts'
import { ErrorCode } from '../base/error-code.ts'
import type { AbortedTransaction, LogRead, ReadRefusal, ReadRequest } from '../core/log/partition-log.ts'
import type { AbortedTransactionEntry } from '../core/log/transaction-index.ts'
import { DiskError, type DiskFile, type FileRange } from '../io/disk.ts'
import { batchPrefixBytes, readBatchSize } from '../records/batch.ts'
import { abortedTransactions, areAbortedInMemory, type LoadedAborted } from './aborted-transactions.ts'
import { coldReadBytes, readCold } from './cold-read.ts'
import type { LogState } from './log-state.ts'
import { isEndLost } from './lost-end.ts'
import type { PositionHints } from './position-hints.ts'
import type { Segment } from './segment.ts'
import { confirmEntry, loadIndexes, rebuildIndexes } from './segment-indexes.ts'
import type { LogPosition, SegmentList } from './segment-list.ts'
import { indexedPosition, locate, locateNow } from './segment-locator.ts'
import type { StorageContext } from './storage-context.ts'
import type { TailCache } from './tail-cache.ts'

export type ReadResult = LogRead<FileRange> | ReadRefusal

/** A request, the offset that its answer must not reach, and what has been read for it alone. */
interface Reading {
  readonly request: ReadRequest
  /** What the caller would take: one read may be bounded to less. */
  readonly maxBytes: number
  readonly limitOffset: number
  readonly aborted: LoadedAborted | undefined
  /** That of the segments when they were looked at: what is found is good for others only if it holds still. */
  readonly layout: number
  /** How often the segment had been cut. */
  readonly cuts: number
}

/** Where a read ends at the latest. */
interface Limit {
  readonly position: number
  /** The limit of the request lies exactly there; otherwise only what is known of the segment ends. */
  readonly isExact: boolean
}

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
    try {
      return this.#readNow(request, limitOffset) ?? this.#readLater(request, limitOffset)
    } catch (error) {
      return this.#failed(error)
    }
  }

  /** What is at or above the offset is gone, or some segments are. */
  forget(endOffset: number): void {
    this.tail?.truncate(endOffset)
    this.#hints.keepOnly(this.#segments, endOffset)
  }

  /** What lies below the offset lies elsewhere now, in a segment that has taken the place of others. */
  moved(endOffset: number): void {
    this.tail?.forgetBelow(endOffset)
    this.#hints.keepOnly(this.#segments, this.#state.nextOffset)
  }

  /** Undefined when the disk has to be asked. */
  #readNow(request: ReadRequest, limitOffset: number): ReadResult | undefined {
    const start = this.#findNow(request.offset)
    if (start === undefined) return undefined
    const { segment, position } = start
    const limit = this.#limitNow(segment, limitOffset)
    if (limit === undefined || position >= limit || !segment.verified.covers(position, position + 1)) return undefined
    if (request.isolation === 'lastStableOffset' && !areAbortedInMemory(this.#segments, segment)) return undefined
    if (!this.#isWarm(segment) && this.tail?.find(request.offset) === undefined) return undefined
    const { layout } = this.#segments
    const { cuts } = segment
    const reading = { request, maxBytes: request.maxBytes, limitOffset, aborted: undefined, layout, cuts }
    return this.#answer(reading, start, { position: limit, isExact: true })
  }

  /** Where the batch that holds the offset, or the first one after it, begins, if that needs no disk. */
  #findNow(offset: number): LogPosition | undefined {
    const hint = this.#hints.get(offset)
    if (hint !== undefined) return this.#inNextSegment(hint)
    const cached = this.tail?.find(offset)
    // The segment may begin with the batch, far behind the offset.
    const segment = this.#segments.floor(cached?.segmentBaseOffset ?? offset)
    const position = cached?.position ?? this.#locateWarm(segment, offset)
    return position === undefined ? undefined : { offset, segment, position }
  }

  /** Where the limit lies in the segment, as a position, if that needs no disk. */
  #limitNow(segment: Segment, limitOffset: number): number | undefined {
    if (segment !== this.#segments.active && limitOffset >= segment.nextOffset) return segment.sizeBytes
    const hint = this.#hints.get(limitOffset)
    if (hint !== undefined && hint.segment === segment) return hint.position
    if (limitOffset === segment.nextOffset) return segment.sizeBytes
    return this.tail?.find(limitOffset)?.position ?? this.#locateWarm(segment, limitOffset)
  }

  /** Looks for a batch in a file that the kernel has in memory: that takes microseconds, a visit to the pool a hundred. */
  #locateWarm(segment: Segment, offset: number): number | undefined {
    const { indexes } = segment
    if (indexes === undefined || !indexes.isTrusted) return undefined
    if (offset >= segment.nextOffset || !this.#isWarm(segment)) return undefined
    const from = indexedPosition(segment, offset)
    const end = Math.min(segment.verified.endOfCover(from), segment.writtenBytes)
    const found = locateNow(this.#file(segment), from, offset, end)
    return found.isFound && found.position < end ? found.position : undefined
  }

  /** The end of a segment is the beginning of the next, unless batches are missing between them. */
  #inNextSegment(place: LogPosition): LogPosition | undefined {
    if (place.position < place.segment.sizeBytes) return place
    const next = this.#segments.after(place.segment)
    if (next === undefined) return place
    return next.baseOffset === place.offset ? { offset: place.offset, segment: next, position: 0 } : undefined
  }

  #answer(reading: Reading, start: LogPosition, limit: Limit): LogRead<FileRange> {
    const { segment, position } = start
    assert(position < limit.position, 'a read begins below its limit')
    const end = Math.min(limit.position, segment.verified.endOfCover(position))
    const byteLength = this.#lengthOf(reading.request, start, end - position)
    const aborted = this.#aborted(reading, { segment, position: position + byteLength })
    if (byteLength === 0) return { type: 'read', parts: [], byteLength, abortedTransactions: aborted }
    const isAll = limit.isExact && position + byteLength === limit.position
    if (isAll) {
      const offset = Math.min(reading.limitOffset, segment.nextOffset)
      this.#hint(reading, { offset, segment, position: limit.position })
    }
    const isBehind = isReadOn(reading, { segment, isAll, byteLength })
    return {
      type: 'read',
      parts: this.#parts(reading.request, start, byteLength),
      byteLength,
      abortedTransactions: aborted,
      isBehind,
    }
  }

  /** While the disk was asked, the segment may have been cut, or compacted: who went on from there would find no batch, or no file. */
  #hint({ layout }: Reading, position: LogPosition): void {
    if (layout === this.#segments.layout) this.#hints.add(position)
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

  #parts({ sparesMemory }: ReadRequest, start: LogPosition, length: number): (Buffer | FileRange)[] {
    const { segment, position } = start
    const mayCopy = length < this.#context.limits.fileRangeFromBytes && sparesMemory !== true
    if (mayCopy || !this.#isWarm(segment)) {
      const cached = this.tail?.find(start.offset)
      const bytes = cached?.position === position ? this.tail?.read(cached, position + length) : undefined
      if (bytes !== undefined) return [bytes]
    }
    const file = this.#file(segment)
    file.retain()
    return [{ file, position, length }]
  }

  #file(segment: Segment): DiskFile {
    return this.#context.openFiles.use(segment)
  }

  #isWarm(segment: Segment): boolean {
    return this.#context.traffic.isWarm(segment)
  }

  async #readLater(request: ReadRequest, limitOffset: number): Promise<ReadResult> {
    try {
      for (let attempt = 0; attempt < maxRetries; attempt++) {
        const { layout } = this.#segments
        const found = await this.#readFromDisk(request, limitOffset).catch(error => {
          // The file was not found because compaction has put another in its place.
          if (!(error instanceof DiskError) || layout === this.#segments.layout) throw error
          if (request.offset < this.#segments.first.baseOffset) throw error
          return 'again' as const
        })
        if (found !== 'again') {
          const result = found.type === 'read' ? await this.#throughPool(found) : found
          if (layout === this.#segments.layout) return result
          // What was found may be gone, and another segment may hold the offset.
          if (result.type === 'read') releaseParts(result.parts)
        }
        if (request.offset < this.#segments.first.baseOffset) return refused(ErrorCode.offsetOutOfRange)
        if (request.offset >= Math.min(limitOffset, this.#segments.active.nextOffset)) return nothing(request)
      }
      return nothing(request)
    } catch (error) {
      const isGone = error instanceof DiskError && request.offset < this.#segments.first.baseOffset
      // The file was not found because retention has taken it.
      return isGone ? refused(ErrorCode.offsetOutOfRange) : this.#failed(error)
    }
  }

  /** Sending a range of a file that the kernel has to fetch from the disk first would stall everybody. */
  async #throughPool(found: LogRead<FileRange>): Promise<ReadResult> {
    const parts: (Buffer | FileRange)[] = []
    for (const part of found.parts) {
      const isCold =
        !Buffer.isBuffer(part) && !this.#segments.all.some(one => one.file === part.file && this.#isWarm(one))
      if (Buffer.isBuffer(part) || !isCold) parts.push(part)
      else {
        const bytes = await part.file.read(part.position, part.length).finally(() => part.file.release())
        if (bytes.length < part.length) return refused(ErrorCode.kafkaStorageError)
        parts.push(bytes)
      }
    }
    return { ...found, parts }
  }

  async #readFromDisk(request: ReadRequest, limitOffset: number): Promise<ReadResult | 'again'> {
    const { layout } = this.#segments
    let segment = this.#segments.floor(request.offset)
    for (;;) {
      const { cuts } = segment
      await loadIndexes(this.#context, this.#segments, segment)
      const aborted = await this.#loadAborted(request, segment)
      const reading = { request, maxBytes: request.maxBytes, limitOffset, aborted, layout, cuts }
      const result = await this.#readFromSegment(reading, segment)
      if (result !== 'beyond') return result
      // The last batches of a segment are missing: compaction has removed them, or they are lost.
      const next = this.#segments.after(segment)
      // The log was cut where offsets are left out, and nothing has been appended since.
      if (next === undefined && request.offset < segment.baseOffset) return { ...nothing(request), isGapToEnd: true }
      if (next === undefined || (await this.#isEndLost(segment, request.offset, next))) {
        return this.#damaged(reading, segment, segment.sizeBytes, 'the file ends before this offset')
      }
      segment = next
    }
  }

  async #isEndLost(segment: Segment, offset: number, { baseOffset: to }: Segment): Promise<boolean> {
    const { missingSegments } = this.#state
    const isNextMissing = missingSegments.some(missing => missing > segment.baseOffset && missing < to)
    if (segment.home.isContiguous || isNextMissing) return true
    return isEndLost(this.#context.disk, segment, { offset, sizeBytes: segment.sizeBytes, to })
  }

  async #readFromSegment(reading: Reading, segment: Segment): Promise<ReadResult | 'beyond' | 'again'> {
    // Its file is not there yet, and is not for a read to make.
    if (!segment.isOnDisk && segment.writtenBytes === 0) return 'beyond'
    const { offset } = reading.request
    const file = this.#file(segment)
    file.retain()
    try {
      if (!(await confirmEntry(file, segment, offset))) {
        await rebuildIndexes(this.#context, this.#segments, segment)
        return 'again'
      }
      const from = indexedPosition(segment, offset)
      // What is in flight is known to be good, and is not there yet.
      const known = Math.min(segment.verified.endOfCover(from), segment.writtenBytes)
      const unread = { isFound: true, position: from, expectedOffset: from === 0 ? segment.baseOffset : undefined }
      const start = known > from ? await locate(file, from, offset, known) : unread
      if (!start.isFound) return this.#damaged(reading, segment, start.position, 'there is no batch here')
      if (start.position >= known) return await this.#readCold(reading, segment, file, start)
      const limit = await this.#findLimit(segment, file, from, reading.limitOffset)
      if (start.position >= limit.position) return nothing(reading.request)
      if (!this.#areAbortedKnown(reading, segment)) return 'again'
      const request = this.#isWarm(segment) ? reading.request : boundedByPool(reading.request)
      return this.#answer({ ...reading, request }, { offset, segment, position: start.position }, limit)
    } finally {
      file.release()
    }
  }

  /** Where a read that begins in the checked bytes at `from` has to end: with those bytes at the latest. */
  async #findLimit(segment: Segment, file: DiskFile, from: number, limitOffset: number): Promise<Limit> {
    const end = Math.min(segment.verified.endOfCover(from), segment.writtenBytes)
    if (limitOffset >= segment.nextOffset) return { position: end, isExact: end === segment.sizeBytes }
    const { position } = await locate(file, from, limitOffset, end)
    return { position, isExact: position < end }
  }

  async #readCold(
    reading: Reading,
    segment: Segment,
    file: DiskFile,
    from: { position: number; expectedOffset: number | undefined },
  ): Promise<ReadResult | 'beyond' | 'again'> {
    const { request, limitOffset } = reading
    const read = await readCold({
      segment,
      file,
      request,
      limitOffset,
      from,
    })
    this.#context.traffic.add(segment, read.checkedBytes)
    if (read.type === 'beyond') return 'beyond'
    if (read.type === 'damaged') return this.#damaged(reading, segment, read.position, read.reason)
    if (read.bytes.length === 0) return nothing(request)
    if (!this.#areAbortedKnown(reading, segment)) return 'again'
    const end = read.position + read.bytes.length
    this.#hint(reading, { offset: read.nextOffset, segment, position: end })
    const aborted = this.#aborted(reading, { segment, position: end })
    const byteLength = read.bytes.length
    const isBehind = isReadOn(reading, { segment, isAll: read.nextOffset >= limitOffset, byteLength })
    return { type: 'read', parts: [read.bytes], byteLength, abortedTransactions: aborted, isBehind }
  }

  async #loadAborted({ isolation }: ReadRequest, from: Segment): Promise<LoadedAborted | undefined> {
    if (isolation !== 'lastStableOffset') return undefined
    const loaded = new Map<Segment, readonly AbortedTransactionEntry[]>()
    for (let segment: Segment | undefined = from; segment !== undefined; segment = this.#segments.after(segment)) {
      if (!segment.hasTransactionIndex) continue
      loaded.set(segment, (await loadIndexes(this.#context, this.#segments, segment)).aborted)
    }
    return loaded
  }

  #areAbortedKnown({ request, aborted }: Reading, from: Segment): boolean {
    return request.isolation !== 'lastStableOffset' || areAbortedInMemory(this.#segments, from, aborted)
  }

  #aborted(
    { request, limitOffset, aborted }: Reading,
    end: { segment: Segment; position: number },
  ): AbortedTransaction[] | undefined {
    if (request.isolation !== 'lastStableOffset') return undefined
    return abortedTransactions(this.#segments, request.offset, end, limitOffset, aborted)
  }

  /** A file that was cut, or has another segment in its place, meanwhile is no worse for it. */
  #damaged({ request, cuts }: Reading, segment: Segment, position: number, reason: string): ReadRefusal | 'again' {
    if (segment.isGone || cuts !== segment.cuts) return 'again'
    const { offset } = request
    this.#state.damageFound({ path: segment.filePath, position, length: undefined, offset, reason })
    return refused(ErrorCode.corruptMessage)
  }

  #failed(error: unknown): ReadRefusal {
    if (!(error instanceof DiskError)) throw error
    if (this.#state.isUsable) this.#state.directory.readFailed(error)
    return refused(ErrorCode.kafkaStorageError)
  }
}

/** Whether the next read goes on where this one ends. `isAll`: all that the segment has below the limit was read. */
function isReadOn(
  { maxBytes, limitOffset }: Reading,
  { segment, isAll, byteLength }: { readonly segment: Segment; readonly isAll: boolean; readonly byteLength: number },
): boolean {
  return limitOffset > segment.nextOffset || (!isAll && byteLength < maxBytes)
}

/** What goes through the pool is kept in memory until it is sent. */
function boundedByPool(request: ReadRequest): ReadRequest {
  return request.maxBytes <= coldReadBytes ? request : { ...request, maxBytes: coldReadBytes }
}

export function releaseParts(parts: readonly (Buffer | FileRange)[]): void {
  for (const part of parts) if (!Buffer.isBuffer(part)) part.file.release()
}

function refused(errorCode: ErrorCode): ReadRefusal {
  return { type: 'refused', errorCode }
}

function nothing({ isolation }: ReadRequest): LogRead<FileRange> {
  const aborted = isolation === 'lastStableOffset' ? [] : undefined
  return { type: 'read', parts: [], byteLength: 0, abortedTransactions: aborted }
}
