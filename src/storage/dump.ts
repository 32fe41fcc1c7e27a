import { decodeOffsetCheckpoint, type OffsetCheckpointEntry } from '../core/log/checkpoint-text.ts'
import { decodePartitionMetadata, parseSegmentFileName, type SegmentFileKind } from '../core/log/file-names.ts'
import { type EpochStart, LeaderEpochs } from '../core/log/leader-epochs.ts'
import { OffsetIndex } from '../core/log/offset-index.ts'
import type { ProducerEntry } from '../core/log/producer-entry.ts'
import { decodeProducerSnapshot } from '../core/log/producer-snapshot.ts'
import { TimeIndex } from '../core/log/time-index.ts'
import { type AbortedTransactionEntry, decodeTransactionIndex } from '../core/log/transaction-index.ts'
import type { Disk, DiskFile } from '../io/disk.ts'
import { batchHeaderBytes, batchSizeAt, corrupt, readBaseOffset, readBatchSize, readMagic } from '../records/batch.ts'
import { type BatchHeader, decodeBatchHeader } from '../records/batch-header.ts'
import { readLegacyRecords } from '../records/legacy.ts'
import { openBatch } from '../records/open-batch.ts'
import type { Record } from '../records/record.ts'
import { decodeMetaProperties, type MetaProperties } from './directory-files.ts'
import { findNextBatch } from './segment-scan.ts'
import { anyPlace, isLegacy, isStoredCrcValid } from './stored-batch.ts'

/** One thing that a file holds, in the order in which the file holds them. */
export type DumpEntry =
  | { readonly type: 'batch'; readonly position: number; readonly header: BatchHeader }
  /** Of magic 0 or 1; the offset is that of its last record. */
  | {
      readonly type: 'legacyBatch'
      readonly position: number
      readonly sizeBytes: number
      readonly magic: number
      readonly lastOffset: number
    }
  | { readonly type: 'record'; readonly record: Record; readonly isControl: boolean }
  | { readonly type: 'offsetIndexEntry'; readonly offset: number; readonly position: number }
  | { readonly type: 'timeIndexEntry'; readonly timestamp: bigint; readonly offset: number }
  | { readonly type: 'abortedTransaction'; readonly transaction: AbortedTransactionEntry }
  | { readonly type: 'producer'; readonly producerId: number; readonly state: ProducerEntry }
  | { readonly type: 'leaderEpoch'; readonly epoch: EpochStart }
  | { readonly type: 'offset'; readonly entry: OffsetCheckpointEntry }
  | { readonly type: 'topicId'; readonly topicId: string }
  | { readonly type: 'metaProperties'; readonly properties: MetaProperties }
  /** Bytes that are not what they should be; `length` is undefined where it is not known how far that goes. */
  | {
      readonly type: 'problem'
      readonly position: number
      readonly length: number | undefined
      readonly reason: string
    }

export interface DumpOptions {
  /** Show the records of each batch, unpacked to at most this many bytes; undefined: batches only. */
  readonly maxUnpackedBytes: number | undefined
}

const windowBytes = 1024 * 1024
const maxFileBytes = 256 * 1024 * 1024

/** What the file is, by its name; undefined for files that this program does not know. */
export function dumpableKind(name: string): SegmentFileKind | 'checkpoint' | 'epochs' | 'topicId' | 'meta' | undefined {
  const segmentFile = parseSegmentFileName(name)
  if (segmentFile !== undefined) return segmentFile.kind
  if (name === 'leader-epoch-checkpoint') return 'epochs'
  if (name.endsWith('-offset-checkpoint')) return 'checkpoint'
  if (name === 'partition.metadata') return 'topicId'
  if (name === 'meta.properties') return 'meta'
  return /^\d{20}-\d{10}\.checkpoint$/.test(name) ? 'log' : undefined
}

/** Reads a file of a log directory, Millrace's or Kafka's, that no broker needs to be running for. Rejects with `DiskError`. */
export async function* dumpFile(
  disk: Disk,
  path: string,
  options: DumpOptions,
): AsyncGenerator<DumpEntry, void, undefined> {
  const name = path.slice(path.lastIndexOf('/') + 1)
  const kind = dumpableKind(name)
  if (kind === 'log') {
    const file = disk.open(path, 'read')
    try {
      yield* dumpBatches(file, options)
    } finally {
      file.release()
    }
    return
  }
  const bytes = disk.readSmallFile(path, maxFileBytes)
  if (bytes === undefined) yield problem(0, undefined, 'there is no such file')
  else yield* dumpSmallFile(kind, bytes, parseSegmentFileName(name)?.offset ?? 0)
}

