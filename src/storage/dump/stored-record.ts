import { decodeControlRecord } from '../../protocol/control-record.ts'
import type {
  CoordinatorRecord,
  CoordinatorRecordTypes,
  UnknownCoordinatorRecord,
} from '../../protocol/coordinator-record.ts'
import { groupRecords } from '../../protocol/group-record.ts'
import { decodeMetadataRecord } from '../../protocol/metadata-record.ts'
import { ProtocolError } from '../../protocol/protocol-error.ts'
import { shareRecords } from '../../protocol/share-record.ts'
import { transactionRecords } from '../../protocol/transaction-record.ts'

/** A record of Kafka's own logs, decoded by its type. `value` is null for a tombstone; `key` is there in coordinators' logs. */
export interface DecodedRecord {
  readonly type: string
  readonly key?: unknown
  readonly value: unknown
}

export type RecordDecoder = (key: Buffer | null, value: Buffer | null) => DecodedRecord

const noBytes = Buffer.alloc(0)

/** How the data records of a topic are decoded; undefined for users' topics. */
export function recordDecoder(topic: string | undefined): RecordDecoder | undefined {
  switch (topic) {
    case '__cluster_metadata':
      return safely((_key, value) => {
        const record = decodeMetadataRecord(value ?? noBytes)
        return record.type === 'unknown' ? { type: `unknown (${record.typeNumber})`, value: record } : record
      })
    case '__consumer_offsets':
      return safely((key, value) => ofCoordinator(groupRecords.decode(key ?? noBytes, value)))
    case '__transaction_state':
      return safely((key, value) => ofCoordinator(transactionRecords.decode(key ?? noBytes, value)))
    case '__share_group_state':
      return safely((key, value) => ofCoordinator(shareRecords.decode(key ?? noBytes, value)))
    default:
      return undefined
  }
}

/** Of a control batch of any topic. */
export const decodeControl: RecordDecoder = safely((key, value) => {
  const record = decodeControlRecord(key ?? noBytes, value ?? noBytes)
  return record.type === 'unknown' ? { type: `unknown (${record.typeNumber})`, value: record } : record
})

function ofCoordinator(record: CoordinatorRecord<CoordinatorRecordTypes> | UnknownCoordinatorRecord): DecodedRecord {
  return 'typeNumber' in record ? { type: `unknown (${record.typeNumber})`, value: record } : (record as DecodedRecord)
}

function safely(decode: RecordDecoder): RecordDecoder {
  return (key, value) => {
    try {
      return decode(key, value)
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error
      return { type: 'undecodable', value: error.message }
    }
  }
}
