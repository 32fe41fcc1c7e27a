import { parseSegmentFileName } from '../../core/log/file-names.ts'
import { decodeTransactionIndex } from '../../core/log/transaction-index.ts'
import type { Disk } from '../../io/disk.ts'
import { readInt64 } from '../../records/int64.ts'
import type { DumpItem } from './dump-item.ts'
import { nameOf } from './log-file-kind.ts'

const entryBytes = { offsetIndex: 8, timeIndex: 12, transactionIndex: 34 } as const
const entriesAtOnce = 8192

/** Shows the entries of an index. Entries of zeros at the end, as a killed Kafka leaves them, are left out. */
export async function dumpIndex(
  disk: Disk,
  path: string,
  kind: keyof typeof entryBytes,
  show: (item: DumpItem) => void,
): Promise<void> {
  const size = entryBytes[kind]
  const baseOffset = parseSegmentFileName(nameOf(path))?.offset ?? 0
  const file = disk.open(path, 'read')
  try {
    let zerosFrom: number | undefined
    for (let position = 0; position < file.sizeBytes; position += entriesAtOnce * size) {
      const bytes = await file.read(position, entriesAtOnce * size)
      for (let at = 0; at < bytes.length; at += size) {
        const entry = bytes.subarray(at, at + size)
        if (entry.length < size) {
          const reason = 'the last entry is cut off'
          show({ type: 'damage', position: position + at, end: file.sizeBytes, reason })
        } else if (position + at > 0 && entry.every(byte => byte === 0)) zerosFrom ??= position + at
        else {
          if (zerosFrom !== undefined) {
            show({
              type: 'damage',
              position: zerosFrom,
              end: position + at,
              reason: 'zeros in the middle of the index',
            })
            zerosFrom = undefined
          }
          show(
            entryOf(kind, entry, baseOffset) ?? {
              type: 'damage',
              position: position + at,
              end: position + at + size,
              reason: 'this is no entry',
            },
          )
        }
      }
    }
  } finally {
    file.release()
  }
}

function entryOf(kind: keyof typeof entryBytes, entry: Buffer, baseOffset: number): DumpItem | undefined {
  switch (kind) {
    case 'offsetIndex':
      return { type: 'offsetIndexEntry', offset: baseOffset + entry.readInt32BE(0), position: entry.readInt32BE(4) }
    case 'timeIndex':
      return { type: 'timeIndexEntry', timestamp: entry.readBigInt64BE(0), offset: baseOffset + entry.readInt32BE(8) }
    case 'transactionIndex': {
      const nextOffset = readInt64(entry, 18) + 1
      const transaction = decodeTransactionIndex(entry, { baseOffset, nextOffset })?.[0]
      return transaction && { type: 'abortedTransaction', transaction }
    }
  }
}
