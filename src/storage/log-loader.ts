import { assert } from '../base/assert.ts'
import type { Uuid } from '../base/uuid.ts'
import {
  decodePartitionMetadata,
  encodePartitionMetadata,
  leaderEpochFileName,
  parseSegmentFileName,
  partitionMetadataFileName,
  segmentFileName,
} from '../core/log/file-names.ts'
import { LeaderEpochs } from '../core/log/leader-epochs.ts'
import type { LogConfig } from '../core/log/partition-log.ts'
import { ProducerStates } from '../core/log/producer-states.ts'
import { planSegments, type SegmentPlan } from '../core/log/segment-plan.ts'
import { type DirectoryEntry, type Disk, DiskError } from '../io/disk.ts'
import { scanBatches } from './batch-scan.ts'
import type { CleanEnd } from './clean-ends.ts'
import { EpochFile } from './epoch-file.ts'
import { SegmentIndexes } from './index-entries.ts'
import { type RecoveringLog, recoverLog, removeSegments } from './log-recovery.ts'
import type { LoadedLog } from './log-state.ts'
import { loadSnapshot, producerStatesBefore } from './producer-recovery.ts'
import { type LogHome, Segment } from './segment.ts'
import { loadIndexes } from './segment-indexes.ts'
import { SegmentList } from './segment-list.ts'
import { indexedPosition } from './segment-locator.ts'
import { scanSegment } from './segment-scan.ts'
import type { StorageContext } from './storage-context.ts'
import type { Damage } from './storage-faults.ts'
import { anyPlace } from './stored-batch.ts'

export interface LoadRequest {
  readonly topicId: Uuid
  readonly topic: string
  readonly partition: number
  /** The log's own directory. */
  readonly path: string
  readonly config: LogConfig
  /** The directory was shut down cleanly. */
  readonly isClean: boolean
  /** The process ended, but the machine went on: what it had written is in the files, synced or not. */
  readonly isPageCacheKept: boolean
  /** What the checkpoints say under this name is of an earlier log: the request has none of it. */
  readonly hasNamesake: boolean
  /** Of the checkpoints; 0 where they do not say. */
  readonly recoveryPoint: number
  readonly logStartOffset: number
  /** The checkpoints speak of the log. */
  readonly isNamed: boolean
  /** The checkpoint does say where the log starts. */
  readonly isLogStartKnown: boolean
  readonly highWatermark: number
  /** No offset is ever left out. */
  readonly isContiguous: boolean
  /** Below it the log was compacted, also if the topic is not compacted any more; undefined when it never was. */
  readonly cleanedOffset: number | undefined
  /** How a clean shutdown of Millrace left the log; undefined after one of Kafka. */
  readonly cleanEnd: CleanEnd | undefined
  /** Recovery found bytes that cannot be read. */
  readonly damageFound: (damage: Damage) => void
  /** Bytes that recovery has read. */
  readonly progress: (bytes: number) => void
}

/** The file has some fifty; blocks of anything may follow them, and then it is this partition that cannot be opened, and no other. */
export const maxPartitionMetadataBytes = 1024 * 1024
const maxEpochFileBytes = 16 * 1024 * 1024

/**
 * In the directory of a log whose name another one had before it: what the checkpoints say under that name is not of this log. It
 * is there before any other file of the log, and until checkpoints that know this log are durable.
 */
export const namesakeFileName = 'millrace-namesake'

/** Makes the directory of a new log. */
export function createLogFiles(
  { disk }: StorageContext,
  path: string,
  topicId: Uuid,
  { startOffset, hasNamesake }: { readonly startOffset: number; readonly hasNamesake: boolean },
): void {
  disk.makeDirectory(path)
  if (hasNamesake) disk.writeSmallFile(`${path}/${namesakeFileName}`, Buffer.alloc(0))
  writeTopicId({ disk }, path, topicId)
  disk.open(`${path}/${segmentFileName(startOffset, 'log')}`, 'append').release()
}

/** What a new log is, without looking at its files. */
export function newLog(
  context: StorageContext,
  {
    topicId,
    topic,
    partition,
    path,
    config,
    hasNamesake,
  }: Pick<LoadRequest, 'topicId' | 'topic' | 'partition' | 'path' | 'config' | 'hasNamesake'>,
): LoadedLog {
  const home: LogHome = homeOf(path, config, false)
  const { wallMs } = context.clock.now()
  const segment = new Segment(home, 0, { createdWallMs: wallMs, jitterMs: 0, isOnDisk: true })
  segment.indexes = new SegmentIndexes()
  return {
    topicId,
    topic,
    partition,
    home,
    config,
    segments: new SegmentList([segment]),
    producers: new ProducerStates(),
    epochFile: new EpochFile(context.disk, home, new LeaderEpochs(), { found: undefined, isSettled: false }),
    logStartOffset: 0,
    highWatermark: 0,
    recoveryPoint: 0,
    cleanedOffset: undefined,
    isSettled: false,
    isIdentified: false,
    hasNamesake,
    missingSegments: [],
    endSnapshot: undefined,
  }
}

