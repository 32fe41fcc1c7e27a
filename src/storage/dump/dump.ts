import { type Disk, DiskError } from '../../io/disk.ts'
import { dumpBatches } from './dump-batches.ts'
import { dumpIndex } from './dump-index.ts'
import type { DumpItem } from './dump-item.ts'
import { dumpSmallFile } from './dump-small-file.ts'
import { logFileKind, nameOf } from './log-file-kind.ts'

export interface DumpOptions {
  /** Also each record of each batch. */
  readonly withRecords: boolean
  readonly show: (item: DumpItem) => void
}

/**
 * Shows what is in a file, or in all files of a partition or log directory and the partitions in it, in the order of their
 * names. Nothing is changed; bytes that are damaged are shown as such, and what follows them is shown. Files are read in
 * pieces. Answers how many files were shown. Rejects with `DiskError`.
 */
export async function dump(disk: Disk, path: string, options: DumpOptions): Promise<number> {
  const status = disk.status(path)
  if (status === undefined) throw new DiskError('notFound', 'open', path)
  if (!status.isDirectory) return await dumpFile(disk, path, options)
  const entries = disk.list(path).sort((a, b) => (a.name < b.name ? -1 : 1))
  let shown = 0
  for (const { name, isDirectory } of entries) {
    if (!isDirectory) shown += await dumpFile(disk, `${path}/${name}`, options)
  }
  for (const { name, isDirectory } of entries) {
    if (isDirectory) shown += await dump(disk, `${path}/${name}`, options)
  }
  return shown
}

async function dumpFile(disk: Disk, path: string, options: DumpOptions): Promise<number> {
  const kind = logFileKind(nameOf(path))
  if (kind === undefined) return 0
  options.show({ type: 'file', path, kind })
  if (kind === 'segment' || kind === 'metadataSnapshot') await dumpBatches(disk, path, kind, options)
  else if (kind === 'offsetIndex' || kind === 'timeIndex' || kind === 'transactionIndex') {
    await dumpIndex(disk, path, kind, options.show)
  } else dumpSmallFile(disk, path, kind, options.show)
  return 1
}
