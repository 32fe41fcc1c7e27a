import { parsePartitionDirectoryName } from '../../core/log/file-names.ts'
import type { Disk } from '../../io/disk.ts'
import { lockFileName } from '../directory-files.ts'
import { directoryOf, logFileKind, nameOf } from './log-file-kind.ts'
import { verifyDirectoryFiles } from './verify-directory-files.ts'
import { verifyPartition } from './verify-partition.ts'

/** Something that is not as it must be. `position` is that of the first byte concerned, where one can be named. */
export interface Problem {
  readonly path: string
  readonly position: number | undefined
  readonly problem: string
  /** The next start makes it good: from the batches, or by cutting a torn tail. */
  readonly isMended?: true
}

export interface Verified {
  readonly partitions: number
  readonly bytes: number
  readonly problems: number
}

export type VerifyResult =
  | ({ readonly type: 'verified' } & Verified)
  /** A broker has the directory: what it is writing would look like damage. */
  | { readonly type: 'inUse'; readonly path: string }
  /** Neither a partition's directory nor a log directory. */
  | { readonly type: 'notALog'; readonly path: string }

/**
 * Reads a partition's directory, or a log directory with all its partitions, and compares what is there with itself: CRCs,
 * offsets and epochs of batches, indexes and snapshots with what the batches say, checkpoints with the ends of the logs. No
 * file is changed, and no broker can start there meanwhile. Rejects with `DiskError`.
 */
export async function verify(disk: Disk, path: string, report: (problem: Problem) => void): Promise<VerifyResult> {
  if (disk.status(path)?.isDirectory === false) return { type: 'notALog', path }
  const partition = parsePartitionDirectoryName(nameOf(path))
  const isPartition = partition !== undefined && hasSegment(disk, path)
  const directory = isPartition ? directoryOf(path) : path
  const lock = lockOf(disk, directory)
  if (lock === 'held') return { type: 'inUse', path: directory }
  try {
    let problems = 0
    const count = (problem: Problem) => {
      problems++
      report(isRebuilt(problem.path) ? { ...problem, isMended: true } : problem)
    }
    if (isPartition) {
      const { bytes } = await verifyPartition(disk, path, count)
      return { type: 'verified', partitions: 1, bytes, problems }
    }
    const names = disk
      .list(path)
      .filter(entry => entry.isDirectory && parsePartitionDirectoryName(entry.name) !== undefined)
      .map(entry => entry.name)
    const isLogDirectory = disk.status(`${path}/meta.properties`) !== undefined
    // Other programs' directories may have such names too.
    if (!isLogDirectory && !names.some(name => hasSegment(disk, `${path}/${name}`))) return { type: 'notALog', path }
    let bytes = 0
    const ends = new Map<string, { start: number; end: number }>()
    for (const name of names.sort()) {
      // A topic that is being deleted, or a copy that is not complete, may be in any state.
      if (parsePartitionDirectoryName(name)?.kind !== 'current') continue
      const at = `${path}/${name}`
      const read = await verifyPartition(disk, at, count)
      bytes += read.bytes
      ends.set(name, read)
    }
    verifyDirectoryFiles(disk, path, ends, count)
    return { type: 'verified', partitions: ends.size, bytes, problems }
  } finally {
    lock?.release()
  }
}

/** What is made anew from the batches where it is damaged or does not agree with them. */
function isRebuilt(path: string): boolean {
  switch (logFileKind(nameOf(path))) {
    case 'offsetIndex':
    case 'timeIndex':
    case 'transactionIndex':
    case 'producerSnapshot':
    case 'leaderEpochs':
      return true
    default:
      return false
  }
}

function hasSegment(disk: Disk, path: string): boolean {
  return disk.list(path).some(entry => entry.name.endsWith('.log') || entry.name === 'partition.metadata')
}

/** Nothing is created: where there is no lock file, no broker runs. Where it cannot be opened for writing, none can either. */
function lockOf(disk: Disk, directory: string): { release(): void } | 'held' | undefined {
  const path = `${directory}/${lockFileName}`
  if (disk.status(path) === undefined) return undefined
  try {
    return disk.lock(path) ?? 'held'
  } catch {
    return undefined
  }
}
