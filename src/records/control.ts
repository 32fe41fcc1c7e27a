import type { BatchFields } from './builder.ts'
import { BatchBuilder } from './builder.ts'

/**
 * Control records have a key of two int16, a version and one of these types. Other types are written by newer versions
 * and are skipped. The values of all but the two markers are messages with schemas of their own, and bytes here.
 */
export const ControlType = {
  abort: 0,
  commit: 1,
  leaderChange: 2,
  snapshotHeader: 3,
  snapshotFooter: 4,
  kraftVersion: 5,
  kraftVoters: 6,
} as const

export interface ControlRecord {
  readonly type: number
  readonly value: Buffer
}

export interface TransactionMarker {
  readonly isCommit: boolean
  readonly coordinatorEpoch: number
}

const keyBytes = 4
const markerValueBytes = 6

export function controlKey(type: number): Buffer {
  const key = Buffer.alloc(keyBytes)
  key.writeInt16BE(type, 2)
  return key
}

/** Undefined when the key is none of a control record. A newer version of the key has the type in the same place. */
export function readControlType(key: Buffer | null): number | undefined {
  if (key === null || key.length < keyBytes || key.readInt16BE(0) < 0) return undefined
  return key.readInt16BE(2)
}

/** Undefined when the record is no marker, or its value is cut off. */
export function readTransactionMarker(key: Buffer | null, value: Buffer | null): TransactionMarker | undefined {
  const type = readControlType(key)
  if (type !== ControlType.abort && type !== ControlType.commit) return undefined
  if (value === null || value.length < markerValueBytes || value.readInt16BE(0) < 0) return undefined
  return { isCommit: type === ControlType.commit, coordinatorEpoch: value.readInt32BE(2) }
}

/** One batch with control records, none of them a marker: what leads the metadata log and frames its snapshots. */
export function buildControlBatch(
  records: readonly ControlRecord[],
  timestamp: number | bigint,
  fields: BatchFields = {},
): Buffer {
  const builder = new BatchBuilder()
  for (const { type, value } of records) builder.append(timestamp, controlKey(type), value)
  return builder.finish({ ...fields, isControl: true })
}

/** The batch that ends a producer's transaction in one partition. */
export function buildMarkerBatch(
  { isCommit, coordinatorEpoch }: TransactionMarker,
  timestamp: number | bigint,
  fields: BatchFields & { readonly producerId: number; readonly producerEpoch: number },
): Buffer {
  const value = Buffer.alloc(markerValueBytes)
  value.writeInt32BE(coordinatorEpoch, 2)
  const type = isCommit ? ControlType.commit : ControlType.abort
  return buildControlBatch([{ type, value }], timestamp, { ...fields, isTransactional: true })
}
