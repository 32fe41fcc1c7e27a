import { ErrorCode } from '../base/error-code.ts'
import type {
  Duplicate,
  LogConfig,
  NeedsPacking,
  NeedsUnpacking,
  PreparedBatch,
  RecordError,
  Refusal,
  Reservation,
  ReserveRequest,
} from '../core/log/partition-log.ts'
import type { ProducerStates } from '../core/log/producer-states.ts'
import {
  isControlBatch,
  readBatchSize,
  readCodec,
  readLastOffsetDelta,
  readProducerId,
  setBaseOffset,
  setMaxTimestampAndType,
  setPartitionLeaderEpoch,
} from '../records/batch.ts'
import type { BatchValidator } from '../records/batch-validator.ts'
import { Codec, codecNamed } from '../records/compression/codec.ts'
import { rebuildBatch, repackBatch } from '../records/rebuild.ts'

/** What of a log decides whether a batch may follow. */
export interface ReservingLog {
  readonly config: LogConfig
  readonly producers: ProducerStates
  readonly nextOffset: number
}

const noErrors: readonly RecordError[] = Object.freeze([])

export function refuse(errorCode: ErrorCode, message?: string, recordErrors = noErrors): Refusal {
  return { type: 'refused', errorCode, message, recordErrors }
}

/** Checks one batch and gives it the next offsets. Changes the batch in place, and the log not at all. */
export function reserveBatch(
  validator: BatchValidator,
  log: ReservingLog,
  request: ReserveRequest,
): Reservation | Duplicate | Refusal | NeedsUnpacking | NeedsPacking {
  const checked = request.origin === 'client' ? checkClientBatch(validator, log, request) : checkTrusted(log, request)
  if (checked.type !== 'checked') return checked
  const { bytes } = checked
  if (readProducerId(bytes, 0) >= 0) {
    const answer = log.producers.check(bytes, 0, request.origin)
    if (answer.type === 'refused') return refuse(answer.errorCode, answer.message)
    if (answer.type === 'duplicate') {
      const { lastOffset, offsetDelta, timestamp } = answer.batch
      // Kafka answers the batch's own timestamp here, also where the topic keeps the producer's time.
      const logAppendTimeMs = timestamp <= Number.MAX_SAFE_INTEGER ? Number(timestamp) : -1
      return { type: 'duplicate', baseOffset: lastOffset - offsetDelta, lastOffset, logAppendTimeMs }
    }
  }
  const baseOffset = log.nextOffset
  const lastOffset = baseOffset + readLastOffsetDelta(bytes, 0)
  if (!Number.isSafeInteger(lastOffset + 1)) return refuse(ErrorCode.invalidRecord, 'the log has no offsets left')
  setBaseOffset(bytes, 0, baseOffset)
  setPartitionLeaderEpoch(bytes, 0, request.leaderEpoch)
  const logAppendTimeMs = setTimestamps(bytes, log.config, request, checked.maxTimestamp)
  return { type: 'reserved', baseOffset, lastOffset, logAppendTimeMs, bytes }
}

interface CheckedBatch {
  readonly type: 'checked'
  readonly bytes: Buffer
  /** Undefined: as the header says. */
  readonly maxTimestamp: bigint | undefined
}

function checkClientBatch(
  validator: BatchValidator,
  { config }: ReservingLog,
  { batch, now, prepared }: ReserveRequest,
): CheckedBatch | Refusal | NeedsUnpacking | NeedsPacking {
  const checked = validator.validate(batch, config, now.wallMs, prepared?.check)
  if (checked.type === 'needsUnpacking') return checked
  if (checked.type === 'rejected') return refuse(checked.errorCode, checked.message, checked.recordErrors)
  const bytes = batch.length === checked.sizeBytes ? batch : batch.subarray(0, checked.sizeBytes)
  if (!checked.needsRebuild) return { type: 'checked', bytes, maxTimestamp: checked.maxTimestamp }
  const codec =
    config.compressionType === 'producer' ? readCodec(bytes, 0) : (codecNamed(config.compressionType) ?? Codec.none)
  const rebuilt = prepared === undefined ? rebuild(bytes, codec, config) : repack(bytes, codec, config, prepared)
  if (!Buffer.isBuffer(rebuilt)) return rebuilt
  if (rebuilt.length > config.maxMessageBytes) {
    return refuse(ErrorCode.messageTooLarge, 'the batch is larger than max.message.bytes once it is compressed anew')
  }
  return { type: 'checked', bytes: rebuilt, maxTimestamp: checked.maxTimestamp }
}

function rebuild(bytes: Buffer, codec: number, config: LogConfig): Buffer | Refusal {
  // The validator has unpacked it already, so it is not larger than it may be.
  const rebuilt = rebuildBatch(bytes, { codec, level: levelOf(codec, config), maxBytes: Number.MAX_SAFE_INTEGER })
  return Buffer.isBuffer(rebuilt) ? rebuilt : refuse(ErrorCode.invalidRecord, 'the records of the batch cannot be read')
}

/** Of a large batch the records are neither written anew nor packed on the loop. */
function repack(
  bytes: Buffer,
  codec: number,
  config: LogConfig,
  { check, records, packed }: PreparedBatch,
): Buffer | Refusal | NeedsPacking {
  if (!check.walk.isConsecutive) {
    return refuse(ErrorCode.invalidRecord, 'the offsets of a large compressed batch have gaps')
  }
  if (packed === undefined) return { type: 'needsPacking', codec, level: levelOf(codec, config), records }
  // The topic's codec may be another by now: the batch says what it was packed with.
  return repackBatch(bytes, packed.codec, packed.bytes)
}

function checkTrusted({ config }: ReservingLog, { batch, origin }: ReserveRequest): CheckedBatch | Refusal {
  if (origin === 'coordinator' && readBatchSize(batch, 0) > config.maxMessageBytes) {
    return refuse(ErrorCode.messageTooLarge, 'the batch is larger than max.message.bytes')
  }
  return { type: 'checked', bytes: batch, maxTimestamp: undefined }
}

/** Answers the time that the broker gave the batch, -1 if it gave none. */
function setTimestamps(
  bytes: Buffer,
  { timestampType }: LogConfig,
  { now, origin }: ReserveRequest,
  maxTimestamp: bigint | undefined,
): number {
  if (timestampType === 'LogAppendTime' && origin !== 'raftLeader' && !isControlBatch(bytes, 0)) {
    const logAppendTimeMs = Math.floor(now.wallMs)
    setMaxTimestampAndType(bytes, 0, { maxTimestamp: BigInt(logAppendTimeMs), timestampType })
    return logAppendTimeMs
  }
  if (maxTimestamp !== undefined) setMaxTimestampAndType(bytes, 0, { maxTimestamp, timestampType: 'CreateTime' })
  return -1
}

function levelOf(codec: number, { gzipLevel, lz4Level, zstdLevel }: LogConfig): number | undefined {
  if (codec === Codec.gzip) return gzipLevel
  if (codec === Codec.lz4) return lz4Level
  return codec === Codec.zstd ? zstdLevel : undefined
}
