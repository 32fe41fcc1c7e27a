import type { Disk } from '../../io/disk.ts'
import { type OffsetCheckpointName, readMetaProperties, readOffsetCheckpoint } from '../directory-files.ts'
import type { Problem } from './verify.ts'

/** What an offset in a checkpoint must not be above. */
const checkpoints: readonly { readonly name: OffsetCheckpointName; readonly meaning: string }[] = [
  { name: 'recovery-point-offset-checkpoint', meaning: 'was flushed up to' },
  { name: 'log-start-offset-checkpoint', meaning: 'begins at' },
  { name: 'replication-offset-checkpoint', meaning: 'was replicated up to' },
  { name: 'cleaner-offset-checkpoint', meaning: 'was cleaned up to' },
]

/** The files of a log directory that are about all its partitions, against the ends of the logs that are there. */
export function verifyDirectoryFiles(
  disk: Disk,
  directory: string,
  ends: ReadonlyMap<string, { readonly end: number }>,
  report: (problem: Problem) => void,
): void {
  const meta = readMetaProperties(disk, directory)
  if (meta.type !== 'read') {
    const problem = meta.type === 'damaged' ? meta.reason : 'the file is missing: a broker will not start here'
    report({ path: `${directory}/meta.properties`, position: undefined, problem })
  }
  for (const { name, meaning } of checkpoints) {
    const path = `${directory}/${name}`
    const offsets = readOffsetCheckpoint(disk, directory, name)
    if (offsets === undefined) {
      report({ path, position: undefined, problem: 'the checkpoint is damaged' })
      continue
    }
    for (const [partition, offset] of offsets) {
      const log = ends.get(partition)
      if (log === undefined || offset <= log.end) continue
      report({
        path,
        position: undefined,
        problem: `${partition} ${meaning} ${offset}, but its log ends at ${log.end}`,
      })
    }
  }
}
