import { assert } from '../../base/assert.ts'
import { copyBytes } from '../compression/copy-bytes.ts'
import { Cursor, writeBigVarlong, writeVarint } from '../varint.ts'

/** By how much a record may grow when its timestamp counts from elsewhere: its delta, and so its length. */
export const maxRecordGrowth = 9 + 4
const noTimestamp = -1n

/** The largest timestamp of some records; -1 when none has one. They have been walked before. */
export function maxTimestampOf(records: Buffer, baseTimestamp: bigint): bigint {
  const end = records.length
  const cursor = new Cursor(records)
  let maxDelta: number | undefined
  let max = noTimestamp
  while (cursor.position < end) {
    const length = cursor.varint()
    const recordEnd = cursor.position + length
    cursor.position++ // attributes
    const delta = cursor.shortVarlong()
    if (delta === undefined) {
      const timestamp = BigInt.asIntN(64, baseTimestamp + cursor.varlong())
      if (timestamp > max) max = timestamp
    } else if (maxDelta === undefined || delta > maxDelta) maxDelta = delta
    cursor.position = recordEnd
  }
  assert(!cursor.failed && cursor.position === end, 'records that were walked can be walked again')
  if (maxDelta === undefined) return max
  const timestamp = BigInt.asIntN(64, baseTimestamp + BigInt(maxDelta))
  return timestamp > max ? timestamp : max
}

/** What the timestamps of records count from, and are to count from. */
export interface TimestampMove {
  readonly from: bigint
  readonly to: bigint
}

/**
 * Copies records so that their timestamps stay the same while they count from elsewhere. The answer is the length of the copy;
 * there must be room for each record to grow by `maxRecordGrowth`.
 */
export function moveTimestamps(records: Buffer, target: Buffer, move: TimestampMove): number {
  const end = records.length
  const cursor = new Cursor(records)
  const delta = Buffer.alloc(10)
  let at = 0
  while (cursor.position < end) {
    const length = cursor.varint()
    const recordEnd = cursor.position + length
    const attributes = cursor.byte()
    const moved = BigInt.asIntN(64, move.from + cursor.varlong() - move.to)
    const rest = recordEnd - cursor.position
    const deltaBytes = writeBigVarlong(delta, 0, moved)
    at = writeVarint(target, at, 1 + deltaBytes + rest)
    target[at++] = attributes
    at = copyBytes(target, at, delta, 0, deltaBytes)
    at = copyBytes(target, at, records, cursor.position, rest)
    cursor.position = recordEnd
  }
  assert(!cursor.failed && cursor.position === end, 'records that were walked can be walked again')
  return at
}
