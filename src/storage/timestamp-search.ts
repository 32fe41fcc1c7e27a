import { ErrorCode } from '../base/error-code.ts'
import type { ReadRefusal, TimestampAndOffset } from '../core/log/partition-log.ts'
import { DiskError } from '../io/disk.ts'
import { readBatchSize } from '../records/batch.ts'
import { readLegacyRecords } from '../records/legacy.ts'
import type { Record } from '../records/record.ts'
import { type Finding, findByTimestamp as findInBatch, findMaxTimestamp as findMaxInBatch } from '../records/search.ts'
import { type BatchVisitor, scanBatches } from './batch-scan.ts'
import type { SegmentIndexes } from './index-entries.ts'
import type { LogState } from './log-state.ts'
import type { Segment } from './segment.ts'
import { loadIndexes, rebuildIndexes } from './segment-indexes.ts'
import { indexedPosition } from './segment-locator.ts'
import { isLegacy, storedLastOffset, storedLeaderEpoch, storedMaxTimestamp } from './stored-batch.ts'

/** A refusal where bytes that could not be read stand where the answer may be. */
export type SearchResult = TimestampAndOffset | ReadRefusal | undefined

const maxUnpackedBytes = 128 * 1024 * 1024

/** The first record whose timestamp is not below this one, from the log start to the log end. */
export async function findByTimestamp(state: LogState, timestamp: bigint): Promise<SearchResult> {
  for (const segment of [...state.segments.all]) {
    if (segment.nextOffset <= state.logStartOffset) continue
    if ((await largestTimestamp(state, segment)) < timestamp) continue
    const indexes = await confirmedTimes(state, segment, timestamp)
    const entry = indexes.times.below(timestamp)
    const from = entry < 0 ? segment.baseOffset : segment.baseOffset + indexes.times.relativeOffsetAt(entry) + 1
    const query = { timestamp, startOffset: state.logStartOffset, maxBytes: maxUnpackedBytes }
    const found = await findIn(state, segment, Math.max(from, state.logStartOffset), (bytes, at) => {
      if (storedMaxTimestamp(bytes, at) < timestamp) return undefined
      if (!isLegacy(bytes, at)) return findInBatch(bytes, at, query)
      return findInLegacy(bytes, at, record => record.timestamp >= timestamp && record.offset >= query.startOffset)
    })
    if (found !== undefined) return found
  }
  return undefined
}

/**
 * The record with the largest timestamp, the earliest of several; where none has one, the first, with -1. As in Kafka, a record
 * below the log start counts as long as its segment is there.
 */
export async function findMaxTimestamp(state: LogState): Promise<SearchResult> {
  const candidates: { segment: Segment; timestamp: bigint }[] = []
  for (const segment of [...state.segments.all])
    candidates.push({ segment, timestamp: await largestTimestamp(state, segment) })
  candidates.sort((a, b) => (a.timestamp === b.timestamp ? 0 : a.timestamp > b.timestamp ? -1 : 1))
  const [{ segment, timestamp: wanted }] = candidates
  const found = await findIn(state, segment, segment.maxTimestampOffset, (bytes, at) => {
    return storedMaxTimestamp(bytes, at) === wanted ? findMaxIn(bytes, at) : undefined
  })
  return found ?? (await findLargestStored(state, candidates))
}

/**
 * The batch with the largest timestamp of all has no record that can be read: it is still being written, or compaction has
 * left it empty. Then all batches of the segments are looked at in which a larger one may be.
 */
async function findLargestStored(
  state: LogState,
  candidates: readonly { readonly segment: Segment; readonly timestamp: bigint }[],
): Promise<SearchResult> {
  let best: TimestampAndOffset | undefined
  for (const { segment, timestamp } of candidates) {
    if (best !== undefined && timestamp < best.timestamp) break
    let refusal: ReadRefusal | undefined
    const isDamaged = await scan(state, segment, segment.baseOffset, (bytes, at) => {
      if (storedLastOffset(bytes, at) < state.logStartOffset) return undefined
      if (best !== undefined && storedMaxTimestamp(bytes, at) < best.timestamp) return undefined
      const found = findMaxIn(bytes, at)
      if (found === undefined) return undefined
      if (found.type !== 'found') {
        refusal = { type: 'refused', errorCode: ErrorCode.corruptMessage }
        return 'stop'
      }
      const { timestamp: foundTimestamp, offset } = found
      const isBetter = best === undefined || foundTimestamp > best.timestamp
      if (isBetter || (foundTimestamp === best?.timestamp && offset < best.offset))
        best = { timestamp: foundTimestamp, offset, leaderEpoch: storedLeaderEpoch(bytes, at) }
      return undefined
    })
    if (refusal !== undefined) return refusal
    if (isDamaged) return { type: 'refused', errorCode: ErrorCode.corruptMessage }
  }
  return best
}

