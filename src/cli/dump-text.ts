import type { BatchHeader } from '../records/batch-header.ts'
import { codecName } from '../records/compression/codec.ts'
import type { DumpItem } from '../storage/dump/dump-item.ts'
import { printLine } from './output.ts'
import { envelopeOf } from './record-json.ts'

/** Prints what `dump` shows, as JSON or as lines that are indented under the file they belong to. */
export function dumpPrinter(json: boolean): (item: DumpItem) => void {
  let path = ''
  return item => {
    if (item.type === 'file') path = item.path
    if (json) printLine(jsonOf(item, path))
    else process.stdout.write(`${textOf(item)}\n`)
  }
}

function jsonOf(item: DumpItem, file: string): unknown {
  switch (item.type) {
    case 'file':
      return { type: 'file', file: item.path, kind: item.kind }
    case 'batch':
      return { type: 'batch', file, position: item.position, ...item.batch, codec: codecName(item.batch.codec) }
    case 'abortedTransaction':
      return { type: item.type, file, ...item.transaction }
    case 'record': {
      const { offset, timestamp } = item.record
      if (item.decoded !== undefined) return { type: 'record', file, offset, timestamp, decoded: plain(item.decoded) }
      const { key, payload, headers, ...encodings } = envelopeOf('', 0, item.record)
      const { key_encoding, payload_encoding } = encodings
      return { type: 'record', file, offset, timestamp, headers, key, key_encoding, payload, payload_encoding }
    }
    default:
      return { ...item, file }
  }
}

function textOf(item: DumpItem): string {
  switch (item.type) {
    case 'file':
      return item.path
    case 'batch':
      return `  ${batchText(item.batch, item.position)}`
    case 'legacyEntry':
      return `  up to ${item.lastOffset}  at ${item.position}, ${item.sizeBytes} bytes, magic ${item.magic}`
    case 'record':
      return `    ${recordText(item)}`
    case 'damage':
      return `  DAMAGED  bytes ${item.position} to ${item.end}: ${item.reason}`
    case 'offsetIndexEntry':
      return `  offset ${item.offset}  at ${item.position}`
    case 'timeIndexEntry':
      return `  ${timeText(item.timestamp)}  offset ${item.offset}`
    case 'abortedTransaction': {
      const { producerId, firstOffset, lastOffset, lastStableOffset } = item.transaction
      return `  ${firstOffset}..${lastOffset}  producer ${producerId}, aborted, last stable offset ${lastStableOffset}`
    }
    case 'producer': {
      const open = item.currentTxnFirstOffset < 0 ? '' : `, transaction open from ${item.currentTxnFirstOffset}`
      const last = `last sequence ${item.lastSequence} at offset ${item.lastOffset}`
      return `  producer ${item.producerId}  epoch ${item.producerEpoch}, ${last}, ${timeText(item.lastTimestamp)}${open}`
    }
    case 'leaderEpoch':
      return `  epoch ${item.leaderEpoch}  from ${item.startOffset}`
    case 'checkpoint':
      return `  ${item.topic}-${item.partition}  ${item.offset}`
    case 'text':
      return `  ${printable(item.text)}`
  }
}

function batchText(batch: BatchHeader, position: number): string {
  const { baseOffset, lastOffset, recordCount, sizeBytes, partitionLeaderEpoch, producerId } = batch
  const parts = [
    `at ${position}, ${sizeBytes} bytes`,
    `${recordCount} ${recordCount === 1 ? 'record' : 'records'}`,
    `epoch ${partitionLeaderEpoch}`,
    `${timeText(batch.maxTimestamp)}${batch.timestampType === 'LogAppendTime' ? ' (append time)' : ''}`,
  ]
  if (batch.codec !== 0) parts.push(codecName(batch.codec))
  if (producerId >= 0) {
    const sequences = batch.isControl ? '' : ` sequence ${batch.baseSequence}..${batch.lastSequence}`
    parts.push(`producer ${producerId} epoch ${batch.producerEpoch}${sequences}`)
  }
  if (batch.isTransactional) parts.push('transactional')
  if (batch.isControl) parts.push('control')
  if (batch.deleteHorizon !== undefined) parts.push(`delete horizon ${timeText(batch.deleteHorizon)}`)
  return `${baseOffset}..${lastOffset}  ${parts.join(', ')}`
}

function recordText({ record, decoded }: DumpItem & { readonly type: 'record' }): string {
  const { offset, timestamp } = record
  if (decoded !== undefined) {
    const key = decoded.key === undefined ? '' : ` ${JSON.stringify(plain(decoded.key))}`
    return `${offset}  ${decoded.type}${key} ${decoded.value === null ? 'tombstone' : JSON.stringify(plain(decoded.value))}`
  }
  const { key, payload, headers } = envelopeOf('', 0, record)
  const parts = [timeText(timestamp), `key ${JSON.stringify(key)}`, `value ${JSON.stringify(payload)}`]
  if (headers.length > 0) parts.push(`headers ${JSON.stringify(headers)}`)
  return `${offset}  ${parts.join(', ')}`
}

/** What stands in a damaged file could tell the terminal to do anything. */
function printable(text: string): string {
  return /[\p{Cc}\ufffd]/u.test(text) ? JSON.stringify(text) : text
}

const lastDateMs = 8_640_000_000_000_000n

function timeText(ms: bigint): string {
  return ms < 0n || ms > lastDateMs ? `${ms} ms` : new Date(Number(ms)).toISOString()
}

/** As JSON can hold it: bytes as base64, whole numbers beyond 2^53 as text. */
function plain(value: unknown): unknown {
  if (Buffer.isBuffer(value)) return value.toString('base64')
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : String(value)
  if (Array.isArray(value)) return value.map(plain)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, plain(one)]))
}
