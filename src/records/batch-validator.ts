import { ErrorCode } from '../base/error-code.ts'
import * as batch from './batch.ts'
import type { BlockReader } from './compression/block-reader.ts'
import { Codec, codecNamed } from './compression/codec.ts'
import { blockReader, decompressSync } from './compression/decompress.ts'
import type { Decompressed, DecompressFailure } from './compression/decompressed.ts'
import { freeBytes } from './compression/free-bytes.ts'
import { LargeBatchCheck } from './large-batch-check.ts'
import { type RecordError, type RecordRules, RecordWalk, type TimestampBounds } from './record-walk.ts'

/** The settings of a log that decide what it takes; a log's configuration has them under these names. */
export interface BatchRules {
  readonly maxMessageBytes: number
  /** Of one record of a compressed batch. */
  readonly maxDecompressedMessageBytes: number
  readonly isCompacted: boolean
  readonly timestampType: batch.TimestampType
  /** Infinity or 2^63 - 1: no bound. */
  readonly timestampBeforeMaxMs: number
  readonly timestampAfterMaxMs: number
  readonly compressionType: 'producer' | 'uncompressed' | 'gzip' | 'snappy' | 'lz4' | 'zstd'
}

/** Shorter blocks cost the collector less than giving them back does. */
const freedFromBytes = 16 * 1024

export interface AcceptedBatch {
  readonly type: 'accepted'
  /** Bytes after the batch are no part of it: Kafka drops a truncated second batch. */
  readonly sizeBytes: number
  readonly recordCount: number
  /** What the stored header must say under CreateTime; -1 when no record has a timestamp. */
  readonly maxTimestamp: bigint
  /** The batch may not be stored as it is: its codec is not the log's, or its offsets have to be written anew. */
  readonly needsRebuild: boolean
}

export interface RejectedBatch {
  readonly type: 'rejected'
  readonly errorCode: ErrorCode
  readonly message: string
  readonly recordErrors: readonly RecordError[]
}

/** It is too large for the loop: ask again once its records were unpacked and `check` has gone through them. */
export interface PackedBatch {
  readonly type: 'needsUnpacking'
  readonly codec: number
  readonly maxBytes: number
  readonly check: LargeBatchCheck
  /** A view of the caller's bytes. */
  readonly input: Buffer
}

/** gzip and zstd up to this many bytes of output are unpacked on the loop: about a millisecond of it. */
const maxInlineStreamBytes = 1 << 20
/** lz4 and snappy are faster, and are unpacked and walked block by block: a few milliseconds. */
const maxInlineBlockBytes = 1 << 24
/** Of more records than this, less: the smallest take some 150 nanoseconds each to walk. */
const maxInlineRecords = 100_000

const largestInt64 = 2n ** 63n - 1n
const noErrors: readonly RecordError[] = Object.freeze([])

function rejected(errorCode: ErrorCode, message: string, recordErrors = noErrors): RejectedBatch {
  return { type: 'rejected', errorCode, message, recordErrors }
}

/**
 * What Kafka checks of a Produce request's records before it looks at the partition: there is one batch, of magic 2, and
 * of no codec that is younger than the request's version. Undefined when all is well.
 */
export function checkProduceRecords(records: Buffer | null, apiVersion: number): RejectedBatch | undefined {
  if (records === null) return rejected(ErrorCode.invalidRecord, 'a produce request has one batch per partition')
  const size = batch.batchSizeAt(records, 0)
  if (size === batch.corrupt) return rejected(ErrorCode.corruptMessage, 'the bytes are no record batch')
  if (size === batch.truncated)
    return rejected(ErrorCode.invalidRecord, 'a produce request has one batch per partition')
  if (batch.readMagic(records, 0) !== 2) return rejected(ErrorCode.invalidRecord, 'a produced batch has magic 2')
  if (apiVersion < 7 && batch.readCodec(records, 0) === Codec.zstd) {
    return rejected(ErrorCode.unsupportedCompressionType, 'zstd needs Produce version 7')
  }
  const next = batch.batchSizeAt(records, size)
  if (next === batch.corrupt) return rejected(ErrorCode.corruptMessage, 'the bytes after the batch are no record batch')
  if (next !== batch.truncated)
    return rejected(ErrorCode.invalidRecord, 'a produce request has one batch per partition')
  return undefined
}

/**
 * Checks batches that clients produce, as Kafka 4.4 does and with its error codes. One of them serves a whole broker: it
 * keeps a scratch for the walk, and no state between calls.
 */
export class BatchValidator {
  readonly #walk = new RecordWalk()
  readonly #maxUncompressedBytes: number
  readonly #checksCompressed: boolean

  /** `maxUncompressedBytes` bounds what one batch may unpack to; `checksCompressed` false takes compressed records unseen. */
  constructor({ maxUncompressedBytes, checksCompressed }: { maxUncompressedBytes: number; checksCompressed: boolean }) {
    this.#maxUncompressedBytes = maxUncompressedBytes
    this.#checksCompressed = checksCompressed
  }

