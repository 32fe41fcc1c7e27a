/**
 * Values of records in `__cluster_metadata`: uvarint 1 (the frame's version), uvarint record type, uvarint version, body.
 * Their keys are null.
 */
import { decode, encode } from './codec.ts'
import { ProtocolError } from './protocol-error.ts'
import { Reader } from './reader.ts'
import {
  brokerRegistrationChangeRecord,
  fenceBrokerRecord,
  registerBrokerRecord,
  registerControllerRecord,
  unfenceBrokerRecord,
  unregisterBrokerRecord,
  unregisterControllerRecord,
} from './records/metadata-nodes.ts'
import {
  accessControlEntryRecord,
  delegationTokenRecord,
  removeAccessControlEntryRecord,
  removeDelegationTokenRecord,
  removeUserScramCredentialRecord,
  userScramCredentialRecord,
} from './records/metadata-security.ts'
import { clientQuotaRecord, configRecord, featureLevelRecord, producerIdsRecord } from './records/metadata-settings.ts'
import {
  clearElrRecord,
  partitionChangeRecord,
  partitionRecord,
  removeTopicRecord,
  topicRecord,
} from './records/metadata-topics.ts'
import {
  abortTransactionRecord,
  beginTransactionRecord,
  endTransactionRecord,
  noOpRecord,
  zkMigrationStateRecord,
} from './records/metadata-transactions.ts'
import type { Infer, Input, Message } from './schema.ts'
import { Writer } from './writer.ts'

const types = {
  registerBroker: registerBrokerRecord,
  unregisterBroker: unregisterBrokerRecord,
  fenceBroker: fenceBrokerRecord,
  unfenceBroker: unfenceBrokerRecord,
  brokerRegistrationChange: brokerRegistrationChangeRecord,
  registerController: registerControllerRecord,
  unregisterController: unregisterControllerRecord,
  topic: topicRecord,
  removeTopic: removeTopicRecord,
  partition: partitionRecord,
  partitionChange: partitionChangeRecord,
  clearElr: clearElrRecord,
  config: configRecord,
  clientQuota: clientQuotaRecord,
  featureLevel: featureLevelRecord,
  producerIds: producerIdsRecord,
  accessControlEntry: accessControlEntryRecord,
  removeAccessControlEntry: removeAccessControlEntryRecord,
  userScramCredential: userScramCredentialRecord,
  removeUserScramCredential: removeUserScramCredentialRecord,
  delegationToken: delegationTokenRecord,
  removeDelegationToken: removeDelegationTokenRecord,
  beginTransaction: beginTransactionRecord,
  endTransaction: endTransactionRecord,
  abortTransaction: abortTransactionRecord,
  noOp: noOpRecord,
  zkMigrationState: zkMigrationStateRecord,
}

type Types = typeof types
export type MetadataRecordType = keyof Types

/** What is read, and what deciders exchange: every field is there. */
export type MetadataRecord = {
  [K in MetadataRecordType]: { readonly type: K; readonly value: Infer<Types[K]> }
}[MetadataRecordType]

/** What is written. */
export type MetadataRecordInput = {
  [K in MetadataRecordType]: { readonly type: K; readonly value: Input<Types[K]> }
}[MetadataRecordType]

/** A type or version of a newer Kafka. To be kept as it is. */
export interface UnknownMetadataRecord {
  readonly type: 'unknown'
  readonly typeNumber: number
  readonly version: number
}

const frameVersion = 1
const byNumber = new Map(
  Object.entries(types).map(([type, schema]) => [schema.key, { type, schema: schema as Message }]),
)

export function encodeMetadataRecord(record: MetadataRecordInput, version: number): Buffer {
  const schema: Message = types[record.type]
  const writer = new Writer({ chunkBytes: 256, copiesAll: true })
  writer.uvarint(frameVersion)
  writer.uvarint(schema.key)
  writer.uvarint(version)
  encode(schema, version, record.value as never, writer)
  return writer.finishBuffer()
}

/** Throws ProtocolError for bytes that are not what their type and version say, and for bytes behind the record. */
export function decodeMetadataRecord(bytes: Buffer): MetadataRecord | UnknownMetadataRecord {
  const reader = new Reader(bytes)
  const frame = reader.uvarint()
  if (frame !== frameVersion) throw new ProtocolError(`a metadata record has frame version ${frame}, not 1`, 0)
  const typeNumber = reader.uvarint()
  const version = reader.uvarint()
  const known = byNumber.get(typeNumber)
  if (known === undefined || version > known.schema.maxVersion) return { type: 'unknown', typeNumber, version }
  const value = decode(known.schema, version, reader)
  if (reader.left > 0) throw new ProtocolError(`${reader.left} bytes lie behind ${known.schema.name}`, reader.position)
  return { type: known.type, value } as never
}

/** The version in which a record is written at a metadata.version (7 or more), so that every node there can read it. */
export function metadataRecordVersion(type: MetadataRecordType, metadataVersion: number): number {
  switch (type) {
    case 'registerBroker':
      return countReached(metadataVersion, [7, 8, 17, 30])
    case 'brokerRegistrationChange':
      return countReached(metadataVersion, [7, 17, 30])
    case 'partition':
    case 'partitionChange':
      return countReached(metadataVersion, [17, 23])
    default:
      return 0
  }
}

function countReached(level: number, thresholds: readonly number[]): number {
  return thresholds.filter(threshold => level >= threshold).length
}
