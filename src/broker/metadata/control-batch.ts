import { unreachable } from '../../base/assert.ts'
import type { ControlRecord } from '../../core/raft/messages.ts'
import { decode, encodeToBuffer } from '../../protocol/codec.ts'
import { kraftVersionRecord, leaderChangeMessage, votersRecord } from '../../protocol/records/control.ts'
import { BatchBuilder } from '../../records/builder.ts'
import { RecordReader } from '../../records/record.ts'

/** Types of control records, as their keys have them. */
const controlType = { leaderChange: 2, kRaftVersion: 5, voters: 6 }
/** The version of the schemas in which control records are written. */
const schemaVersion = 0

export interface ControlBatchFields {
  readonly baseOffset: number
  readonly leaderEpoch: number
  readonly timestampMs: number
}

/** A control batch of the metadata log (formats.md, "Control batches"). */
export function encodeControlBatch(records: readonly ControlRecord[], fields: ControlBatchFields): Buffer {
  const builder = new BatchBuilder()
  for (const record of records)
    builder.append(fields.timestampMs, controlKey(controlTypeOf(record)), controlValueOf(record))
  return builder.finish({ isControl: true, baseOffset: fields.baseOffset, partitionLeaderEpoch: fields.leaderEpoch })
}

export function controlTypeOf(record: ControlRecord): number {
  return controlType[record.type]
}

/** `type` is the control record's: 2 leader change, 3 and 4 the ends of a snapshot, 5 and 6 about voters. */
export function controlKey(type: number): Buffer {
  const key = Buffer.alloc(4)
  key.writeInt16BE(type, 2)
  return key
}

/** Control records that concern the quorum, with their offsets. Others are skipped. `batch` is one whole control batch. */
export function decodeControlRecords(batch: Buffer): { readonly offset: number; readonly record: ControlRecord }[] {
  const reader = new RecordReader(batch, 0, batch.length)
  const found: { readonly offset: number; readonly record: ControlRecord }[] = []
  for (let record = reader.next(); record !== undefined; record = reader.next()) {
    if (record.key === null || record.key.length < 4 || record.value === null) continue
    const decoded = controlRecordOf(record.key.readInt16BE(2), record.value)
    if (decoded !== undefined) found.push({ offset: record.offset, record: decoded })
  }
  return found
}

function controlRecordOf(type: number, value: Buffer): ControlRecord | undefined {
  switch (type) {
    case controlType.leaderChange: {
      const { version, leaderId, voters, grantingVoters } = decode(leaderChangeMessage, schemaVersion, value)
      return {
        type: 'leaderChange',
        value: {
          version,
          leaderId,
          voters: voters.map(one => ({ ...one })),
          grantingVoters: grantingVoters.map(one => ({ ...one })),
        },
      }
    }
    case controlType.kRaftVersion: {
      const { version, kraftVersion } = decode(kraftVersionRecord, schemaVersion, value)
      return { type: 'kRaftVersion', value: { version, kRaftVersion: kraftVersion } }
    }
    case controlType.voters: {
      const { version, voters } = decode(votersRecord, schemaVersion, value)
      return {
        type: 'voters',
        value: {
          version,
          voters: voters.map(({ voterId, voterDirectoryId, endpoints, kraftVersionFeature }) => ({
            voterId,
            voterDirectoryId,
            endpoints: endpoints.map(endpoint => ({ ...endpoint })),
            kRaftVersionFeature: { ...kraftVersionFeature },
          })),
        },
      }
    }
    default:
      return undefined
  }
}

export function controlValueOf(record: ControlRecord): Buffer {
  switch (record.type) {
    case 'leaderChange': {
      // Kafka 4.4 writes version 0, which names voters without their directories, at kraft.version 1 as well.
      const { version, leaderId, voters, grantingVoters } = record.value
      const idsOnly = (list: typeof voters) => list.map(({ voterId }) => ({ voterId }))
      return encodeToBuffer(leaderChangeMessage, schemaVersion, {
        version,
        leaderId,
        voters: idsOnly(voters),
        grantingVoters: idsOnly(grantingVoters),
      })
    }
    case 'kRaftVersion':
      return encodeToBuffer(kraftVersionRecord, schemaVersion, {
        version: record.value.version,
        kraftVersion: record.value.kRaftVersion,
      })
    case 'voters':
      return encodeToBuffer(votersRecord, schemaVersion, {
        version: record.value.version,
        voters: record.value.voters.map(({ kRaftVersionFeature, ...voter }) => ({
          ...voter,
          kraftVersionFeature: kRaftVersionFeature,
        })),
      })
    default:
      return unreachable(record)
  }
}