  /**
   * `bytes` begin with a batch that passed `checkProduceRecords`. `wallMs` is the broker's time. `check` is that of an
   * earlier answer `needsUnpacking`, and is done. Changes nothing.
   */
  validate(
    bytes: Buffer,
    rules: BatchRules,
    wallMs: number,
    check?: LargeBatchCheck,
  ): AcceptedBatch | RejectedBatch | PackedBatch {
    const sizeBytes = batch.batchSizeAt(bytes, 0)
    if (sizeBytes <= 0) return rejected(ErrorCode.corruptMessage, 'the bytes are no record batch')
    const wrong = checkHeader(bytes, sizeBytes, rules.maxMessageBytes)
    if (wrong !== undefined) return wrong
    const codec = batch.readCodec(bytes, 0)
    if (codec !== Codec.none && !this.#checksCompressed) return this.#unseen(bytes, sizeBytes, rules)

    if (check !== undefined) return check.isMalformed ? malformed(check.walk) : verdictOf(check.walk, bytes, rules)

    const recordRules = recordRulesOf(bytes, rules, wallMs)
    this.#walk.start(recordRules)
    if (codec === Codec.none) {
      const end = this.#walk.feed(bytes, batch.batchHeaderBytes, sizeBytes)
      if (end !== sizeBytes || !this.#walk.isComplete) return malformed(this.#walk)
    } else {
      const input = bytes.subarray(batch.batchHeaderBytes, sizeBytes)
      const problem = this.#walkCompressed(codec, input, recordRules.recordCount)
      if (problem === 'tooLong') return this.#needsUnpacking(codec, input, recordRules)
      if (problem !== undefined) return problem
    }
    return verdictOf(this.#walk, bytes, rules)
  }

  #walkCompressed(codec: number, input: Buffer, recordCount: number): RejectedBatch | 'tooLong' | undefined {
    const reader = blockReader(codec, input)
    if (reader !== undefined)
      return this.#walkBlocks(
        input,
        reader,
        recordCount > maxInlineRecords ? maxInlineStreamBytes : maxInlineBlockBytes,
      )
    const result = decompressSync(codec, input, Math.min(this.#maxUncompressedBytes, maxInlineStreamBytes))
    const isTooLong = result.type === 'tooLarge' && this.#maxUncompressedBytes > maxInlineStreamBytes
    return isTooLong ? 'tooLong' : this.#walkUnpacked(result)
  }

  #walkBlocks(input: Buffer, reader: BlockReader, inlineBytes: number): RejectedBatch | 'tooLong' | undefined {
    const maxBytes = Math.min(this.#maxUncompressedBytes, inlineBytes)
    let totalBytes = 0
    for (let block = reader.next(maxBytes); block !== undefined; block = reader.next(maxBytes - totalBytes)) {
      totalBytes += block.length
      if (!this.#walk.feedPiece(block)) return malformed(this.#walk)
      // Left to the garbage collector, blocks would bring it on: at full load a fifth of all time.
      if (block.length >= freedFromBytes && block.buffer !== input.buffer) freeBytes(block)
    }
    if (reader.failure === undefined) return this.#walk.hasEndedWell ? undefined : malformed(this.#walk)
    const isTooLong = reader.failure.type === 'tooLarge' && this.#maxUncompressedBytes > inlineBytes
    return isTooLong ? 'tooLong' : failed(reader.failure)
  }

  #walkUnpacked(result: Decompressed): RejectedBatch | undefined {
    if (result.type !== 'done') return failed(result)
    const { output } = result
    const end = this.#walk.feed(output, 0, output.length)
    return end === output.length && this.#walk.isComplete ? undefined : malformed(this.#walk)
  }

  #needsUnpacking(codec: number, input: Buffer, rules: RecordRules): PackedBatch {
    return {
      type: 'needsUnpacking',
      codec,
      maxBytes: this.#maxUncompressedBytes,
      input,
      check: new LargeBatchCheck(rules),
    }
  }

  #unseen(bytes: Buffer, sizeBytes: number, rules: BatchRules): AcceptedBatch {
    return {
      type: 'accepted',
      sizeBytes,
      recordCount: batch.readRecordCount(bytes, 0),
      maxTimestamp: batch.readMaxTimestamp(bytes, 0),
      needsRebuild: !isStoredAs(batch.readCodec(bytes, 0), rules),
    }
  }
}

function recordRulesOf(bytes: Buffer, rules: BatchRules, wallMs: number): RecordRules {
  const saysAppendTime = batch.readTimestampType(bytes, 0) === 'LogAppendTime'
  return {
    recordCount: batch.readRecordCount(bytes, 0),
    baseTimestamp: batch.readBaseTimestamp(bytes, 0),
    appendTime: saysAppendTime ? batch.readMaxTimestamp(bytes, 0) : undefined,
    requiresKey: rules.isCompacted,
    maxRecordBytes:
      batch.readCodec(bytes, 0) === Codec.none ? Number.POSITIVE_INFINITY : rules.maxDecompressedMessageBytes,
    timestampBounds: rules.timestampType === 'CreateTime' ? timestampBounds(rules, wallMs) : undefined,
  }
}

/** What a walk has found that has come to its end. */
function verdictOf(walk: RecordWalk, bytes: Buffer, rules: BatchRules): AcceptedBatch | RejectedBatch {
  if (walk.errorCount > 0) return recordsRejected(walk)
  const codec = batch.readCodec(bytes, 0)
  return {
    type: 'accepted',
    sizeBytes: batch.readBatchSize(bytes, 0),
    recordCount: batch.readRecordCount(bytes, 0),
    maxTimestamp: walk.maxTimestamp,
    needsRebuild: !isStoredAs(codec, rules) || (codec !== Codec.none && !walk.isConsecutive),
  }
}

function recordsRejected({ errors, errorCount, hasTimestampError }: RecordWalk): RejectedBatch {
  if (hasTimestampError) {
    const message = 'One or more records have been rejected due to invalid timestamp'
    return rejected(ErrorCode.invalidTimestamp, message, errors)
  }
  const [{ message: reason } = { message: undefined }] = errors
  const because = reason === undefined ? '' : `: ${reason}`
  const message = `One or more records have been rejected due to ${errorCount} record errors in total${because}`
  return rejected(ErrorCode.invalidRecord, message, errors)
}

/** Without a bound Kafka reckons with the largest int64, which leaves out timestamps close to the smallest. */
function timestampBounds({ timestampBeforeMaxMs, timestampAfterMaxMs }: BatchRules, wallMs: number): TimestampBounds {
  return {
    earliest: BigInt(wallMs) - asInt64(timestampBeforeMaxMs),
    latest: BigInt(wallMs) + asInt64(timestampAfterMaxMs),
  }
}

function asInt64(milliseconds: number): bigint {
  return milliseconds >= Number.MAX_SAFE_INTEGER ? largestInt64 : BigInt(milliseconds)
}

function failed(failure: DecompressFailure): RejectedBatch {
  return failure.type === 'corrupt'
    ? rejected(ErrorCode.invalidRecord, failure.reason)
    : rejected(ErrorCode.messageTooLarge, 'the batch unpacks to more than millrace.max.uncompressed.batch.bytes')
}

const malformedRecords = rejected(ErrorCode.invalidRecord, 'the records do not fill the batch as its header says')
const longRecord = rejected(
  ErrorCode.invalidRecord,
  'a record of the batch unpacks to more than max.decompressed.message.bytes',
)

function malformed(walk: RecordWalk): RejectedBatch {
  return walk.hasLongRecord ? longRecord : malformedRecords
}

function isStoredAs(codec: number, { compressionType }: BatchRules): boolean {
  return compressionType === 'producer' || codecNamed(compressionType) === codec
}

function checkHeader(bytes: Buffer, sizeBytes: number, maxMessageBytes: number): RejectedBatch | undefined {
  const invalid = ErrorCode.invalidRecord
  if (batch.readMagic(bytes, 0) !== 2) return rejected(invalid, 'a produced batch has magic 2')
  if (batch.readBaseOffset(bytes, 0) !== 0) return rejected(invalid, 'a produced batch has base offset 0')
  if (sizeBytes > maxMessageBytes)
    return rejected(ErrorCode.messageTooLarge, 'the batch is larger than max.message.bytes')
  if (!batch.isCrcValid(bytes, 0, sizeBytes)) return rejected(ErrorCode.corruptMessage, 'the CRC of the batch is wrong')
  if (batch.readCodec(bytes, 0) > Codec.zstd) return rejected(invalid, 'the codec of the batch is unknown')
  const recordCount = batch.readRecordCount(bytes, 0)
  if (recordCount <= 0) return rejected(invalid, 'a produced batch has records')
  if (batch.readLastOffsetDelta(bytes, 0) + 1 !== recordCount) {
    return rejected(invalid, 'the offsets of the batch do not match its number of records')
  }
  if (batch.isControlBatch(bytes, 0)) return rejected(invalid, 'clients may not write control records')
  const producerId = batch.readProducerId(bytes, 0)
  if (producerId > -1 && batch.readBaseSequence(bytes, 0) < 0) {
    return rejected(invalid, 'a batch with a producer id has a sequence')
  }
  // Kafka would take it, but no broker gives such ids: they are given in blocks of a thousand, from 0 on.
  if (producerId === Number.POSITIVE_INFINITY)
    return rejected(invalid, 'the producer id is larger than any that is given')
  return undefined
}
