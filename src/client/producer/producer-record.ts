import type { RecordHeader } from '../../records/record.ts'
import { invalidArgument, type MillraceError } from '../millrace-error.ts'

/** Bytes, or text that is sent as UTF-8. */
export type BytesLike = Buffer | Uint8Array | string

/** A record to be sent. Buffers are copied before `send` returns. */
export interface ProducerRecord {
  readonly topic: string
  /** Chosen by the key, or for records without a key by the producer, unless given. */
  readonly partition?: number
  /** Records with equal keys go to the same partition. null or left out: no key. */
  readonly key?: BytesLike | null
  /** null: a tombstone, which deletes the key on a compacted topic. */
  readonly value: BytesLike | null
  /** Names may repeat; their order is kept. */
  readonly headers?: readonly { readonly key: string; readonly value: BytesLike | null }[]
  /** Milliseconds since 1970. Now, unless given. */
  readonly timestamp?: bigint | number
}

/** Where a record is. */
export interface RecordMetadata {
  readonly topic: string
  readonly partition: number
  /** -1 with acks=0, and where the broker recognised a repetition so old that it no longer knows its offset. */
  readonly offset: number
  /** The one given, or the broker's own where the topic has LogAppendTime. */
  readonly timestamp: bigint
}

/** What became of each record of a call of which some failed, in the order of the call. */
export type SendOutcome = RecordMetadata | MillraceError

const noHeaders: readonly RecordHeader[] = Object.freeze([])

/** The parts of a record as they are written; an error for what can be none. */
export function partsOf(record: ProducerRecord) {
  const { timestamp } = record
  if (timestamp !== undefined && !isTimestamp(timestamp)) {
    return invalidArgument(`a timestamp is whole milliseconds, not ${String(timestamp)}`)
  }
  const key = bytesOf(record.key)
  const value = bytesOf(record.value)
  const headers = headersOf(record)
  if (key === undefined || value === undefined || headers === undefined) {
    return invalidArgument('keys, values and header values are Buffers, Uint8Arrays, strings or null')
  }
  return { key, value, headers, timestamp }
}

function isTimestamp(timestamp: bigint | number): boolean {
  if (typeof timestamp === 'bigint') return BigInt.asIntN(64, timestamp) === timestamp
  return Number.isSafeInteger(timestamp) && Math.abs(timestamp) < 2 ** 52
}

function bytesOf(value: BytesLike | null | undefined): Buffer | null | undefined {
  if (value === null || value === undefined) return null
  if (typeof value === 'string') return Buffer.from(value)
  if (Buffer.isBuffer(value)) return value
  return value instanceof Uint8Array ? Buffer.from(value.buffer, value.byteOffset, value.byteLength) : undefined
}

function headersOf({ headers }: ProducerRecord): readonly RecordHeader[] | undefined {
  if (headers === undefined || headers.length === 0) return noHeaders
  const converted: RecordHeader[] = []
  for (const { key, value } of headers) {
    const bytes = bytesOf(value)
    if (typeof key !== 'string' || bytes === undefined) return undefined
    converted.push({ key, value: bytes })
  }
  return converted
}
