import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { parseSegmentFileName } from '../../../src/core/log/file-names.ts'
import { isCrcValid } from '../../../src/records/batch.ts'
import { type BatchHeader, batchSpans, decodeBatchHeader } from '../../../src/records/batch-header.ts'
import { openBatch } from '../../../src/records/open-batch.ts'
import { RecordReader, type Record as StoredRecord } from '../../../src/records/record.ts'

const maxUnpackedBytes = 1 << 28

export interface StoredBatch {
  /** Base offset of the segment. */
  readonly segment: number
  readonly header: BatchHeader
  readonly isCrcValid: boolean
  readonly bytes: Buffer
  readonly records: readonly StoredRecord[]
}

export interface StoredLog {
  /** Base offsets. */
  readonly segments: readonly number[]
  readonly batches: readonly StoredBatch[]
  /** Names of the files that belong to segments, say something and are not about to be removed. */
  readonly files: readonly string[]
  /** What lies in the transaction indexes, by name. */
  readonly transactionIndexes: Readonly<Record<string, string>>
}

/** What lies in a partition's directory. Throws at bytes that are no batch. */
export function readStoredLog(dir: string): StoredLog {
  const files = readdirSync(dir)
    .filter(name => parseSegmentFileName(name) !== undefined && !name.endsWith('.deleted'))
    .filter(name => !name.endsWith('.txnindex') || statSync(join(dir, name)).size > 0)
    .sort()
  const segments = files.flatMap(name => {
    const { offset, kind, suffix } = parseSegmentFileName(name)!
    return kind === 'log' && suffix === undefined ? [offset] : []
  })
  const indexes = files.filter(name => name.endsWith('.txnindex'))
  return {
    segments,
    batches: segments.flatMap(base => batchesOf(join(dir, `${String(base).padStart(20, '0')}.log`), base)),
    files,
    transactionIndexes: Object.fromEntries(indexes.map(name => [name, readFileSync(join(dir, name)).toString('hex')])),
  }
}

function batchesOf(file: string, segment: number): StoredBatch[] {
  const bytes = readFileSync(file)
  const batches: StoredBatch[] = []
  let end = 0
  for (const { at, sizeBytes } of batchSpans(bytes)) {
    const reader = openBatch(bytes, at, maxUnpackedBytes)
    if (!(reader instanceof RecordReader)) throw new Error(`${file}: the batch at ${at} cannot be unpacked`)
    const records = [...reader]
    if (reader.isCorrupt) throw new Error(`${file}: the records of the batch at ${at} are malformed`)
    const own = bytes.subarray(at, at + sizeBytes)
    batches.push({
      segment,
      header: decodeBatchHeader(bytes, at),
      isCrcValid: isCrcValid(bytes, at, sizeBytes),
      bytes: own,
      records,
    })
    end = at + sizeBytes
  }
  if (end !== bytes.length) throw new Error(`${file}: ${bytes.length - end} bytes after the last batch`)
  return batches
}
