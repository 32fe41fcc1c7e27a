import { isUtf8 } from 'node:buffer'
import type { ProducerRecord, Record as ReadRecord } from '../client/index.ts'

/** A record as `consume --json` prints it: kcat's envelope. Bytes that are no text are base64, and a field says so. */
interface Envelope {
  readonly topic: string
  readonly partition: number
  readonly offset: number
  readonly ts: number
  /** Name, value, name, value. */
  readonly headers: readonly (string | null)[]
  /** Of all values: the names are text in any case. */
  readonly headers_encoding?: 'base64'
  readonly key: string | null
  readonly key_encoding?: 'base64'
  readonly payload: string | null
  readonly payload_encoding?: 'base64'
}

export function envelopeOf(topic: string, partition: number, record: ReadRecord): Envelope {
  const key = textOf(record.key)
  const payload = textOf(record.value)
  const areTexts = record.headers.every(({ value }) => value === null || isUtf8(value))
  const encoding = areTexts ? 'utf8' : 'base64'
  return {
    topic,
    partition,
    offset: record.offset,
    ts: Number(record.timestamp),
    headers: record.headers.flatMap(({ key: name, value }) => [name, value?.toString(encoding) ?? null]),
    ...(areTexts ? {} : { headers_encoding: 'base64' as const }),
    key: key.text,
    ...(key.isBase64 ? { key_encoding: 'base64' as const } : {}),
    payload: payload.text,
    ...(payload.isBase64 ? { payload_encoding: 'base64' as const } : {}),
  }
}

function textOf(bytes: Buffer | null): { readonly text: string | null; readonly isBase64: boolean } {
  if (bytes === null) return { text: null, isBase64: false }
  return isUtf8(bytes)
    ? { text: bytes.toString('utf8'), isBase64: false }
    : { text: bytes.toString('base64'), isBase64: true }
}

/** Why a line is no record, for people. */
export class NotARecord {
  readonly reason: string

  constructor(reason: string) {
    this.reason = reason
  }
}

/**
 * What `envelopeOf` printed, as a record to send. Topic, partition and offset are where it was, not where it goes. Fields may
 * be left out; one that is there has to be what it is there.
 */
export function recordOfEnvelope(line: string): Omit<ProducerRecord, 'topic'> | NotARecord {
  const envelope = parsed(line)
  if (envelope instanceof NotARecord) return envelope
  const { ts = -1 } = envelope
  const key = bytesOf(envelope, 'key')
  const value = bytesOf(envelope, 'payload')
  const headers = headersOf(envelope)
  for (const one of [key, value, headers]) if (one instanceof NotARecord) return one
  if (!Number.isSafeInteger(ts)) return new NotARecord(`ts is milliseconds, not ${shown(ts)}`)
  return {
    key: key as Buffer | null,
    value: value as Buffer | null,
    headers: headers as Header[],
    timestamp: (ts as number) >= 0 ? (ts as number) : undefined,
  }
}

type Fields = Readonly<Partial<Record<string, unknown>>>

interface Header {
  readonly key: string
  readonly value: Buffer | null
}

function parsed(line: string): Fields | NotARecord {
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch {
    return new NotARecord(`this is no JSON: ${line.slice(0, maxShown)}`)
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return new NotARecord(`an object is needed, not ${shown(value)}`)
  return value as Fields
}

function bytesOf(fields: Fields, name: 'key' | 'payload'): Buffer | null | NotARecord {
  const text = fields[name] ?? null
  if (text === null) return null
  if (typeof text !== 'string') return new NotARecord(`${name} is a text or null, not ${shown(text)}`)
  const encoding = encodingOf(fields, name)
  return encoding instanceof NotARecord ? encoding : Buffer.from(text, encoding)
}

function encodingOf(fields: Fields, name: string): 'base64' | 'utf8' | NotARecord {
  const encoding = fields[`${name}_encoding`] ?? 'utf8'
  if (encoding === 'base64' || encoding === 'utf8') return encoding
  return new NotARecord(`${name}_encoding is base64 or left out, not ${shown(encoding)}`)
}

function headersOf(fields: Fields): Header[] | NotARecord {
  const list = fields.headers ?? []
  const encoding = encodingOf(fields, 'headers')
  if (encoding instanceof NotARecord) return encoding
  const wrong = new NotARecord(`headers are a list of name, value, name, value, not ${shown(list)}`)
  if (!Array.isArray(list) || list.length % 2 !== 0) return wrong
  const headers: Header[] = []
  for (let at = 0; at < list.length; at += 2) {
    const [key, value] = [list[at], list[at + 1]]
    if (typeof key !== 'string' || (typeof value !== 'string' && value !== null)) return wrong
    headers.push({ key, value: value === null ? null : Buffer.from(value, encoding) })
  }
  return headers
}

const maxShown = 100

function shown(value: unknown): string {
  return JSON.stringify(value).slice(0, maxShown)
}
