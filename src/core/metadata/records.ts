import { decode, encode } from '../../protocol/codec.ts'
import { Reader } from '../../protocol/reader.ts'
import {
  brokerRegistrationChangeRecord,
  fenceBrokerRecord,
  registerBrokerRecord,
  registerControllerRecord,
  unfenceBrokerRecord,
  unregisterBrokerRecord,
  unregisterControllerRecord,
} from '../../protocol/records/metadata-nodes.ts'
import {
  accessControlEntryRecord,
  delegationTokenRecord,
  removeAccessControlEntryRecord,
  removeDelegationTokenRecord,
  removeUserScramCredentialRecord,
  userScramCredentialRecord,
} from '../../protocol/records/metadata-security.ts'
import {
  clientQuotaRecord,
  configRecord,
  featureLevelRecord,
  producerIdsRecord,
} from '../../protocol/records/metadata-settings.ts'
import {
  clearElrRecord,
  partitionChangeRecord,
  partitionRecord,
  removeTopicRecord,
  topicRecord,
} from '../../protocol/records/metadata-topics.ts'
import {
  abortTransactionRecord,
  beginTransactionRecord,
  endTransactionRecord,
  noOpRecord,
  zkMigrationStateRecord,
} from '../../protocol/records/metadata-transactions.ts'
import type { Infer, Message } from '../../protocol/schema.ts'
import { Writer } from '../../protocol/writer.ts'
import type { KeyValueCodec } from '../state-machine/record-batch-codec.ts'

const schemas = {
  registerBroker: registerBrokerRecord,
  unregisterBroker: unregisterBrokerRecord,
  topic: topicRecord,
  partition: partitionRecord,
  config: configRecord,
  partitionChange: partitionChangeRecord,
  fenceBroker: fenceBrokerRecord,
  unfenceBroker: unfenceBrokerRecord,
  removeTopic: removeTopicRecord,
  delegationToken: delegationTokenRecord,
  userScramCredential: userScramCredentialRecord,
  featureLevel: featureLevelRecord,
  clientQuota: clientQuotaRecord,
  producerIds: producerIdsRecord,
  brokerRegistrationChange: brokerRegistrationChangeRecord,
  accessControlEntry: accessControlEntryRecord,
  removeAccessControlEntry: removeAccessControlEntryRecord,
  noOp: noOpRecord,
  zkMigrationState: zkMigrationStateRecord,
  removeUserScramCredential: removeUserScramCredentialRecord,
  beginTransaction: beginTransactionRecord,
  endTransaction: endTransactionRecord,
  abortTransaction: abortTransactionRecord,
  removeDelegationToken: removeDelegationTokenRecord,
  registerController: registerControllerRecord,
  clearElr: clearElrRecord,
  unregisterController: unregisterControllerRecord,
} as const

type Schemas = typeof schemas
export type KnownType = keyof Schemas

/** A record of the metadata log whose type and version this release knows; its fields are those of Kafka's schema. */
export type RecordOf<K extends KnownType> = K extends KnownType
  ? { readonly type: K; readonly version: number } & Infer<Schemas[K]>
  : never
export type KnownRecord = RecordOf<KnownType>

/** Written by a newer Kafka: kept as it is, for the snapshots. */
export interface UnknownMetadataRecord {
  readonly type: 'unknown'
  /** Record type and version, or what else is strange about it. */
  readonly name: string
  readonly value: Buffer
}

export type MetadataRecord = KnownRecord | UnknownMetadataRecord

const frameVersion = 1

const typeOfKey: ReadonlyMap<number, KnownType> = new Map(
  Object.entries(schemas).map(([type, schema]) => [schema.key, type as KnownType]),
)

/** Key: none. Value: frame version, record type and record version as unsigned varints, then the body. */
export const metadataRecords: KeyValueCodec<MetadataRecord> = {
  encode(record) {
    return { key: null, value: record.type === 'unknown' ? record.value : encodeKnown(record) }
  },
  decode(_key, value) {
    return decodeRecord(value ?? Buffer.alloc(0))
  },
}

function encodeKnown(record: KnownRecord): Buffer {
  const schema: Message = schemas[record.type]
  const writer = new Writer({ chunkBytes: 128, copiesAll: true })
  writer.uvarint(frameVersion)
  writer.uvarint(schema.key)
  writer.uvarint(record.version)
  encode(schema, record.version, record, writer)
  return writer.finish().parts[0] as Buffer
}

function decodeRecord(value: Buffer): MetadataRecord {
  if (value.length === 0) return unknown(value, 'a record without a value')
  let reader = new Reader(value)
  const frame = reader.uvarint()
  if (frame !== frameVersion) return unknown(value, `frame version ${frame}`)
  const key = reader.uvarint()
  const version = reader.uvarint()
  const type = typeOfKey.get(key)
  const schema: Message | undefined = type && schemas[type]
  if (!schema || version < schema.minVersion || version > schema.maxVersion) {
    return unknown(value, `record type ${key}, version ${version}`)
  }
  // Its byte fields would be views of the batch, which is not kept.
  if (type === 'userScramCredential') reader = new Reader(Buffer.from(value), reader.position)
  return { type, version, ...decode(schema, version, reader) } as unknown as KnownRecord
}

/** The bytes belong to the batch: what is kept is a copy. */
function unknown(value: Buffer, name: string): UnknownMetadataRecord {
  return { type: 'unknown', name, value: Buffer.from(value) }
}
