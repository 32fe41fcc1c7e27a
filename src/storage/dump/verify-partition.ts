import {
  decodePartitionMetadata,
  leaderEpochFileName,
  partitionMetadataFileName,
  segmentFileName,
} from '../../core/log/file-names.ts'
import { LeaderEpochs } from '../../core/log/leader-epochs.ts'
import { decodeProducerSnapshot } from '../../core/log/producer-snapshot.ts'
import { ProducerStates } from '../../core/log/producer-states.ts'
import { planSegments, type SegmentPlan } from '../../core/log/segment-plan.ts'
import type { Disk } from '../../io/disk.ts'
import { readBaseOffset } from '../../records/batch.ts'
import { readOffsetCheckpoint } from '../directory-files.ts'
import { type Hole, isLost, lossOf, readGapsBelow } from '../log-holes.ts'
import { maxSnapshotBytes } from '../producer-recovery.ts'
import { type DamagedRange, scanFile } from '../segment-scan.ts'
import { anyPlace, isLegacy, storedLastOffset, storedLeaderEpoch, storedMaxTimestamp } from '../stored-batch.ts'
import { IndexCheck } from './index-check.ts'
import { logFileKind } from './log-file-kind.ts'
import { snapshotProblem } from './snapshot-check.ts'
import type { Problem } from './verify.ts'
import { verifyMetadataSnapshot } from './verify-metadata-snapshot.ts'

const maxSmallBytes = 64 * 1024 * 1024
const metadataDirectory = /(^|\/)__cluster_metadata-0$/

/**
 * Checks one partition's directory. Answers where its log starts and ends, and how many bytes of segments were read. Offsets
 * may be left out anywhere but in the log of the metadata: compaction leaves gaps, and followers copy them.
 */
export async function verifyPartition(
  disk: Disk,
  directory: string,
  report: (problem: Problem) => void,
): Promise<{ start: number; end: number; bytes: number }> {
  const names = disk.list(directory).map(entry => entry.name)
  const plan = planSegments(names, () => undefined)
  const epochs = readEpochs(disk, directory, report)
  verifyIdentity(disk, directory, names, report)
  const states = new ProducerStates()
  const [start = 0] = plan.segments
  const snapshots = new Set(plan.snapshots)
  if (snapshots.has(start)) loadStates(disk, directory, start, states)
  const isContiguous = metadataDirectory.test(directory)
  const cleanedOffset = readCleanedOffset(disk, directory)
  const gapsBelow = readGapsBelow(disk, directory)
  for (const offset of [...plan.missing, ...plan.lost])
    report({ path: `${directory}/${segmentFileName(offset, 'log')}`, position: 0, problem: 'the segment is missing' })
  let end = start
  let bytes = 0
  // After damage, and where offsets are left out, the replay lacks batches, and says nothing of the producers any more.
  let isReplayWhole = true
  for (const [index, baseOffset] of plan.segments.entries()) {
    const isNext = baseOffset === end
    const path = `${directory}/${segmentFileName(baseOffset, 'log')}`
    if (isContiguous && !isNext) {
      report({ path, position: 0, problem: `the segment before it ends at offset ${end}: offsets are missing` })
    } else if (end < baseOffset)
      verifyGap(directory, { offset: end, to: baseOffset }, { plan, cleanedOffset, gapsBelow, report })
    isReplayWhole &&= isNext
    const snapshot = snapshots.has(baseOffset)
    snapshots.delete(baseOffset)
    if (snapshot)
      verifySnapshot(disk, directory, baseOffset, { start, states: isReplayWhole ? states : undefined, report })
    const to = plan.segments[index + 1] ?? Number.POSITIVE_INFINITY
    const transactionsFrom = isReplayWhole ? start : Number.POSITIVE_INFINITY
    const question = { baseOffset, to, isContiguous, transactionsFrom, states, epochs, report }
    const segment = await verifySegment(disk, directory, question)
    isReplayWhole &&= segment.isWhole
    bytes += segment.bytes
    end = segment.end
  }
  // The last one is written when the log is closed.
  for (const offset of snapshots) {
    verifySnapshot(disk, directory, offset, { start, states: isReplayWhole ? states : undefined, report, logEnd: end })
  }
  for (const name of names) {
    if (logFileKind(name) === 'metadataSnapshot') await verifyMetadataSnapshot(disk, `${directory}/${name}`, report)
  }
  return { start, end, bytes }
}

/** Of the log directory's checkpoint, where the partition's directory lies in one. */
function readCleanedOffset(disk: Disk, directory: string): number | undefined {
  const at = directory.lastIndexOf('/')
  if (at < 0) return undefined
  return readOffsetCheckpoint(disk, directory.slice(0, at), 'cleaner-offset-checkpoint')?.get(directory.slice(at + 1))
}

function verifyGap(
  directory: string,
  hole: Hole,
  about: {
    readonly plan: SegmentPlan
    readonly cleanedOffset: number | undefined
    readonly gapsBelow: number
    readonly report: (problem: Problem) => void
  },
): void {
  const isTold = about.plan.missing.some(missing => missing >= hole.offset && missing < hole.to)
  if (isTold || !isLost(hole, about)) return
  about.report({ path: `${directory}/${segmentFileName(hole.offset, 'log')}`, position: 0, problem: lossOf(hole) })
}

interface SegmentQuestion {
  readonly baseOffset: number
  /** Base offset of the next segment. */
  readonly to: number
  readonly isContiguous: boolean
  readonly transactionsFrom: number
  readonly states: ProducerStates
  readonly epochs: LeaderEpochs | undefined
  readonly report: (problem: Problem) => void
}

