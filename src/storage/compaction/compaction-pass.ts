import { assert } from '../../base/assert.ts'
import type { AbortedTransactionEntry } from '../../core/log/transaction-index.ts'
import type { Compute } from '../../io/compute.ts'
import { DiskError, expectDiskError } from '../../io/disk.ts'
import {
  encodeActiveProducers,
  type FailedJob,
  type FilterBatchesResult,
  type IndexKeysResult,
  type OffsetRange,
  unpacksTooFar,
} from '../../records/compaction/contract.ts'
import {
  clearOffsetMap,
  offsetMapBytes,
  offsetMapEntryBytes,
  offsetMapUsage,
} from '../../records/compaction/offset-map.ts'
import type { OffsetMapMemory } from '../../records/compaction/offset-map-memory.ts'
import { noTransactions, type TransactionState, withAborted } from '../../records/compaction/transaction-state.ts'
import type { LogFlusher } from '../log-flusher.ts'
import type { LogReader } from '../log-reader.ts'
import type { LogState } from '../log-state.ts'
import type { Segment } from '../segment.ts'
import { loadIndexes } from '../segment-indexes.ts'
import { type Chunk, ChunkReader, wholeMemory } from './chunk-reader.ts'
import { CompactedSegment } from './compacted-segment.ts'
import type { IoThrottle } from './io-throttle.ts'
import type { Interruption, PassEnd, PassResult } from './pass-end.ts'
import { SegmentSwap } from './segment-swap.ts'

/** What the passes of a broker share, and their bounds. */
export interface CompactionTools {
  readonly compute: Compute
  /** Where the memory of a pass's map comes from, and goes back to. */
  readonly maps: OffsetMapMemory
  readonly throttle: IoThrottle
  /** `log.cleaner.io.buffer.size`: bytes that are read at once, unless a batch is larger. */
  readonly ioBufferBytes: number
  /** The part of `log.cleaner.dedupe.buffer.size` that one pass has. */
  readonly mapBytes: number
  /** `log.cleaner.io.buffer.load.factor`. */
  readonly loadFactor: number
  readonly maxUncompressedBytes: number
  /** What a segment may hold: positions in its index are not larger. */
  readonly maxSegmentBytes: number
}

/** The log of a pass, and what works on it. */
export interface CompactedLogParts {
  readonly state: LogState
  readonly reader: LogReader
  readonly flusher: LogFlusher
}

/** What a pass is to do. */
export interface CompactionRange {
  readonly firstDirtyOffset: number
  /** The base of a segment: records from here on stay as they are. */
  readonly firstUncleanableOffset: number
  /** Segments that follow one another become one. */
  readonly groupsOf: (segments: readonly Segment[]) => readonly (readonly Segment[])[]
  /** No group is larger, as far as is known without asking the disk. */
  readonly largestGroupBytes: number
}

/** Room that must be left beside a new segment. */
const spareBytes = 16 * 1024 * 1024

/**
 * One pass over one log: the keys of its dirty part go into a map of bounded size, then every segment is written anew
 * without the records that have a later one of their key. Between any two chunks it may be stopped.
 */
