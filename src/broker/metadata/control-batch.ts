import {
  type ControlRecord,
  type ControlRecordInput,
  decodeControlRecord,
  encodeControlRecord,
} from '../../protocol/control-record.ts'
import { BatchBuilder } from '../../records/builder.ts'
import { RecordReader } from '../../records/record.ts'

export interface ControlBatchFields {
  readonly baseOffset: number
  readonly leaderEpoch: number
  readonly timestampMs: number
}

/** A control batch of the metadata log (formats.md, "Control batches"). */
export function encodeControlBatch(records: readonly ControlRecord[], fields: ControlBatchFields): Buffer {
  const builder = new BatchBuilder()
  for (const record of records) appendControlRecord(builder, record, fields.timestampMs)
  return builder.finish({ isControl: true, baseOffset: fields.baseOffset, partitionLeaderEpoch: fields.leaderEpoch })
}

export function appendControlRecord(builder: BatchBuilder, record: ControlRecordInput, timestampMs: number): void {
  const { key, value } = encodeControlRecord(asKafkaWrites(record))
  builder.append(timestampMs, key, value)
}

/** Kafka 4.4 writes version 0 of the leader change, which names voters without their directories, at kraft.version 1 as well. */
function asKafkaWrites(record: ControlRecordInput): ControlRecordInput {
  if (record.type !== 'leaderChange') return record
  const { version, leaderId, voters, grantingVoters } = record.value
  const idsOnly = (list: typeof voters) => list.map(({ voterId }) => ({ voterId }))
  return {
    type: record.type,
    value: { version, leaderId, voters: idsOnly(voters), grantingVoters: idsOnly(grantingVoters) },
  }
}

/** The control records of one whole control batch, with their offsets. Those of types that are not known are left out. */
export function decodeControlRecords(batch: Buffer): { readonly offset: number; readonly record: ControlRecord }[] {
  const reader = new RecordReader(batch, 0, batch.length)
  const found: { readonly offset: number; readonly record: ControlRecord }[] = []
  for (let record = reader.next(); record !== undefined; record = reader.next()) {
    if (record.key === null || record.value === null) continue
    const decoded = decodeControlRecord(record.key, record.value)
    if (decoded.type !== 'unknown') found.push({ offset: record.offset, record: decoded })
  }
  return found
}

/** Whether the quorum keeps it as part of its state. */
export function isAboutQuorum({ type }: ControlRecord): boolean {
  return type === 'leaderChange' || type === 'kraftVersion' || type === 'kraftVoters'
}