async function verifySegment(
  disk: Disk,
  directory: string,
  { baseOffset, to, isContiguous, transactionsFrom, states, epochs, report }: SegmentQuestion,
): Promise<{ end: number; bytes: number; isWhole: boolean }> {
  const path = `${directory}/${segmentFileName(baseOffset, 'log')}`
  const indexes = new IndexCheck(disk, directory, baseOffset, disk.status(path)?.sizeBytes ?? 0)
  const file = disk.open(path, 'read')
  try {
    let end = baseOffset
    let hasGaps = transactionsFrom === Number.POSITIVE_INFINITY
    let hasWrongEpoch = false
    const range = {
      position: 0,
      end: file.sizeBytes,
      place: { ...anyPlace, from: baseOffset, isAfterKnown: true, to, isContiguous },
    }
    const damaged = await scanFile(file, range, (bytes, at, position) => {
      const first = readBaseOffset(bytes, at)
      const lastOffset = storedLastOffset(bytes, at)
      hasGaps ||= first > end
      end = lastOffset + 1
      indexes.batch({ position, baseOffset: first, lastOffset, maxTimestamp: storedMaxTimestamp(bytes, at) })
      if (isLegacy(bytes, at)) return
      const aborted = states.append(bytes, at)
      states.complete(Number.POSITIVE_INFINITY)
      // Of a transaction that aborted compaction leaves the marker, and perhaps an empty batch that is not its first.
      if (aborted !== undefined && !hasGaps) indexes.aborted(aborted)
      const leaderEpoch = storedLeaderEpoch(bytes, at)
      const known = epochs?.epochAt(first) ?? -1
      if (known < 0 || leaderEpoch < 0 || known === leaderEpoch || hasWrongEpoch) return
      hasWrongEpoch = true
      const problem = `offset ${first} has leader epoch ${leaderEpoch}; ${leaderEpochFileName} says ${known}`
      report({ path, position, problem })
    })
    for (const range of damaged) {
      const { position, reason, nextOffset = to } = range
      const isTail = nextOffset === Number.POSITIVE_INFINITY
      if (isTail) report({ path, position, problem: `${reason}, and nothing whole follows`, isMended: true })
      else report({ path, position, problem: `${reason}${extentOf(range, nextOffset)}` })
    }
    const from = hasGaps ? Number.POSITIVE_INFINITY : transactionsFrom
    indexes.finish({ nextOffset: end, isDamaged: damaged.length > 0, transactionsFrom: from, report })
    return { end, bytes: file.sizeBytes, isWhole: damaged.length === 0 && !hasGaps }
  } finally {
    file.release()
  }
}

/** Who moves a group on behind the damage wants the offset there. */
function extentOf({ end, offset }: DamagedRange, nextOffset: number): string {
  return `, up to byte ${end}${offset < nextOffset ? `: offsets ${offset} to ${nextOffset - 1}` : ''}`
}

function readEpochs(disk: Disk, directory: string, report: (problem: Problem) => void): LeaderEpochs | undefined {
  const path = `${directory}/${leaderEpochFileName}`
  const bytes = disk.readSmallFile(path, maxSmallBytes)
  if (bytes === undefined) return undefined
  const epochs = LeaderEpochs.decode(bytes)
  if (epochs === undefined) report({ path, position: undefined, problem: 'the checkpoint is damaged' })
  return epochs
}

/** A directory without the file was being made when the broker ended, unless it has records. */
function verifyIdentity(
  disk: Disk,
  directory: string,
  names: readonly string[],
  report: (problem: Problem) => void,
): void {
  const path = `${directory}/${partitionMetadataFileName}`
  const bytes = disk.readSmallFile(path, maxSmallBytes)
  if (bytes !== undefined || metadataDirectory.test(directory)) {
    if (bytes !== undefined && decodePartitionMetadata(bytes) === undefined)
      report({ path, position: undefined, problem: 'the topic id cannot be read' })
    return
  }
  const hasRecords = names.some(
    name => name.endsWith('.log') && (disk.status(`${directory}/${name}`)?.sizeBytes ?? 0) > 0,
  )
  if (hasRecords)
    report({
      path,
      position: undefined,
      problem: 'the file is missing: without the topic id the partition is not served',
    })
}

function loadStates(disk: Disk, directory: string, offset: number, states: ProducerStates): void {
  const bytes = disk.readSmallFile(`${directory}/${segmentFileName(offset, 'snapshot')}`, maxSnapshotBytes)
  const entries = bytes && decodeProducerSnapshot(bytes)
  if (entries !== undefined) states.reset(entries)
}

function verifySnapshot(
  disk: Disk,
  directory: string,
  offset: number,
  {
    start,
    states,
    report,
    logEnd,
  }: {
    readonly start: number
    /** Undefined when it is not known. */
    readonly states: ProducerStates | undefined
    readonly report: (problem: Problem) => void
    /** For a snapshot that no segment begins at. */
    readonly logEnd?: number
  },
): void {
  const path = `${directory}/${segmentFileName(offset, 'snapshot')}`
  const bytes = disk.readSmallFile(path, maxSnapshotBytes)
  const entries = bytes && decodeProducerSnapshot(bytes)
  if (entries === undefined) {
    report({ path, position: undefined, problem: 'the producer snapshot is damaged' })
    return
  }
  // Of one in the middle of a segment the state there is not at hand; the batches were checked.
  if (logEnd !== undefined && offset < logEnd) return
  if (logEnd !== undefined && offset > logEnd) {
    report({ path, position: undefined, problem: `the snapshot is of offset ${offset}, but the log ends at ${logEnd}` })
    return
  }
  if (states === undefined) return
  for (const [producerId, entry] of entries) {
    const replayed = states.entries.get(producerId)
    const problem = snapshotProblem(entry, replayed, { offset, start })
    if (problem !== undefined) report({ path, position: undefined, problem: `producer ${producerId}: ${problem}` })
  }
}
