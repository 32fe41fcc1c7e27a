import type { Disk } from '../io/disk.ts'
import type { Segment } from './segment.ts'

/** Where in the last entry of an index the offset is, and where the position. */
const layouts = [
  { kind: 'index', entryBytes: 8, offsetAt: 0, positionAt: 4 },
  { kind: 'timeindex', entryBytes: 12, offsetAt: 8, positionAt: undefined },
] as const

interface LastEntry {
  /** Of the log. */
  readonly offset: number
  readonly position: number | undefined
}

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
  for (const layout of layouts) {
    const entry = await readLast(disk, segment, layout)
    if (entry === undefined) continue
    const isBeyond = entry.offset >= offset || (entry.position !== undefined && entry.position >= sizeBytes)
    if (isBeyond && entry.offset < to) return true
  }
  return false
}

/** What the last entry of a segment's offset index says. Rejects with `DiskError`. */
export async function readLastIndexEntry(
  disk: Disk,
  segment: Segment,
): Promise<{ readonly offset: number; readonly position: number } | undefined> {
  const entry = await readLast(disk, segment, layouts[0])
  return entry?.position === undefined ? undefined : { offset: entry.offset, position: entry.position }
}

/** Undefined when there is no entry, or the file is damaged. */
async function readLast(
  disk: Disk,
  segment: Segment,
  { kind, entryBytes, offsetAt, positionAt }: (typeof layouts)[number],
): Promise<LastEntry | undefined> {
  const path = segment.pathOf(kind)
  const sizeBytes = disk.status(path)?.sizeBytes ?? 0
  if (sizeBytes === 0 || sizeBytes % entryBytes !== 0) return undefined
  const file = disk.open(path, 'read')
  try {
    const entry = await file.read(sizeBytes - entryBytes, entryBytes)
    if (entry.length < entryBytes || entry.every(byte => byte === 0)) return undefined
    const position = positionAt === undefined ? undefined : entry.readInt32BE(positionAt)
    return { offset: segment.baseOffset + entry.readInt32BE(offsetAt), position }
  } finally {
    file.release()
  }
}
