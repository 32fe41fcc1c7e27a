import { type SegmentFileKind, segmentFileName } from '../core/log/file-names.ts'
import type { EpochStart, LeaderEpochs } from '../core/log/leader-epochs.ts'
import { encodeProducerSnapshot } from '../core/log/producer-snapshot.ts'
import { ProducerStates } from '../core/log/producer-states.ts'
import { readBaseOffset, readLastOffset, readPartitionLeaderEpoch } from '../records/batch.ts'
import type { LoadRequest } from './log-loader.ts'
import { isEndLost } from './lost-end.ts'
import { unstableStatesBefore } from './producer-recovery.ts'
import type { Segment } from './segment.ts'
import type { SegmentList } from './segment-list.ts'
import { type DamagedRange, findNextBatch, readSegment } from './segment-scan.ts'
import type { StorageContext } from './storage-context.ts'

export interface RecoveringLog {
  readonly segments: SegmentList
  readonly producers: ProducerStates
  readonly epochs: LeaderEpochs
}

/**
 * Reads the segments that may not be on the disk as they were written, from the one that holds the recovery point on, and
 * derives from them where the log ends, its producers, epochs and indexes. A torn tail is cut off. Running it again, after a
 * crash at any point of it, gives the same.
 */
export async function recoverLog(
  context: StorageContext,
  request: LoadRequest,
  log: RecoveringLog,
  areEpochsKnown: boolean,
): Promise<void> {
  const { segments, producers, epochs } = log
  // Epochs are known from the batches only, when their file is lost: then all of them are read.
  // What lies below the log start is not looked at in either case: a hole there takes nothing with it.
  const from = areEpochsKnown ? Math.max(request.recoveryPoint, request.logStartOffset) : request.logStartOffset
  const first = firstUnfinished(context, segments, from)
  const highWatermark = Math.max(request.highWatermark, request.logStartOffset)
  producers.adopt(await unstableStatesBefore(context, segments, first, highWatermark))
  epochs.truncateFromEnd(first.baseOffset)
  let endOffset = first.baseOffset
  for (const segment of segments.all.slice(segments.indexOf(first))) {
    if (segment !== first) segment.snapshotBefore = encodeProducerSnapshot(producers.entries)
    const statesBefore = new ProducerStates()
    statesBefore.adopt(producers)
    const resetProducers = () => producers.adopt(statesBefore)
    const recovered = await recoverSegment(context, request, log, segment, { endOffset, resetProducers })
    request.progress(segment.sizeBytes)
    if (recovered.isLast) break
    endOffset = recovered.endOffset
  }
  const { active } = segments
  if (active.nextOffset < request.recoveryPoint) {
    const reason = `the log ends at offset ${active.nextOffset}, but was synced up to ${request.recoveryPoint}`
    request.damageFound({
      path: active.filePath,
      position: active.sizeBytes,
      length: undefined,
      offset: active.nextOffset,
      reason,
    })
  }
}

/**
 * The segment that holds the offset. If it begins there, the one before may have been synced as the active one and then have
 * ended: its index files are complete only when the snapshot behind it is there, which is written last.
 */
function firstUnfinished(context: StorageContext, segments: SegmentList, from: number): Segment {
  const first = segments.floor(from)
  const before = segments.all[segments.indexOf(first) - 1]
  if (before === undefined || first.baseOffset !== from) return first
  return context.disk.status(first.pathOf('snapshot')) === undefined ? before : first
}

/** Answers whether the log ends in this segment, and where its last batch ends, or that of an earlier one. */
async function recoverSegment(
  context: StorageContext,
  request: LoadRequest,
  { segments, producers, epochs }: RecoveringLog,
  segment: Segment,
  before: { readonly endOffset: number; readonly resetProducers: () => void },
): Promise<{ isLast: boolean; endOffset: number }> {
  let { endOffset } = before
  const assignEpoch = (bytes: Buffer, at: number) => {
    const leaderEpoch = readPartitionLeaderEpoch(bytes, at)
    if (leaderEpoch < epochs.latestEpoch) dropFalseEpoch(request, segments, epochs, leaderEpoch)
    const startOffset = readBaseOffset(bytes, at)
    if (leaderEpoch > epochs.latestEpoch) assignLeftOut(segment, epochs, { leaderEpoch, startOffset }, endOffset)
    epochs.assign({ leaderEpoch, startOffset })
    endOffset = readLastOffset(bytes, at) + 1
  }
  const { read, damaged } = await readSegment(context, segment, producers, Number.POSITIVE_INFINITY, assignEpoch)
  const gap = await findGap(context, request, segments, segment, read)
  if (gap !== undefined) damaged.push(gap)
  segment.syncedBytes = 0
  const cut = await decide(context, request, segments, segment, damaged)
  if (cut === undefined) {
    const { nextOffset } = segment
    segment.adopt(read)
    // A sealed segment reaches to the next one, also when its last batches are damaged or have been cleaned.
    if (segment.isSealed) segment.nextOffset = nextOffset
    segment.isFinished = !segment.isSealed
    return { isLast: false, endOffset }
  }
  await removeSegments(context, segments.cutWithin(segment))
  before.resetProducers()
  epochs.truncateFromEnd(segment.baseOffset)
  endOffset = before.endOffset
  const { read: kept } = await readSegment(context, segment, producers, cut.offset, assignEpoch)
  await cutFile(context, segment, cut.position)
  segment.adopt(kept)
  segment.sizeBytes = cut.position
  segment.writtenBytes = cut.position
  return { isLast: true, endOffset }
}