export class CompactionPass {
  readonly #state: LogState
  readonly #reader: LogReader
  readonly #flusher: LogFlusher
  readonly #tools: CompactionTools
  readonly #range: CompactionRange
  readonly #chunks: ChunkReader
  readonly #startMs: number
  #map: SharedArrayBuffer
  #output: Buffer | undefined
  #mapEndOffset: number
  #transactions: TransactionState = noTransactions()
  #stopReason: string | undefined
  #wake: (() => void) | undefined
  readonly #sums = {
    indexedBytes: 0,
    filteredBytes: 0,
    writtenBytes: 0,
    readRecords: 0,
    keptRecords: 0,
    keylessRecords: 0,
  }

  constructor(log: CompactedLogParts, tools: CompactionTools, range: CompactionRange) {
    const { state, reader, flusher } = log
    this.#state = state
    this.#reader = reader
    this.#flusher = flusher
    this.#tools = tools
    this.#range = range
    this.#chunks = new ChunkReader(state)
    this.#startMs = state.context.clock.now().monotonicMs
    this.#mapEndOffset = range.firstDirtyOffset
    this.#map = this.#makeMap()
  }

  stop(reason: string): void {
    this.#stopReason ??= reason
    this.#wake?.()
  }

  /** Rejects with `DiskError`. */
  async run(): Promise<PassEnd> {
    try {
      return (await this.#findRoom()) ?? (await this.#index()) ?? (await this.#filter()) ?? (await this.#finish())
    } finally {
      this.#tools.maps.giveBack(this.#map)
    }
  }

  #makeMap(): SharedArrayBuffer {
    const { random } = this.#state.context
    const { mapBytes: maxBytes, loadFactor } = this.#tools
    const maxKeys = this.#range.firstUncleanableOffset - this.#range.firstDirtyOffset
    const bytes = offsetMapBytes({ maxBytes, loadFactor, maxKeys })
    const mostBytes = offsetMapBytes({ maxBytes, loadFactor, maxKeys: Number.POSITIVE_INFINITY })
    const word = () => random.bytes(4).readInt32LE(0)
    const map = this.#tools.maps.take(bytes, mostBytes)
    clearOffsetMap(map, { bytes, loadFactor, seed: [word(), word(), word(), word()] })
    return map
  }

  /** Before there is any work to do in vain. */
  #findRoom(): Promise<Interruption | undefined> {
    return this.#noRoomFor(this.#range.largestGroupBytes)
  }

  async #noRoomFor(sizeBytes: number): Promise<Interruption | undefined> {
    const neededBytes = sizeBytes + spareBytes
    const freeBytes = await this.#state.context.disk.freeBytes(this.#state.home.path)
    return freeBytes < neededBytes ? { type: 'noRoom', neededBytes } : undefined
  }

  async #index(): Promise<Interruption | undefined> {
    const { firstDirtyOffset, firstUncleanableOffset } = this.#range
    const dirty = this.#segmentsBelow(firstUncleanableOffset).filter(one => one.nextOffset > firstDirtyOffset)
    this.#transactions = noTransactions(await this.#abortedIn(firstDirtyOffset, firstUncleanableOffset))
    for (const segment of dirty) {
      const indexed = await this.#indexSegment(segment).catch(error => {
        // Retention has taken it.
        if (!(error instanceof DiskError) || !segment.isGone) throw error
        return undefined
      })
      if (indexed === 'full') return undefined
      if (indexed !== undefined) return indexed
      // Also where its last offsets have no batch.
      this.#mapEndOffset = Math.max(this.#mapEndOffset, segment.nextOffset)
    }
    return undefined
  }

  async #indexSegment(segment: Segment): Promise<Interruption | 'full' | undefined> {
    const { compute, maxUncompressedBytes } = this.#tools
    const { firstDirtyOffset: fromOffset } = this.#range
    let isFull = false
    const interruption = await this.#eachChunk(segment, async ({ batches, followingBytes, offsets }) => {
      const result = await compute.indexKeys({
        type: 'indexKeys',
        map: this.#map,
        batches,
        followingBytes,
        offsets,
        transactions: this.#transactions,
        maxUncompressedBytes,
        fromOffset,
        mapEndOffset: this.#mapEndOffset,
      })
      if (result.type !== 'done') return result
      this.#sums.indexedBytes += result.consumedBytes
      this.#transactions = result.transactions
      this.#mapEndOffset = result.mapEndOffset
      isFull = result.isFull
      return isFull ? 'enough' : result
    })
    return interruption ?? (isFull ? 'full' : undefined)
  }

  async #filter(): Promise<Interruption | undefined> {
    this.#transactions = noTransactions()
    const activeProducers = this.#activeProducers()
    // What the pass takes away because of a later batch or marker is gone for good: no power cut may take that.
    await this.#flusher.flush()
    const legacyHorizonMs = this.#legacyHorizonMs()
    const how = { activeProducers, legacyHorizonMs, setsNoHorizons: false }
    for (const group of this.#range.groupsOf(this.#segmentsBelow(this.#mapEndOffset))) {
      const interruption = await this.#compactGroup(group, how)
      if (interruption !== undefined) return interruption
    }
    return undefined
  }

  async #finish(): Promise<PassResult> {
    const state = this.#state
    const reason = this.#whyStopped()
    if (reason !== undefined) return { type: 'stopped', reason }
    state.cleanedOffset = this.#mapEndOffset
    await state.directory.saveCleanedOffsets()
    const { entries } = offsetMapUsage(this.#map)
    const durationMs = state.context.clock.now().monotonicMs - this.#startMs
    const mapUtilization = (entries * offsetMapEntryBytes) / this.#tools.mapBytes
    return { type: 'compacted', stats: { endOffset: this.#mapEndOffset, ...this.#sums, mapUtilization, durationMs } }
  }

  /**
   * Retention may take the first segments of a group meanwhile: then the others are done anew. Delete horizons, and a codec of
   * another library, may make of a large group more than a segment holds: then its segments stay apart.
   */
  async #compactGroup(group: readonly Segment[], how: FilterOptions): Promise<Interruption | undefined> {
    const transactions = this.#transactions
    for (;;) {
      const segments = group.filter(segment => !segment.isGone)
      if (segments.length === 0) return undefined
      const done = await this.#compactSegments(segments, how)
      if (done !== 'again' && done !== 'tooLarge') return done
      this.#transactions = transactions
      if (done === 'again') continue
      const [segment, ...others] = segments
      if (others.length === 0) return await this.#compactTooLarge(segment, how)
      for (const one of segments) {
        const interruption = await this.#compactGroup([one], how)
        if (interruption !== undefined) return interruption
      }
      return undefined
    }
  }

  /** What horizons would make larger than a segment may be gets none in this pass, so its tombstones stay longer. */
  async #compactTooLarge(segment: Segment, how: FilterOptions): Promise<Interruption | undefined> {
    if (!how.setsNoHorizons) return await this.#compactGroup([segment], { ...how, setsNoHorizons: true })
    const reason = 'what is left of it is larger than a segment can be'
    return { type: 'uncleanable', obstacle: { type: 'largeSegment' }, path: segment.filePath, position: 0, reason }
  }

  async #compactSegments(
    segments: readonly Segment[],
    how: FilterOptions,
  ): Promise<Interruption | 'again' | 'tooLarge' | undefined> {
    const noRoom = await this.#noRoomFor(bytesOf(segments))
    if (noRoom !== undefined) return noRoom
    const reason = this.#whyStopped()
    if (reason !== undefined) return { type: 'stopped', reason }
    const made = new CompactedSegment(this.#state, segments[0].baseOffset, segments[0].createdWallMs)
    // Not of the whole pass, which may take hours: a reader sees what a tombstone has replaced until the segments that had it go.
    const { wallMs } = this.#state.context.clock.now()
    let isTaken = false
    try {
      let lastUsed = 0
      for (const [index, segment] of segments.entries()) {
        const before = made.sizeBytes
        const interruption = await this.#filterSegment(segment, made, { ...how, wallMs })
        if (interruption === 'tooLarge') return interruption
        if (interruption !== undefined) return this.#unlessGone(segments, interruption)
        if (made.sizeBytes > before) lastUsed = index
      }
      const replaced = segments.slice(0, lastUsed + 1)
      const modifiedWallMs = Math.max(...replaced.map(one => this.#modifiedWallMs(one)))
      await made.finish({ nextOffset: replaced[lastUsed].nextOffset, modifiedWallMs })
      const swapped = await this.#state.changes.run(() => this.#swap(made, replaced, segments.slice(lastUsed + 1)))
      isTaken = swapped === undefined
      return swapped
    } catch (error) {
      expectDiskError(error)
      if (segments.some(segment => segment.isGone)) return 'again'
      if (error.code === 'noSpace') return { type: 'noRoom', neededBytes: bytesOf(segments) + spareBytes }
      throw error
    } finally {
      if (!isTaken) await made.discard()
    }
  }

  /** What was read of a segment that is gone says nothing. */
  #unlessGone(segments: readonly Segment[], interruption: Interruption): Interruption | 'again' {
    return segments.some(segment => segment.isGone) && this.#whyStopped() === undefined ? 'again' : interruption
  }

  async #swap(
    made: CompactedSegment,
    replaced: readonly Segment[],
    emptied: readonly Segment[],
  ): Promise<Interruption | 'again' | undefined> {
    const reason = this.#whyStopped()
    if (reason !== undefined) return { type: 'stopped', reason }
    if ([...replaced, ...emptied].some(segment => segment.isGone)) return 'again'
    await new SegmentSwap(this.#state, this.#reader).run(made, replaced, emptied)
    return undefined
  }

  async #filterSegment(
    segment: Segment,
    made: CompactedSegment,
    { activeProducers, legacyHorizonMs, wallMs, setsNoHorizons }: SegmentOptions,
  ): Promise<Interruption | 'tooLarge' | undefined> {
    const { compute, maxUncompressedBytes, ioBufferBytes, maxSegmentBytes } = this.#tools
    const { deleteRetentionMs } = this.#state.config
    this.#transactions = withAborted(this.#transactions, await this.#abortedIn(segment.baseOffset, segment.nextOffset))
    const dropsLegacyTombstones = this.#modifiedWallMs(segment) <= legacyHorizonMs
    let isTooLarge = false
    const interruption = await this.#eachChunk(segment, async ({ batches, followingBytes, offsets }) => {
      const result = await compute.filterBatches({
        type: 'filterBatches',
        map: this.#map,
        batches,
        followingBytes,
        offsets,
        transactions: this.#transactions,
        maxUncompressedBytes,
        output: this.#output ?? Buffer.allocUnsafeSlow(Math.max(ioBufferBytes, 1)),
        mapEndOffset: this.#mapEndOffset,
        keptEndOffset: this.#keptEndOffset,
        activeProducers,
        wallMs,
        deleteRetentionMs,
        setsNoHorizons,
        dropsLegacyTombstones,
      })
      this.#output = undefined
      if (result.type !== 'done') return result
      this.#transactions = result.transactions
      const sums = this.#sums
      sums.filteredBytes += result.consumedBytes
      sums.writtenBytes += result.output.length
      sums.readRecords += result.readRecords
      sums.keptRecords += result.keptRecords
      sums.keylessRecords += result.keylessRecords
      isTooLarge = made.sizeBytes + result.output.length > maxSegmentBytes
      if (isTooLarge) return 'enough'
      await made.append(result.output, result.abortedTransactions)
      await this.#rest(result.output.length)
      this.#output = wholeMemory(result.output)
      return result
    })
    return isTooLarge ? 'tooLarge' : interruption
  }

  /** Shows the batches of a segment to a job, chunk after chunk. */
  async #eachChunk(
    segment: Segment,
    act: (
      chunk: Chunk & { readonly offsets: OffsetRange },
    ) => Promise<IndexKeysResult | FilterBatchesResult | 'enough'>,
  ): Promise<Interruption | undefined> {
    const { ioBufferBytes, maxUncompressedBytes } = this.#tools
    let position = 0
    let nextOffset = segment.baseOffset
    let wantedBytes = ioBufferBytes
    while (position < segment.sizeBytes) {
      const reason = this.#whyStopped()
      if (reason !== undefined) return { type: 'stopped', reason }
      const chunk = await this.#chunks.read(segment, position, wantedBytes)
      if (chunk === undefined) return this.#damaged(segment, position, 'the file is shorter than it was')
      const length = chunk.batches.length
      const result = await act({ ...chunk, offsets: { from: nextOffset, to: segment.nextOffset } })
      if (result === 'enough') return undefined
      if (result.type === 'failed') return this.#jobFailed(segment, position, result)
      this.#chunks.giveBack(result.batches)
      if (result.type === 'damaged') {
        const at = position + result.at
        return result.reason === unpacksTooFar
          ? this.#tooLarge(segment, at, result.reason)
          : this.#damaged(segment, at, result.reason)
      }
      position += result.consumedBytes
      nextOffset = result.nextOffset
      if (result.consumedBytes === 0) {
        assert(result.neededBytes > length, 'a chunk that is read again is longer')
        if (result.neededBytes > Math.max(this.#state.config.maxMessageBytes, maxUncompressedBytes))
          return this.#tooLarge(segment, position, `it has ${result.neededBytes} bytes`)
      }
      wantedBytes = Math.max(ioBufferBytes, result.neededBytes)
      await this.#rest(length)
    }
    return undefined
  }

  /** The thread that works may have been ended, as all else. */
  #jobFailed(segment: Segment, position: number, { reason }: FailedJob): Interruption {
    const stopped = this.#whyStopped()
    if (stopped !== undefined) return { type: 'stopped', reason: stopped }
    return { type: 'jobFailed', path: segment.filePath, position, reason }
  }

  /** Who cuts the log, or deletes it, makes its files shorter, too. */
  #damaged(segment: Segment, position: number, reason: string): Interruption {
    const stopped = this.#whyStopped()
    if (stopped !== undefined) return { type: 'stopped', reason: stopped }
    // What follows is checked anew before it is served as it lies there.
    if (!segment.isGone) segment.verified.truncate(position)
    return { type: 'uncleanable', obstacle: { type: 'damage' }, path: segment.filePath, position, reason }
  }

  #tooLarge(segment: Segment, position: number, reason: string): Interruption {
    return { type: 'uncleanable', obstacle: { type: 'largeBatch' }, path: segment.filePath, position, reason }
  }

  #whyStopped(): string | undefined {
    const { isAbandoned, isClosed, directory, config } = this.#state
    if (this.#stopReason !== undefined) return this.#stopReason
    if (isAbandoned) return 'the log is deleted'
    if (isClosed) return 'the log is closed'
    if (!directory.isWritable) return 'the log directory cannot be written'
    if (!config.isCompacted) return 'the log is not compacted any more'
    return undefined
  }

  async #rest(byteLength: number): Promise<void> {
    const rest = this.#tools.throttle.take(byteLength)
    if (rest === undefined) return
    this.#wake = rest.end
    if (this.#whyStopped() !== undefined) rest.end()
    await rest.over
    this.#wake = undefined
  }

  #segmentsBelow(endOffset: number): Segment[] {
    const { all, active } = this.#state.segments
    return all.filter(segment => segment.baseOffset < endOffset && segment !== active)
  }

  /** Transactions that aborted and may have records in these offsets; their markers may lie above. */
  async #abortedIn(fromOffset: number, endOffset: number): Promise<AbortedTransactionEntry[]> {
    const { context, segments } = this.#state
    const found: AbortedTransactionEntry[] = []
    for (const segment of segments.all.slice(segments.indexOf(segments.floor(fromOffset)))) {
      if (!segment.hasTransactionIndex) continue
      const { aborted } = await loadIndexes(context, segments, segment)
      for (const entry of aborted) {
        if (entry.lastOffset >= fromOffset && entry.firstOffset < endOffset) found.push(entry)
        if (entry.lastStableOffset >= endOffset) return found
      }
    }
    return found
  }

  /** An append that is in flight may yet fail: then the batch before it is the producer's last. */
  #activeProducers(): SharedArrayBuffer {
    const { producers, logEnd } = this.#state
    return encodeActiveProducers(
      [...producers.entries].map(([producerId, { producerEpoch, batches }]) => {
        const last = batches.findLast(batch => batch.lastOffset < logEnd.offset) ?? batches.at(-1)
        return { producerId, producerEpoch, lastDataOffset: last?.lastOffset ?? -1 }
      }),
    )
  }

  /**
   * Where the log ends with what is compacted, an empty batch says so: readers that are before it come to the end, and a log
   * whose last file is lost does not give out offsets twice. Where a batch follows, that one does, as in Kafka, if no power cut
   * can take it.
   */
  get #keptEndOffset(): number {
    const { firstUncleanableOffset } = this.#range
    const { highWatermark, flushedOffset } = this.#state
    return Math.min(highWatermark, flushedOffset) > firstUncleanableOffset ? -1 : firstUncleanableOffset
  }

  #legacyHorizonMs(): number {
    const last = this.#segmentsBelow(this.#range.firstDirtyOffset).at(-1)
    return last === undefined ? 0 : this.#modifiedWallMs(last) - this.#state.config.deleteRetentionMs
  }

  #modifiedWallMs(segment: Segment): number {
    return this.#state.context.disk.status(segment.filePath)?.modifiedWallMs ?? 0
  }
}

interface FilterOptions {
  readonly activeProducers: SharedArrayBuffer
  readonly legacyHorizonMs: number
  readonly setsNoHorizons: boolean
}

interface SegmentOptions extends FilterOptions {
  /** When its first batch was looked at: what gets a horizon in it gets the same. */
  readonly wallMs: number
}

function bytesOf(segments: readonly Segment[]): number {
  return segments.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
}