function homeOf(path: string, { indexIntervalBytes }: LogConfig, isContiguous: boolean): LogHome {
  const requestFlush = () => undefined
  return { path, indexIntervalBytes, isContiguous, epochs: undefined, areEpochsComplete: false, requestFlush }
}

export function writeTopicId({ disk }: Pick<StorageContext, 'disk'>, path: string, topicId: Uuid): void {
  disk.writeSmallFile(`${path}/${partitionMetadataFileName}`, encodePartitionMetadata(topicId))
}

/** The topic id that a partition's directory says; undefined when it says none. Throws `DiskError`. */
export function readTopicId(context: StorageContext, path: string): Uuid | undefined {
  const bytes = context.disk.readSmallFile(`${path}/${partitionMetadataFileName}`, maxPartitionMetadataBytes)
  return bytes && decodePartitionMetadata(bytes)
}

/** Reads a log from its files. After a clean shutdown no batch is read. Rejects with `DiskError`. */
export async function loadLog(context: StorageContext, request: LoadRequest): Promise<LoadedLog> {
  const { path, config } = request
  const home: LogHome = homeOf(path, config, request.isContiguous)
  const plan = await completeOperations(context, path)
  const segments = listSegments(context, home, plan, request.logStartOffset)
  const producers = new ProducerStates()
  const epochs = readEpochs(context, segments, path)
  const found = epochs && LeaderEpochs.from(epochs.entries)
  home.epochs = found
  const isKnown =
    request.isClean && epochs !== undefined && (await findCleanEnd(context, segments, producers, plan, request))
  const log = { segments, producers, epochs: epochs ?? new LeaderEpochs() }
  if (!isKnown) await recoverLog(context, request, log, epochs !== undefined)
  else if (needsReplay(log, request)) await replayEnded(context, log, request.highWatermark)
  if (segments.active.nextOffset < request.logStartOffset) await beginAnew(context, home, log, request.logStartOffset)
  for (const segment of segments.all) context.openFiles.close(segment)
  tellMissingStart(segments, request)
  tellMissing(context, plan, request)
  await removeStraySnapshots(context, path, plan, segments, isKnown)
  const logEndOffset = segments.active.nextOffset
  const logStartOffset = Math.min(Math.max(request.logStartOffset, segments.first.baseOffset), logEndOffset)
  log.epochs.truncateFromStart(logStartOffset)
  const epochFile = new EpochFile(context.disk, home, log.epochs, { found, isSettled: isKnown })
  await forgetEpochsBeyond(epochFile, found, logEndOffset)
  return {
    topicId: request.topicId,
    topic: request.topic,
    partition: request.partition,
    home,
    config,
    segments,
    producers,
    epochFile,
    logStartOffset,
    highWatermark: Math.min(Math.max(request.highWatermark, logStartOffset), logEndOffset),
    recoveryPoint: isKnown ? logEndOffset : Math.min(request.recoveryPoint, logEndOffset),
    cleanedOffset: request.cleanedOffset === undefined ? undefined : Math.min(request.cleanedOffset, logEndOffset),
    isSettled: isKnown,
    isIdentified: isKnown || request.isNamed,
    hasNamesake: request.hasNamesake,
    missingSegments: plan.missing,
    endSnapshot: isKnown ? logEndOffset : undefined,
  }
}

/**
 * What earlier clean shutdowns have left in the middle of segments, before more was appended there. One at the end is of use
 * after a clean shutdown only.
 */
async function removeStraySnapshots(
  { disk }: StorageContext,
  path: string,
  { snapshots }: SegmentPlan,
  segments: SegmentList,
  isKnown: boolean,
): Promise<void> {
  const isUsed = (offset: number) =>
    segments.all.some(one => one.baseOffset === offset) || (isKnown && offset === segments.active.nextOffset)
  const strays = snapshots.filter(offset => !isUsed(offset))
  for (const offset of strays) await disk.remove(`${path}/${segmentFileName(offset, 'snapshot')}`)
  // One that came back with the power would be taken for that of a segment which begins there by then. A log that is recovered
  // has its directory synced before it may say so of any segment.
  if (strays.length > 0 && isKnown) await disk.syncDirectory(path)
}

