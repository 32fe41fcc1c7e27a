import * as batch from './batch.ts'

/** A header as an object, for tools, tests and whoever reads few batches. The hot paths read fields where they lie. */
export interface BatchHeader {
  readonly baseOffset: number
  readonly lastOffset: number
  readonly lastOffsetDelta: number
  readonly sizeBytes: number
  readonly partitionLeaderEpoch: number
  readonly magic: number
  readonly crc: number
  readonly codec: number
  readonly timestampType: batch.TimestampType
  readonly isTransactional: boolean
  readonly isControl: boolean
  readonly deleteHorizon: bigint | undefined
  readonly baseTimestamp: bigint
  readonly maxTimestamp: bigint
  readonly producerId: number
  readonly producerEpoch: number
  readonly baseSequence: number
  readonly lastSequence: number
  readonly recordCount: number
}

/** `at` is the start of a whole batch of magic 2. */
export function decodeBatchHeader(bytes: Buffer, at = 0): BatchHeader {
  return {
    baseOffset: batch.readBaseOffset(bytes, at),
    lastOffset: batch.readLastOffset(bytes, at),
    lastOffsetDelta: batch.readLastOffsetDelta(bytes, at),
    sizeBytes: batch.readBatchSize(bytes, at),
    partitionLeaderEpoch: batch.readPartitionLeaderEpoch(bytes, at),
    magic: batch.readMagic(bytes, at),
    crc: batch.readCrc(bytes, at),
    codec: batch.readCodec(bytes, at),
    timestampType: batch.readTimestampType(bytes, at),
    isTransactional: batch.isTransactional(bytes, at),
    isControl: batch.isControlBatch(bytes, at),
    deleteHorizon: batch.readDeleteHorizon(bytes, at),
    baseTimestamp: batch.readBaseTimestamp(bytes, at),
    maxTimestamp: batch.readMaxTimestamp(bytes, at),
    producerId: batch.readProducerId(bytes, at),
    producerEpoch: batch.readProducerEpoch(bytes, at),
    baseSequence: batch.readBaseSequence(bytes, at),
    lastSequence: batch.readLastSequence(bytes, at),
    recordCount: batch.readRecordCount(bytes, at),
  }
}

/** One batch, or legacy entry, of a run of them. */
export interface BatchSpan {
  readonly at: number
  readonly sizeBytes: number
}

/** The whole batches of `bytes`, in order. Stops at a truncated tail or at bytes that are no batch. */
export function* batchSpans(bytes: Buffer): Generator<BatchSpan, void, undefined> {
  for (let at = 0; ; ) {
    const sizeBytes = batch.batchSizeAt(bytes, at)
    if (sizeBytes <= 0) return
    yield { at, sizeBytes }
    at += sizeBytes
  }
}
