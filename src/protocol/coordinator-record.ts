/**
 * Records of a coordinator's topic. Key: int16 type and a body of version 0. Value: int16 version and body, or null for a
 * tombstone.
 */
import { decode, encode } from './codec.ts'
import { ProtocolError } from './protocol-error.ts'
import { Reader } from './reader.ts'
import type { Infer, Input, Message } from './schema.ts'
import { Writer } from './writer.ts'

/** The record types of one topic, by the names that code knows them by. Key and value schema carry the type's number. */
export type CoordinatorRecordTypes = { readonly [type: string]: { readonly key: Message; readonly value: Message } }

/** What is written: the value is null for a tombstone. */
export type CoordinatorRecordInput<T extends CoordinatorRecordTypes> = {
  [K in keyof T]: { readonly type: K; readonly key: Input<T[K]['key']>; readonly value: Input<T[K]['value']> | null }
}[keyof T]

/** What is read. */
export type CoordinatorRecord<T extends CoordinatorRecordTypes> = {
  [K in keyof T]: { readonly type: K; readonly key: Infer<T[K]['key']>; readonly value: Infer<T[K]['value']> | null }
}[keyof T]

/** A type or a value version of a newer or fuller Kafka. To be kept as it is. */
export interface UnknownCoordinatorRecord {
  readonly type: 'unknown'
  readonly typeNumber: number
  /** -1 for a tombstone. */
  readonly valueVersion: number
}

export interface CoordinatorRecordCodec<T extends CoordinatorRecordTypes> {
  /** `valueVersion` is that of the value's schema; it has no meaning for a tombstone. */
  encode(
    record: CoordinatorRecordInput<T>,
    valueVersion: number,
  ): { readonly key: Buffer; readonly value: Buffer | null }
  /** Throws ProtocolError for bytes that are not what their type and version say. Views of the input. */
  decode(key: Buffer, value: Buffer | null): CoordinatorRecord<T> | UnknownCoordinatorRecord
}

export function coordinatorRecordCodec<const T extends CoordinatorRecordTypes>(types: T): CoordinatorRecordCodec<T> {
  const byNumber = new Map(Object.entries(types).map(([type, { key, value }]) => [key.key, { type, key, value }]))
  return {
    encode(record, valueVersion) {
      const { key, value } = types[record.type as string]
      return {
        key: withVersion(key.key, key, 0, record.key),
        value: record.value === null ? null : withVersion(valueVersion, value, valueVersion, record.value),
      }
    },
    decode(keyBytes, valueBytes) {
      const keyReader = new Reader(keyBytes)
      const typeNumber = keyReader.int16()
      const valueReader = valueBytes === null ? undefined : new Reader(valueBytes)
      const valueVersion = valueReader?.int16() ?? -1
      const known = byNumber.get(typeNumber)
      if (known === undefined || valueVersion > known.value.maxVersion) {
        return { type: 'unknown', typeNumber, valueVersion }
      }
      const key = decode(known.key, 0, keyReader)
      if (valueReader === undefined) return { type: known.type, key, value: null } as never
      if (valueVersion < known.value.minVersion) {
        throw new ProtocolError(`${known.value.name} has no version ${valueVersion}`, 0)
      }
      return { type: known.type, key, value: decode(known.value, valueVersion, valueReader) } as never
    },
  }
}

function withVersion(prefix: number, message: Message, version: number, body: unknown): Buffer {
  const writer = new Writer({ chunkBytes: 256, copiesAll: true })
  writer.int16(prefix)
  encode(message, version, body as never, writer)
  return writer.finishBuffer()
}