/** The log start is saved before segments are removed, so what lies between was lost otherwise. */
function tellMissingStart({ first }: SegmentList, { isLogStartKnown, logStartOffset, damageFound }: LoadRequest): void {
  if (!isLogStartKnown || first.baseOffset <= logStartOffset) return
  const reason = `the segments from the log start, offset ${logStartOffset}, up to this one are missing`
  damageFound({ path: first.filePath, position: 0, length: undefined, offset: logStartOffset, reason })
}

/** Where a segment is gone from among others, but not its indexes, it was not compaction or retention that took it. */
function tellMissing({ faults }: StorageContext, { missing, lost }: SegmentPlan, request: LoadRequest): void {
  const { logStartOffset, damageFound } = request
  const pathOf = (offset: number) => `${request.path}/${segmentFileName(offset, 'log')}`
  for (const offset of missing) {
    if (offset < logStartOffset) continue
    damageFound({ path: pathOf(offset), position: 0, length: undefined, offset, reason: 'the segment is missing' })
  }
  for (const offset of lost) if (offset >= logStartOffset) faults.segmentLost?.({ path: pathOf(offset), offset })
}

/**
 * Markers between the high watermark and the log end still hold back the last stable offset; the snapshot at the log end
 * does not know of them.
 */
function needsReplay({ segments, producers }: RecoveringLog, { highWatermark }: LoadRequest): boolean {
  return highWatermark < segments.active.nextOffset && producers.knowsMarkers
}

async function replayEnded(
  context: StorageContext,
  { segments, producers }: RecoveringLog,
  from: number,
): Promise<void> {
  const first = segments.floor(from)
  const before = await producerStatesBefore(context, segments, first)
  producers.reset(before.entries)
  for (const segment of segments.all.slice(segments.indexOf(first))) {
    await scanSegment(context, segment, { position: 0, end: segment.sizeBytes }, (bytes, at) => {
      producers.append(bytes, at)
      producers.complete(Number.POSITIVE_INFINITY)
    })
  }
}

/** What is left ends below the log start, so all of it had been deleted, and now goes: it would look like a gap later. */
async function beginAnew(
  context: StorageContext,
  home: LogHome,
  { segments, producers, epochs }: RecoveringLog,
  offset: number,
): Promise<void> {
  const { wallMs } = context.clock.now()
  const segment = new Segment(home, offset, { createdWallMs: wallMs, jitterMs: 0, isOnDisk: false })
  segment.indexes = new SegmentIndexes()
  await removeSegments(context, segments.replaceAll(segment))
  producers.reset([])
  epochs.clear()
}

async function completeOperations(context: StorageContext, path: string): Promise<SegmentPlan> {
  const { disk } = context
  const entries = disk.list(path)
  refuseDirectories(path, entries)
  const names = entries.map(({ name }) => name)
  const ends = new Map<number, number>()
  for (const name of names) {
    const file = parseSegmentFileName(name)
    if (file?.kind === 'log' && file.suffix === 'swap')
      ends.set(file.offset, await endOfSwap(disk, `${path}/${name}`, file.offset))
  }
  const plan = planSegments(names, offset => ends.get(offset))
  for (const name of plan.remove) await disk.remove(`${path}/${name}`)
  // As long as a segment is called `.swap`, the next start knows which others are to go.
  if (plan.rename.length > 0) await disk.syncDirectory(path)
  for (const { from, to } of plan.rename) disk.rename(`${path}/${from}`, `${path}/${to}`)
  if (plan.rename.length > 0) await disk.syncDirectory(path)
  return plan
}

/**
 * One that has the name of a file is not of this log; to write the file would fail, at some later time. In the place of a segment
 * that is not the last, which is only read, it costs what was there. Throws `DiskError`.
 */
function refuseDirectories(path: string, entries: readonly DirectoryEntry[]): void {
  const found = entries.find(({ name, isDirectory }) => isDirectory && isWrittenFile(name, entries))
  if (found !== undefined) throw new DiskError('isDirectory', 'open', `${path}/${found.name}`)
}

function isWrittenFile(name: string, entries: readonly DirectoryEntry[]): boolean {
  const file = parseSegmentFileName(name)
  if (file?.kind === 'log') return entries.every(entry => entry.name <= name || !entry.name.endsWith('.log'))
  if (file !== undefined || name.startsWith('millrace-')) return true
  return name === partitionMetadataFileName || name === leaderEpochFileName
}

