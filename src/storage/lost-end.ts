import type { Disk } from '../io/disk.ts'
import type { Segment } from './segment.ts'

/** Where in the last entry of an index the offset is, and where the position. */
const layouts = [
  { kind: 'index', entryBytes: 8, offsetAt: 0, positionAt: 4 },
  { kind: 'timeindex', entryBytes: 12, offsetAt: 8, positionAt: undefined },
] as const

/**
 * Whether the index files of a segment tell of batches from `offset` on, which its file, `sizeBytes` long, does not have: the
 * end of the segment is lost. A gap before the next one alone says nothing, since compaction and followers leave such gaps
 * too. Kafka leaves zeros behind the entries when it is killed. Rejects with `DiskError`.
 */
export async function isEndLost(
  disk: Disk,
  segment: Segment,
  { offset, sizeBytes, to }: { readonly offset: number; readonly sizeBytes: number; readonly to: number },
): Promise<boolean> {
  for (const { kind, entryBytes, offsetAt, positionAt } of layouts) {
    const entry = await readLast(disk, segment.pathOf(kind), entryBytes)
    if (entry === undefined) continue
    const entryOffset = segment.baseOffset + entry.readInt32BE(offsetAt)
    const isBeyond = entryOffset >= offset || (positionAt !== undefined && entry.readInt32BE(positionAt) >= sizeBytes)
    if (isBeyond && entryOffset < to) return true
  }
  return false
}

/** Undefined when there is no entry, or the file is damaged. */
async function readLast(disk: Disk, path: string, entryBytes: number): Promise<Buffer | undefined> {
  const sizeBytes = disk.status(path)?.sizeBytes ?? 0
  if (sizeBytes === 0 || sizeBytes % entryBytes !== 0) return undefined
  const file = disk.open(path, 'read')
  try {
    const entry = await file.read(sizeBytes - entryBytes, entryBytes)
    return entry.length < entryBytes || entry.every(byte => byte === 0) ? undefined : entry
  } finally {
    file.release()
  }
}
