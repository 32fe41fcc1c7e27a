/**
 * Records of control batches. Key: int16 version 0, int16 type. Value of the transaction markers: int16 version and a body;
 * of the quorum's records: a body whose first field is its version.
 */
import { decode, encode } from './codec.ts'
import { ProtocolError } from './protocol-error.ts'
import { Reader } from './reader.ts'
import {
  endTxnMarker,
  kraftVersionRecord,
  leaderChangeMessage,
  snapshotFooterRecord,
  snapshotHeaderRecord,
  votersRecord,
} from './records/control.ts'
import type { Infer, Input, Message } from './schema.ts'
import { Writer } from './writer.ts'

const types = {
  abort: { number: 0, schema: endTxnMarker },
  commit: { number: 1, schema: endTxnMarker },
  leaderChange: { number: 2, schema: leaderChangeMessage },
  snapshotHeader: { number: 3, schema: snapshotHeaderRecord },
  snapshotFooter: { number: 4, schema: snapshotFooterRecord },
  kraftVersion: { number: 5, schema: kraftVersionRecord },
  kraftVoters: { number: 6, schema: votersRecord },
} as const

type Types = typeof types
export type ControlRecordType = keyof Types
export type ControlRecord = {
  [K in ControlRecordType]: { readonly type: K; readonly value: Infer<Types[K]['schema']> }
}[ControlRecordType]
export type ControlRecordInput = {
  [K in ControlRecordType]: { readonly type: K; readonly value: Input<Types[K]['schema']> }
}[ControlRecordType]

/** A type of a newer Kafka. To be skipped. */
export interface UnknownControlRecord {
  readonly type: 'unknown'
  readonly typeNumber: number
}

const byNumber = new Map<number, { type: string; schema: Message }>(
  Object.entries(types).map(([type, { number, schema }]) => [number, { type, schema: schema as Message }]),
)

/** The version of a marker is 0; that of any other record is the `version` in its value. */
export function encodeControlRecord(record: ControlRecordInput): { readonly key: Buffer; readonly value: Buffer } {
  const { number, schema } = types[record.type]
  const key = newWriter()
  key.int16(0)
  key.int16(number)
  const value = newWriter()
  const version = 'version' in record.value ? record.value.version : 0
  if (record.type === 'abort' || record.type === 'commit') value.int16(version)
  encode(schema as Message, version, record.value as never, value)
  return { key: key.finishBuffer(), value: value.finishBuffer() }
}

/** Throws ProtocolError for bytes that are not what their type and version say. Newer versions are read as the newest known. */
export function decodeControlRecord(key: Buffer, value: Buffer): ControlRecord | UnknownControlRecord {
  const keyReader = new Reader(key)
  if (keyReader.int16() < 0) throw new ProtocolError('the version of a control record is negative', 0)
  const typeNumber = keyReader.int16()
  const known = byNumber.get(typeNumber)
  if (known === undefined) return { type: 'unknown', typeNumber }
  const reader = new Reader(value)
  const version = reader.int16()
  if (version < 0) throw new ProtocolError(`${known.schema.name} has no version ${version}`, 0)
  if (known.schema.name !== endTxnMarker.name) reader.position = 0
  const { schema } = known
  return { type: known.type, value: decode(schema, Math.min(version, schema.maxVersion), reader) } as never
}

function newWriter(): Writer {
  return new Writer({ chunkBytes: 128, copiesAll: true })
}
