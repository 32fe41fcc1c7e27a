import type { Disk } from '../../io/disk.ts'
import { SnapshotFiles } from './snapshot-files.ts'

const partitionName = /^(?!__cluster_metadata-)[\w.-]+-\d+$/

/**
 * Where partitions of topics lie though the metadata log has never held a record: its file was lost, and to go on would be
 * to begin a new cluster around them. undefined when all is well. A quorum of one has no other copy to ask.
 */
export function partitionsWithoutMetadata(
  disk: Disk,
  metadata: { readonly directory: string; readonly logEndOffset: number },
  logDirs: readonly string[],
): string | undefined {
  const snapshotEnd = new SnapshotFiles(disk, metadata.directory).latest?.endOffset ?? 0
  if (metadata.logEndOffset > 0 || snapshotEnd > 0) return undefined
  return logDirs.find(path => disk.list(path).some(entry => partitionName.test(entry.name)))
}
