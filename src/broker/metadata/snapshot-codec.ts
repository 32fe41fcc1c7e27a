import type { ControlRecord } from '../../protocol/control-record.ts'
import { batchSizeAt, isControlBatch } from '../../records/batch.ts'
import { BatchBuilder } from '../../records/builder.ts'
import { RecordReader } from '../../records/record.ts'
import { appendControlRecord, decodeControlRecords, isAboutQuorum } from './control-batch.ts'

/** A batch of a snapshot holds at most about so many bytes of records. */
const batchBytes = 256 * 1024

const noBytes = Buffer.alloc(0)

export interface SnapshotContent {
  /** Of the last record that the snapshot stands for; 0 when there is none. */
  readonly lastContainedLogTimestampMs: number
  /** kraft.version and voters, at kraft.version 1; nothing below. */
  readonly controlRecords: readonly ControlRecord[]
  /** Values of metadata records, framed. */
  readonly values: Iterable<Buffer>
}

export interface SnapshotFields {
  readonly epoch: number
  readonly timestampMs: number
}

/**
 * A KRaft snapshot (formats.md, "KRaft snapshot and metadata log"): a control batch with the header, data batches, a control
 * batch with the footer. Offsets count through the file from 0. Yields one buffer for each batch.
 */
export function* encodeSnapshot(
  content: SnapshotContent,
  { epoch, timestampMs }: SnapshotFields,
): Generator<Buffer, void, undefined> {
  const builder = new BatchBuilder()
  let offset = 0
  const finish = (isControl: boolean): Buffer => {
    const count = builder.recordCount
    const batch = Buffer.from(builder.finish({ isControl, baseOffset: offset, partitionLeaderEpoch: epoch }))
    builder.reset()
    offset += count
    return batch
  }
  const header = { version: 0, lastContainedLogTimestamp: content.lastContainedLogTimestampMs }
  appendControlRecord(builder, { type: 'snapshotHeader', value: header }, timestampMs)
  for (const record of content.controlRecords) appendControlRecord(builder, record, timestampMs)
  yield finish(true)
  for (const value of content.values) {
    builder.append(timestampMs, null, value)
    if (builder.sizeBytes >= batchBytes) yield finish(false)
  }
  if (builder.recordCount > 0) yield finish(false)
  appendControlRecord(builder, { type: 'snapshotFooter', value: { version: 0 } }, timestampMs)
  yield finish(true)
}

export interface DecodedSnapshot {
  readonly controlRecords: readonly ControlRecord[]
  readonly values: readonly Buffer[]
}

/** Undefined when the file is not whole: without its footer, with bytes that are no batch, or with a damaged record. */
export function decodeSnapshot(bytes: Buffer): DecodedSnapshot | undefined {
  const controlRecords: ControlRecord[] = []
  const values: Buffer[] = []
  let hasFooter = false
  let at = 0
  while (at < bytes.length) {
    const size = batchSizeAt(bytes, at)
    if (size <= 0 || hasFooter) return undefined
    const batch = bytes.subarray(at, at + size)
    if (isControlBatch(batch, 0)) {
      const records = decodeControlRecords(batch).map(one => one.record)
      controlRecords.push(...records.filter(isAboutQuorum))
      hasFooter = records.some(record => record.type === 'snapshotFooter')
    } else {
      const reader = new RecordReader(batch, 0, size)
      for (let record = reader.next(); record !== undefined; record = reader.next())
        values.push(record.value ?? noBytes)
      if (reader.isCorrupt) return undefined
    }
    at += size
  }
  return hasFooter ? { controlRecords, values } : undefined
}
