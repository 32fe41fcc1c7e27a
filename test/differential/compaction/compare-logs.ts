import { isDeepStrictEqual } from 'node:util'
import { parseSegmentFileName } from '../../../src/core/log/file-names.ts'
import type { Record } from '../../../src/records/record.ts'
import type { StoredBatch, StoredLog } from './stored-log.ts'

/** When a pass ran, by the clock of the machine. */
export interface Window {
  readonly fromMs: number
  readonly toMs: number
}

export interface Cleaned {
  readonly log: StoredLog
  readonly during: Window
}

export interface Comparison {
  /** What both were made of. */
  readonly before: StoredLog
  readonly kafka: Cleaned
  readonly millrace: Cleaned
  readonly deleteRetentionMs: number
}

/**
 * Where two passes over the same log left something different. Times of cleaning are each one's own, so a delete horizon
 * that was set anew need only lie where its pass puts it; bytes are compared where neither it nor a codec is in them.
 */
export function compareLogs(comparison: Comparison): string[] {
  const { before, kafka, millrace, deleteRetentionMs } = comparison
  const differences: string[] = []
  const sourceOf = new Map(before.batches.map(batch => [batch.header.baseOffset, batch]))
  const found = new Map(millrace.log.batches.map(batch => [batch.header.baseOffset, batch]))
  for (const one of kafka.log.batches) {
    const other = found.get(one.header.baseOffset)
    found.delete(one.header.baseOffset)
    if (other === undefined) differences.push(`only kafka has ${shown(one)}`)
    else differences.push(...compareBatches(one, other, sourceOf.get(one.header.baseOffset)))
  }
  for (const other of found.values()) differences.push(`only millrace has ${shown(other)}`)
  for (const [name, { log, during }] of Object.entries({ kafka, millrace })) {
    for (const batch of log.batches) {
      const source = sourceOf.get(batch.header.baseOffset)
      differences.push(...checkBatch(batch, source, during, deleteRetentionMs).map(what => `${name}: ${what}`))
    }
  }
  for (const part of ['segments', 'files'] as const) {
    const [one, two] = [kafka, millrace].map(({ log }) => new Set<unknown>(log[part].filter(isOfSegment(before)))) as [
      Set<unknown>,
      Set<unknown>,
    ]
    if (one.symmetricDifference(two).size === 0) continue
    differences.push(`${part}: only kafka ${[...one.difference(two)]}, only millrace ${[...two.difference(one)]}`)
  }
  for (const [name, entries] of Object.entries(kafka.log.transactionIndexes)) {
    const other = millrace.log.transactionIndexes[name]
    if (other !== undefined && other !== entries) differences.push(`${name}: kafka ${entries}, millrace ${other}`)
  }
  return differences
}

/** A snapshot of a clean stop in the middle of a segment goes when the broker starts, or later: compaction has no part in it. */
function isOfSegment({ segments }: StoredLog): (file: number | string) => boolean {
  return file => {
    const parsed = typeof file === 'string' ? parseSegmentFileName(file) : undefined
    return parsed?.kind !== 'snapshot' || segments.includes(parsed.offset)
  }
}

function compareBatches(one: StoredBatch, other: StoredBatch, source: StoredBatch | undefined): string[] {
  const differences: string[] = []
  const note = (what: string, kafka: unknown, millrace: unknown): void => {
    differences.push(`${what} of ${shown(one)}: kafka ${kafka}, millrace ${millrace}`)
  }
  const keepsBase = source !== undefined && keepsBaseTimestamp(one, other, source)
  if (keepsBase) differences.push(`millrace keeps the base timestamp of ${shown(one)}`)
  if (one.segment !== other.segment) note('segment', one.segment, other.segment)
  const hasNewHorizon = one.header.deleteHorizon !== undefined && source?.header.deleteHorizon === undefined
  for (const field of Object.keys(one.header) as (keyof typeof one.header)[]) {
    if (field === 'crc' || (field === 'sizeBytes' && (keepsBase || hasNewHorizon || one.header.codec !== 0))) continue
    if (field === 'baseTimestamp' && keepsBase) continue
    if (hasNewHorizon && (field === 'deleteHorizon' || field === 'baseTimestamp')) {
      if ((one.header[field] === undefined) !== (other.header[field] === undefined))
        note(field, one.header[field], other.header[field])
    } else if (one.header[field] !== other.header[field]) note(field, one.header[field], other.header[field])
  }
  const [left, right] = [one, other].map(({ records }) => records.map(textOf))
  if (!isDeepStrictEqual(left, right)) note('records', left, right)
  const comparesBytes = one.header.codec === 0 && !hasNewHorizon
  if (comparesBytes && differences.length === 0 && !one.bytes.equals(other.bytes))
    note('bytes', one.bytes.toString('hex'), other.bytes.toString('hex'))
  return differences
}

/** Kafka writes the records that stay anew, from the first one's time; Millrace copies them, so they count from where they did. */
function keepsBaseTimestamp(one: StoredBatch, other: StoredBatch, source: StoredBatch): boolean {
  const isShrunk = one.records.length > 0 && one.records.length < source.records.length
  return (
    isShrunk &&
    one.header.baseTimestamp !== other.header.baseTimestamp &&
    other.header.deleteHorizon === undefined &&
    one.header.baseTimestamp === one.records[0]!.timestamp &&
    other.header.baseTimestamp === source.header.baseTimestamp
  )
}

/** What holds of every batch, whoever cleaned. */
function checkBatch(
  batch: StoredBatch,
  source: StoredBatch | undefined,
  during: Window,
  retentionMs: number,
): string[] {
  if (source === undefined) return [`${shown(batch)} comes from nowhere`]
  const wrong: string[] = []
  if (!batch.isCrcValid) wrong.push(`the CRC of ${shown(batch)} is wrong`)
  const isRewritten = batch.header.deleteHorizon !== source.header.deleteHorizon
  if (batch.records.length === source.records.length && !isRewritten && !batch.bytes.equals(source.bytes))
    wrong.push(`${shown(batch)} lost nothing and is not what it was`)
  const had = new Set(source.records.map(textOf))
  for (const record of batch.records) if (!had.has(textOf(record))) wrong.push(`${textOf(record)} was not there`)
  const { deleteHorizon } = batch.header
  if (deleteHorizon !== undefined && source.header.deleteHorizon === undefined) {
    const cleanedAt = Number(deleteHorizon) - retentionMs
    if (cleanedAt < during.fromMs || cleanedAt > during.toMs)
      wrong.push(`the horizon of ${shown(batch)} is ${deleteHorizon}, not from ${during.fromMs} to ${during.toMs}`)
  }
  return wrong
}

function textOf({ offset, timestamp, key, value, headers }: Record): string {
  const bytes = (part: Buffer | null): string => (part === null ? 'null' : part.toString('latin1'))
  const pairs = headers.map(header => [header.key, bytes(header.value)])
  return JSON.stringify([offset, String(timestamp), bytes(key), bytes(value), pairs])
}

function shown({ segment, header, records }: StoredBatch): string {
  const kind = header.isControl ? 'control ' : header.isTransactional ? 'transactional ' : ''
  const producer = header.producerId < 0 ? '' : ` of ${header.producerId}/${header.producerEpoch}`
  const range = `${header.baseOffset}..${header.lastOffset}`
  return `${kind}batch ${range}${producer} with ${records.length} in segment ${segment}`
}
