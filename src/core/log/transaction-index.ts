import { readInt64, writeInt64 } from '../../records/int64.ts'

export interface AbortedTransactionEntry {
  readonly producerId: number
  readonly firstOffset: number
  /** Of the ABORT marker. */
  readonly lastOffset: number
  /** The last stable offset when the marker was appended: no transaction that aborted later began below it. */
  readonly lastStableOffset: number
}

const version = 0
const entryBytes = 34

/** The content of a `.txnindex`: the aborted transactions whose markers lie in the segment, in the order of the markers. */
export function encodeTransactionIndex(entries: readonly AbortedTransactionEntry[]): Buffer {
  const bytes = Buffer.alloc(entries.length * entryBytes)
  for (const [index, entry] of entries.entries()) {
    const at = index * entryBytes
    bytes.writeInt16BE(version, at)
    writeInt64(bytes, at + 2, entry.producerId)
    writeInt64(bytes, at + 10, entry.firstOffset)
    writeInt64(bytes, at + 18, entry.lastOffset)
    writeInt64(bytes, at + 26, entry.lastStableOffset)
  }
  return bytes
}

/** Undefined when the content cannot be that of a segment with these offsets. */
export function decodeTransactionIndex(
  bytes: Buffer,
  segment: { baseOffset: number; nextOffset: number },
): AbortedTransactionEntry[] | undefined {
  if (bytes.length % entryBytes !== 0) return undefined
  const entries: AbortedTransactionEntry[] = []
  let previous = segment.baseOffset - 1
  for (let at = 0; at < bytes.length; at += entryBytes) {
    const entry = {
      producerId: readInt64(bytes, at + 2),
      firstOffset: readInt64(bytes, at + 10),
      lastOffset: readInt64(bytes, at + 18),
      lastStableOffset: readInt64(bytes, at + 26),
    }
    if (bytes.readInt16BE(at) !== version || entry.producerId < 0 || entry.firstOffset < 0) return undefined
    if (entry.firstOffset > entry.lastOffset || entry.lastOffset <= previous) return undefined
    if (entry.lastOffset >= segment.nextOffset || entry.lastStableOffset > entry.lastOffset + 1) return undefined
    previous = entry.lastOffset
    entries.push(entry)
  }
  return entries
}