function findMaxIn(bytes: Buffer, at: number): Finding {
  if (!isLegacy(bytes, at)) return findMaxInBatch(bytes, at, maxUnpackedBytes)
  const wanted = storedMaxTimestamp(bytes, at)
  return findInLegacy(bytes, at, record => record.timestamp === wanted)
}

function findInLegacy(bytes: Buffer, at: number, isWanted: (record: Record) => boolean): Finding {
  const records = readLegacyRecords(bytes, at, readBatchSize(bytes, at), maxUnpackedBytes)
  if ('type' in records) return records
  const record = records.find(isWanted)
  return record && { type: 'found', offset: record.offset, timestamp: record.timestamp }
}

/**
 * -1 when no record of the segment has a timestamp. What the time index says of it is compared with a batch: a flipped bit there
 * would have retention take records too early. Rejects with `DiskError`, also where the segment was cut, or replaced, meanwhile.
 */
export async function largestTimestamp(state: LogState, segment: Segment): Promise<bigint> {
  if (segment.largestTimestamp === undefined) {
    const { context, segments } = state
    const { times } = await loadIndexes(context, segments, segment)
    const last = times.length - 1
    const confirmed = last < 0 ? undefined : await confirmedTimes(state, segment, times.timestampAt(last) + 1n)
    segment.noteLargestTimestamp(confirmed?.times ?? times)
  }
  return segment.maxTimestamp as bigint
}

/**
 * The segment's indexes, where the entry at which a search for this timestamp begins is true: it is compared with the batch
 * that it names, unless this process has made the index itself.
 */
async function confirmedTimes(state: LogState, segment: Segment, timestamp: bigint): Promise<SegmentIndexes> {
  const { context, segments } = state
  const indexes = await loadIndexes(context, segments, segment)
  const entry = indexes.times.below(timestamp)
  if (indexes.isTrusted || entry < 0) return indexes
  const offset = segment.baseOffset + indexes.times.relativeOffsetAt(entry)
  let isTrue = false
  await scan(state, segment, offset, (bytes, at) => {
    if (storedLastOffset(bytes, at) < offset) return undefined
    isTrue =
      storedLastOffset(bytes, at) === offset && storedMaxTimestamp(bytes, at) === indexes.times.timestampAt(entry)
    return 'stop'
  })
  return isTrue ? indexes : rebuildIndexes(context, segments, segment)
}

/** What `find` finds first in the batches that reach `offset` or more. */
async function findIn(
  state: LogState,
  segment: Segment,
  offset: number,
  find: (bytes: Buffer, at: number) => Finding,
): Promise<SearchResult> {
  let result: SearchResult
  const problem = await scan(state, segment, offset, (bytes, at) => {
    if (storedLastOffset(bytes, at) < offset) return undefined
    const found = find(bytes, at)
    if (found === undefined) return undefined
    result =
      found.type === 'found'
        ? { timestamp: found.timestamp, offset: found.offset, leaderEpoch: storedLeaderEpoch(bytes, at) }
        : { type: 'refused', errorCode: ErrorCode.corruptMessage }
    return 'stop'
  })
  return result ?? (problem ? { type: 'refused', errorCode: ErrorCode.corruptMessage } : undefined)
}

/**
 * Shows the batches of a segment from an index entry at or before the offset on. Answers whether damage ended it. Rejects with
 * `DiskError`, also where it was the segment that was cut, or replaced, meanwhile.
 */
async function scan(state: LogState, segment: Segment, offset: number, visit: BatchVisitor): Promise<boolean> {
  const { context, logEnd } = state
  const { cuts } = segment
  // Batches of later segments are being written, if there are any.
  const end = segment === logEnd.segment ? logEnd.position : segment.writtenBytes
  if (end === 0) return false
  await loadIndexes(context, state.segments, segment)
  const position = Math.min(indexedPosition(segment, offset), end)
  const file = context.openFiles.use(segment)
  file.retain()
  try {
    const place = { ...segment.placeOfFirst(), isAfterKnown: position === 0 }
    const scanned = await scanBatches(file, { position, end, place }, (bytes, at, where, size) => {
      segment.verified.add(where, where + size)
      return visit(bytes, at, where, size)
    })
    if (scanned.problem === undefined) return false
    if (segment.isGone || cuts !== segment.cuts) throw new DiskError('notFound', 'read', segment.filePath)
    const { problem: reason } = scanned
    state.damageFound({
      path: segment.filePath,
      position: scanned.position,
      length: undefined,
      offset: scanned.place.from,
      reason,
    })
    return true
  } finally {
    file.release()
  }
}
