import { isUtf8 } from 'node:buffer'
import type { ProducerRecord, Record as ReadRecord } from '../client/index.ts'
import { CommandFailure } from './output.ts'

/** A record as `consume --json` prints it: kcat's envelope. Bytes that are no text are base64, and a field says so. */
interface Envelope {
  readonly topic: string
  readonly partition: number
  readonly offset: number
  readonly ts: number
  readonly headers: readonly (string | null)[]
  readonly key: string | null
  readonly key_encoding?: 'base64'
  readonly payload: string | null
  readonly payload_encoding?: 'base64'
}

export function envelopeOf(topic: string, partition: number, record: ReadRecord): Envelope {
  const key = textOf(record.key)
  const payload = textOf(record.value)
  return {
    topic,
    partition,
    offset: record.offset,
    ts: Number(record.timestamp),
    headers: record.headers.flatMap(({ key: name, value }) => [name, value === null ? null : value.toString('utf8')]),
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

/** What `envelopeOf` printed, as a record to send. Topic, partition and offset are where it was, not where it goes. */
export function recordOfEnvelope(line: string): Omit<ProducerRecord, 'topic'> {
  let envelope: Envelope
  try {
    envelope = JSON.parse(line)
  } catch {
    throw new CommandFailure(`this line is no JSON: ${line.slice(0, 100)}`)
  }
  const { key, payload, headers = [], ts } = envelope
  const bytes = (text: string | null | undefined, encoding: 'base64' | undefined) =>
    text === null || text === undefined ? null : Buffer.from(text, encoding ?? 'utf8')
  const pairs = []
  for (let i = 0; i + 1 < headers.length; i += 2) pairs.push({ key: headers[i] ?? '', value: headers[i + 1] })
  return {
    key: bytes(key, envelope.key_encoding),
    value: bytes(payload, envelope.payload_encoding),
    headers: pairs,
    timestamp: typeof ts === 'number' && ts >= 0 ? ts : undefined,
  }
}