/**
 * The first batches of an epoch, or all of them, may have been compacted away, here or in the log that this one was copied
 * from. Where epochs began is then known from their file only; it must not be lost, or a follower would keep what this log
 * never had. The batches before the first one of the epoch end at `endOffset`.
 */
function assignLeftOut({ home }: Segment, epochs: LeaderEpochs, first: EpochStart, endOffset: number): void {
  const latest = epochs.entries.at(-1)
  const from = Math.max(endOffset, latest?.startOffset ?? 0)
  for (const known of home.epochs?.entries ?? []) {
    const isBetween = known.startOffset < first.startOffset && known.startOffset >= from
    if (isBetween && known.leaderEpoch <= first.leaderEpoch) epochs.assign(known)
  }
}

/** The last batch of an earlier segment said an epoch that cannot be, since an older one goes on after it. */
function dropFalseEpoch(request: LoadRequest, segments: SegmentList, epochs: LeaderEpochs, leaderEpoch: number): void {
  const dropped = epochs.dropNewerThan(leaderEpoch)
  if (dropped === undefined) return
  const segment = segments.floor(dropped.startOffset)
  // It is looked at again when it is read, and then its epoch is known to be another.
  segment.verified.truncate(0)
  const reason = `the batch has leader epoch ${dropped.leaderEpoch}, but epoch ${leaderEpoch} goes on after it`
  request.damageFound({ path: segment.filePath, position: 0, length: undefined, offset: dropped.startOffset, reason })
}

/**
 * Batches that are missing between the end of a segment and the next one. Where both are synced they are not, unless the
 * indexes tell of them: compaction has removed them, or the leader that they were copied from had none. The snapshot behind a
 * segment is written once it is synced.
 */
async function findGap(
  { disk }: StorageContext,
  { isPageCacheKept }: LoadRequest,
  segments: SegmentList,
  segment: Segment,
  read: Segment,
): Promise<DamagedRange | undefined> {
  const next = segments.after(segment)
  if (next === undefined || read.nextOffset >= next.baseOffset) return undefined
  const { home, sizeBytes } = segment
  const mayBeUnsynced = !isPageCacheKept && disk.status(next.pathOf('snapshot')) === undefined
  const end = { offset: read.nextOffset, sizeBytes, to: next.baseOffset }
  if (!mayBeUnsynced && !home.isContiguous && !(await isEndLost(disk, segment, end))) return undefined
  const reason = `batches are missing before offset ${next.baseOffset}`
  return { position: sizeBytes, end: sizeBytes, offset: read.nextOffset, reason, nextOffset: undefined }
}

/**
 * Where the log is to be cut, if it is. Bytes after which no valid batch comes are a torn tail. Other damage stays where it
 * is and is told: except that after a power cut, what was not synced is only good up to the first damage.
 */
async function decide(
  context: StorageContext,
  request: LoadRequest,
  segments: SegmentList,
  segment: Segment,
  damaged: readonly DamagedRange[],
): Promise<DamagedRange | undefined> {
  for (const [index, range] of damaged.entries()) {
    const isFollowed =
      range.nextOffset !== undefined || index < damaged.length - 1 || (await hasBatchAfter(context, segments, segment))
    if (!isFollowed) {
      const { position, end, offset } = range
      context.faults.tailCut?.({ path: segment.filePath, position, length: end - position, offset })
      return range
    }
    const mayBeUnsynced = !request.isPageCacheKept && range.offset >= request.recoveryPoint
    const { position, end, offset, reason } = range
    const told = mayBeUnsynced ? `${reason}; it was not synced, so the log is cut here` : reason
    request.damageFound({ path: segment.filePath, position, length: end - position, offset, reason: told })
    if (mayBeUnsynced) return range
  }
  return undefined
}

async function hasBatchAfter(context: StorageContext, segments: SegmentList, segment: Segment): Promise<boolean> {
  for (const later of segments.all.slice(segments.indexOf(segment) + 1)) {
    const file = context.openFiles.use(later)
    if ((await findNextBatch(file, 0, later.sizeBytes, later.placeOfFirst())) !== undefined) return true
  }
  return false
}

const kinds: readonly SegmentFileKind[] = ['index', 'timeindex', 'txnindex', 'log']

/** The newest go first, so that a crash leaves a log that ends earlier, and the cut is decided again as now. */
export async function removeSegments(context: StorageContext, segments: readonly Segment[]): Promise<void> {
  for (const segment of segments.toReversed()) {
    context.openFiles.close(segment)
    for (const kind of kinds) await context.disk.remove(segment.pathOf(kind))
    await context.disk.remove(`${segment.home.path}/${segmentFileName(segment.baseOffset, 'snapshot')}`)
  }
  if (segments.length > 0) await context.disk.syncDirectory(segments[0].home.path)
}

async function cutFile(context: StorageContext, segment: Segment, sizeBytes: number): Promise<void> {
  context.openFiles.close(segment)
  segment.unseal()
  const file = context.openFiles.use(segment)
  file.truncate(sizeBytes)
  await file.sync()
}