async function* dumpBatches(file: DiskFile, options: DumpOptions): AsyncGenerator<DumpEntry, void, undefined> {
  let position = 0
  while (position < file.sizeBytes) {
    const { bytes, isWhole } = await readBatchAt(file, position)
    if (!isWhole || !isStoredCrcValid(bytes, 0, bytes.length)) {
      const next = await findNextBatch(file, position + 1, file.sizeBytes, anyPlace)
      const end = next?.position ?? file.sizeBytes
      yield problem(
        position,
        end - position,
        isWhole ? 'the CRC of the batch is wrong' : 'there is no whole batch here',
      )
      position = end
      continue
    }
    yield* dumpBatch(bytes, position, options)
    position += bytes.length
  }
}

async function readBatchAt(file: DiskFile, position: number): Promise<{ bytes: Buffer; isWhole: boolean }> {
  let bytes = await file.read(position, Math.min(windowBytes, file.sizeBytes - position))
  if (batchSizeAt(bytes, 0) === 0 && bytes.length >= batchHeaderBytes) {
    const size = readBatchSize(bytes, 0)
    if (position + size <= file.sizeBytes) bytes = await file.read(position, size)
  }
  const size = batchSizeAt(bytes, 0)
  const isWhole = size > 0 && size !== corrupt
  return { bytes: isWhole ? bytes.subarray(0, size) : bytes, isWhole }
}

function* dumpBatch(
  bytes: Buffer,
  position: number,
  { maxUnpackedBytes }: DumpOptions,
): Generator<DumpEntry, void, undefined> {
  if (isLegacy(bytes, 0)) {
    yield {
      type: 'legacyBatch',
      position,
      sizeBytes: bytes.length,
      magic: readMagic(bytes, 0),
      lastOffset: readBaseOffset(bytes, 0),
    }
  } else {
    yield { type: 'batch', position, header: decodeBatchHeader(bytes) }
  }
  if (maxUnpackedBytes === undefined) return
  if (isLegacy(bytes, 0)) {
    const records = readLegacyRecords(bytes, 0, bytes.length, maxUnpackedBytes)
    if ('type' in records) yield problem(position, bytes.length, unreadable(records))
    else for (const record of records) yield { type: 'record', record, isControl: false }
    return
  }
  const reader = openBatch(bytes, 0, maxUnpackedBytes)
  if ('type' in reader) {
    yield problem(position, bytes.length, unreadable(reader))
    return
  }
  const { isControl } = decodeBatchHeader(bytes)
  for (let record = reader.next(); record !== undefined; record = reader.next())
    yield { type: 'record', record, isControl }
  if (reader.isCorrupt) yield problem(position, bytes.length, 'the records do not fill the batch as its header says')
}

function unreadable(failure: { type: 'tooLarge' } | { type: 'corrupt'; reason: string }): string {
  return failure.type === 'tooLarge' ? 'the records unpack to more than is allowed' : failure.reason
}

function* dumpSmallFile(
  kind: ReturnType<typeof dumpableKind>,
  bytes: Buffer,
  baseOffset: number,
): Generator<DumpEntry, void, undefined> {
  const entries = decodeEntries(kind, bytes, baseOffset)
  if (entries === undefined)
    yield problem(0, bytes.length, `the file cannot be read as ${kind ?? 'a file of a log directory'}`)
  else yield* entries
}

function decodeEntries(
  kind: ReturnType<typeof dumpableKind>,
  bytes: Buffer,
  baseOffset: number,
): DumpEntry[] | undefined {
  switch (kind) {
    case 'index':
      return OffsetIndex.decode(bytes, Number.POSITIVE_INFINITY)
        ?.entries()
        .map(([offset, position]) => {
          return { type: 'offsetIndexEntry', offset: baseOffset + offset, position }
        })
    case 'timeindex':
      return TimeIndex.decode(bytes)
        ?.entries()
        .map(([timestamp, offset]) => {
          return { type: 'timeIndexEntry', timestamp, offset: baseOffset + offset }
        })
    case 'txnindex':
      return decodeTransactionIndex(bytes, { baseOffset, nextOffset: Number.POSITIVE_INFINITY })?.map(transaction => {
        return { type: 'abortedTransaction', transaction }
      })
    case 'snapshot':
      return decodeProducerSnapshot(bytes)?.map(([producerId, state]) => ({ type: 'producer', producerId, state }))
    case 'epochs':
      return LeaderEpochs.decode(bytes)?.entries.map(epoch => ({ type: 'leaderEpoch', epoch }))
    case 'checkpoint':
      return decodeOffsetCheckpoint(bytes)?.map(entry => ({ type: 'offset', entry }))
    case 'topicId': {
      const topicId = decodePartitionMetadata(bytes)
      return topicId === undefined ? undefined : [{ type: 'topicId', topicId }]
    }
    case 'meta': {
      const read = decodeMetaProperties(bytes)
      return read.type === 'read' ? [{ type: 'metaProperties', properties: read.properties }] : undefined
    }
    default:
      return undefined
  }
}

function problem(position: number, length: number | undefined, reason: string): DumpEntry {
  return { type: 'problem', position, length, reason }
}