/** The offset after the last batch of a segment that is to replace others. */
async function endOfSwap(disk: Disk, path: string, baseOffset: number): Promise<number> {
  const file = disk.open(path, 'read')
  try {
    const place = { ...anyPlace, from: baseOffset }
    const scan = await scanBatches(file, { position: 0, end: file.sizeBytes, place }, () => undefined)
    return scan.place.from
  } finally {
    file.release()
  }
}

function listSegments(context: StorageContext, home: LogHome, plan: SegmentPlan, logStartOffset: number): SegmentList {
  const { wallMs } = context.clock.now()
  const bases = plan.segments.length > 0 ? plan.segments : [logStartOffset]
  const segments = bases.map(baseOffset => {
    const isOnDisk = plan.segments.length > 0
    const segment = new Segment(home, baseOffset, { createdWallMs: wallMs, jitterMs: 0, isOnDisk })
    segment.sizeBytes = context.disk.status(segment.filePath)?.sizeBytes ?? 0
    segment.writtenBytes = segment.sizeBytes
    segment.syncedBytes = segment.sizeBytes
    segment.isSealed = true
    segment.isUnprepared = segment.sizeBytes > 0
    segment.maxTimestamp = undefined
    segment.hasTransactionIndex = plan.withTransactionIndex.has(baseOffset)
    return segment
  })
  for (const [index, segment] of segments.entries()) segment.nextOffset = bases[index + 1] ?? segment.baseOffset
  const active = segments[segments.length - 1]
  active.isSealed = false
  if (active.sizeBytes === 0) {
    active.indexes = new SegmentIndexes()
    active.maxTimestamp = -1n
  }
  return new SegmentList(segments)
}

/** Undefined when the file is missing, damaged, or says nothing although there are records. */
function readEpochs(context: StorageContext, segments: SegmentList, path: string): LeaderEpochs | undefined {
  const bytes = context.disk.readSmallFile(`${path}/${leaderEpochFileName}`, maxEpochFileBytes)
  const epochs = bytes && LeaderEpochs.decode(bytes)
  return epochs?.length === 0 && segments.sizeBytes > 0 ? undefined : epochs
}

/**
 * Epochs are saved before the batches that they began with are synced, so the file may say who wrote offsets which the log does
 * not reach any more. Others get these offsets next, and after a kill the file would make damage of their batches: what
 * it says has to go before anything is appended. Not yet where an epoch begins right at the end, as it does wherever a leader has
 * taken nothing: only a follower of an older epoch would be contradicted.
 */
async function forgetEpochsBeyond(
  epochFile: EpochFile,
  found: LeaderEpochs | undefined,
  logEndOffset: number,
): Promise<void> {
  const newest = found?.entries.at(-1)
  const isBeyond = newest !== undefined && newest.startOffset > logEndOffset
  if (isBeyond && epochFile.contradicts(logEndOffset)) await epochFile.save()
}

/** Where the log ends, and its producers there, if the files of a clean shutdown say so. */
async function findCleanEnd(
  context: StorageContext,
  segments: SegmentList,
  producers: ProducerStates,
  plan: SegmentPlan,
  { recoveryPoint, path, cleanEnd }: LoadRequest,
): Promise<boolean> {
  const { active } = segments
  assert(!active.isSealed, 'the last segment is the active one')
  if (!plan.withIndex.has(active.baseOffset) || !plan.withTimeIndex.has(active.baseOffset)) return false
  if (recoveryPoint < active.baseOffset || recoveryPoint > active.baseOffset !== active.sizeBytes > 0) return false
  if (plan.snapshots.includes(recoveryPoint)) {
    if (!loadSnapshot(context, producers, path, recoveryPoint)) return false
  } else if (recoveryPoint > 0) return false
  active.nextOffset = recoveryPoint
  if (cleanEnd === undefined) return endsAt(context, segments, recoveryPoint)
  const { baseOffset, sizeBytes, endOffset } = cleanEnd
  return baseOffset === active.baseOffset && sizeBytes === active.sizeBytes && endOffset === recoveryPoint
}

/** Whether the batches from the last index entry on lead to this offset and to the end of the file. */
async function endsAt(context: StorageContext, segments: SegmentList, endOffset: number): Promise<boolean> {
  const { active } = segments
  if (active.sizeBytes === 0) return true
  await loadIndexes(context, segments, active)
  const position = indexedPosition(active, Number.MAX_SAFE_INTEGER)
  const file = context.openFiles.use(active)
  file.retain()
  try {
    const place = { ...active.placeOfFirst(), isAfterKnown: position === 0 }
    const scan = await scanBatches(file, { position, end: active.sizeBytes, place }, () => undefined)
    return scan.problem === undefined && scan.place.from === endOffset
  } finally {
    file.release()
  }
}
