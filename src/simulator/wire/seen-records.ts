import { batchSizeAt, isControlBatch, isCrcValid, readLastOffset, readTimestampType } from '../../records/batch.ts'
import { openBatch } from '../../records/open-batch.ts'
import type { Record, RecordHeader } from '../../records/record.ts'
import type { ReadRecord, SeenRecord } from '../history/operations.ts'
import { hashBytes } from '../io/trace.ts'

const maxUnpackedBytes = 64 * 1024 * 1024
/** Stands between the unique part of a value and what fills it up. */
export const valueEnd = '|'

export interface ReadBatches {
  readonly records: readonly ReadRecord[]
  /** Where the last whole batch ends; the offset asked for when there was none. */
  readonly nextOffset: number
  readonly batchCount: number
  /** What no reader may be given: bytes that fail their checksum or cannot be read. */
  readonly problem: string | undefined
}

/** What a consumer sees in the bytes of a Fetch answer: records from `offset` on. The last batch may be cut off. */
export function readBatches(bytes: Buffer, offset: number): ReadBatches {
  const records: ReadRecord[] = []
  let nextOffset = offset
  let batchCount = 0
  const result = (problem?: string): ReadBatches => ({ records, nextOffset, batchCount, problem })
  for (let at = 0; at < bytes.length; ) {
    const size = batchSizeAt(bytes, at)
    if (size === 0) break
    if (size < 0) return result(`there is no batch at byte ${at} of an answer`)
    if (!isCrcValid(bytes, at, size)) return result(`the batch at byte ${at} of an answer fails its CRC`)
    const reader = openBatch(bytes, at, maxUnpackedBytes)
    if ('type' in reader) return result('a batch cannot be unpacked')
    const hasAppendTime = readTimestampType(bytes, at) === 'LogAppendTime'
    const isControl = isControlBatch(bytes, at)
    for (const record of reader) {
      if (isControl || record.offset < offset) continue
      records.push({ offset: record.offset, ...seenRecord(record, hasAppendTime) })
    }
    if (reader.isCorrupt) return result('a batch with a valid CRC holds malformed records')
    nextOffset = Math.max(nextOffset, readLastOffset(bytes, at) + 1)
    batchCount++
    at += size
  }
  return result()
}

type Content = Pick<Record, 'timestamp' | 'key' | 'value' | 'headers'>

export function seenRecord(record: Content, hasAppendTime = false): SeenRecord {
  const text = (record.value ?? identityOf(record))?.toString('latin1') ?? ''
  const end = text.indexOf(valueEnd)
  return {
    value: end < 0 ? text : text.slice(0, end),
    digest: digestOf(record),
    timestamp: hasAppendTime ? undefined : String(record.timestamp),
    key: record.key?.toString('latin1') ?? null,
    isTombstone: record.value === null,
  }
}

/** A tombstone has no value to be told by: its name travels in this header. */
export const identityHeader = 'id'

function identityOf({ headers }: Content): Buffer | null | undefined {
  return headers.find(({ key }) => key === identityHeader)?.value
}

function digestOf({ key, value, headers }: Content): string {
  const parts = [lengthAndBytes(key), lengthAndBytes(value), ...headers.flatMap(headerParts)]
  const all = Buffer.concat(parts)
  return (hashBytes(all) >>> 0).toString(36) + (hashBytes(Buffer.from(all).reverse()) >>> 0).toString(36)
}

function headerParts({ key, value }: RecordHeader): Buffer[] {
  return [lengthAndBytes(Buffer.from(key)), lengthAndBytes(value)]
}

function lengthAndBytes(bytes: Buffer | null): Buffer {
  const length = Buffer.alloc(4)
  length.writeInt32LE(bytes === null ? -1 : bytes.length)
  return bytes === null ? length : Buffer.concat([length, bytes])
}
