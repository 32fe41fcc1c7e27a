import type { ErrorCode } from '../../base/error-code.ts'
import type { Now } from '../../base/time.ts'
import type { Uuid } from '../../base/uuid.ts'
import type { LargeBatchCheck } from '../../records/large-batch-check.ts'
import type { EpochStart } from './leader-epochs.ts'

/** Who appends decides which checks apply. */
export type AppendOrigin =
  /** A Produce request: everything that Kafka checks of a client's batch. */
  | 'client'
  /** A replicated state machine of this broker: trusted batches, already encoded, no producer checks. */
  | 'coordinator'
  /** The metadata quorum's leader: control batches and metadata records. */
  | 'raftLeader'

export interface RecordError {
  /** Index of the record in its batch. */
  readonly batchIndex: number
  readonly message: string | undefined
}

/** Nothing was changed; the code goes to the caller. */
export interface Refusal {
  readonly type: 'refused'
  readonly errorCode: ErrorCode
  readonly message: string | undefined
  readonly recordErrors: readonly RecordError[]
}

/** The batch is one of the producer's last five: it is in the log already, or is in flight, at these offsets. */
export interface Duplicate {
  readonly type: 'duplicate'
  readonly baseOffset: number
  readonly lastOffset: number
  /** The max timestamp of the batch, also where the topic keeps the producer's time: Kafka answers that to a duplicate. */
  readonly logAppendTimeMs: number
}

/** Offsets that are promised to one batch. It must be appended, or abandoned, in the turn in which it was made. */
export interface Reservation {
  readonly type: 'reserved'
  readonly baseOffset: number
  readonly lastOffset: number
  /** -1 where the topic keeps the producer's time. */
  readonly logAppendTimeMs: number
  /**
   * The batch as it will lie on disk: the caller's bytes patched in place, or a new buffer where it had to be rebuilt.
   * In the former case valid only as long as the caller's bytes are.
   */
  readonly bytes: Buffer
}

/**
 * A compressed batch that must be unpacked before anything can be said of it, and that is too large for the loop. The caller
 * keeps the partition's queue waiting, has it unpacked by `Compute`, lets `check` step through the output in turns of their
 * own, and calls `reserve` again.
 */
export interface NeedsUnpacking {
  readonly type: 'needsUnpacking'
  readonly codec: number
  readonly maxBytes: number
  readonly check: LargeBatchCheck
  /** The compressed records section of the batch (a view of the caller's bytes). */
  readonly input: Buffer
}

/** Such a batch, checked, is to be stored in another codec: `reserve` is called again with its records in that one. */
export interface NeedsPacking {
  readonly type: 'needsPacking'
  readonly codec: number
  readonly level: number | undefined
  readonly records: Buffer
}

/** What has become of a batch since `NeedsUnpacking` was answered. */
export interface PreparedBatch {
  readonly check: LargeBatchCheck
  /** Its unpacked records. */
  readonly records: Buffer
  /** The same in the codec that `NeedsPacking` named, when that was answered. */
  readonly packed?: { readonly codec: number; readonly bytes: Buffer }
}

export interface ReserveRequest {
  /** Exactly one batch. May be changed in place. */
  readonly batch: Buffer
  readonly origin: AppendOrigin
  readonly leaderEpoch: number
  readonly now: Now
  readonly prepared?: PreparedBatch
}

/** Up to which point a reader may see. */
export type ReadIsolation = 'logEndOffset' | 'highWatermark' | 'lastStableOffset'

export interface ReadRequest {
  readonly offset: number
  readonly maxBytes: number
  /** The first batch is returned whole even when it is larger than `maxBytes`. */
  readonly minOneBatch: boolean
  readonly isolation: ReadIsolation
  /** Memory is short: ranges of files where they can be had, rather than copies. */
  readonly sparesMemory?: boolean
}

export interface AbortedTransaction {
  readonly producerId: number
  readonly firstOffset: number
}

/**
 * What a read found: bytes of whole batches, except that the last may be cut by `maxBytes` (as Kafka cuts it). The first
 * batch may begin below the offset asked for. `parts` are bytes in memory or ranges of files.
 */
export interface LogRead<Range> {
  readonly type: 'read'
  readonly parts: readonly (Buffer | Range)[]
  readonly byteLength: number
  /** Ordered by first offset; undefined unless the isolation is `lastStableOffset`. */
  readonly abortedTransactions: readonly AbortedTransaction[] | undefined
  /** There is nothing, now and until something is appended: from the offset to the log end all offsets are left out. */
  readonly isGapToEnd?: boolean
  /**
   * More can be read, and was not for another reason than `maxBytes`: it lies in a later segment, or one read does not go that
   * far. Whoever wants more than this gets it by reading on, not by waiting.
   */
  readonly isBehind?: boolean
}

/** The offset is outside of [log start offset, log end offset], or the directory has failed. */
export interface ReadRefusal {
  readonly type: 'refused'
  readonly errorCode: ErrorCode
}

export interface EpochEndOffset {
  /** The largest epoch that is not above the one asked for; -1 when there is none. */
  readonly leaderEpoch: number
  /** The first offset of the epoch after it, or the log end offset; -1 when there is none. */
  readonly endOffset: number
}

export interface TimestampAndOffset {
  readonly type?: undefined
  readonly timestamp: bigint
  readonly offset: number
  readonly leaderEpoch: number
}

/** Told of everything that moves. Every call comes in a later turn than the one that caused it. */
export interface PartitionLogListener {
  /** Writes have completed: `logEndOffset` has grown. */
  logEndOffsetMoved(): void
  /** A sync has completed: `flushedOffset` has grown. */
  flushedOffsetMoved(): void
  logStartOffsetMoved(): void
  /**
   * The write of the batch at `fromOffset` failed, and all later ones in flight with it. The log, producer state and
   * epoch cache are back at `fromOffset`, or the directory is offline (`isOffline`).
   */
  appendsFailed(failure: { fromOffset: number; isOffline: boolean }): void
}

/** The settings of one log, as the committed configuration says at this moment. Names are Kafka's topic settings. */
export interface LogConfig {
  readonly segmentBytes: number
  readonly segmentMs: number
  readonly segmentJitterMs: number
  readonly segmentIndexBytes: number
  readonly indexIntervalBytes: number
  readonly retentionBytes: number
  readonly retentionMs: number
  readonly maxMessageBytes: number
  readonly maxDecompressedMessageBytes: number
  readonly compressionType: 'producer' | 'uncompressed' | 'gzip' | 'snappy' | 'lz4' | 'zstd'
  readonly gzipLevel: number
  readonly lz4Level: number
  readonly zstdLevel: number
  readonly isCompacted: boolean
  readonly isDeleted: boolean
  readonly timestampType: 'CreateTime' | 'LogAppendTime'
  readonly timestampBeforeMaxMs: number
  readonly timestampAfterMaxMs: number
  readonly flushMessages: number
  readonly flushMs: number
  readonly fileDeleteDelayMs: number
  readonly deleteRetentionMs: number
  readonly minCleanableDirtyRatio: number
  readonly minCompactionLagMs: number
  readonly maxCompactionLagMs: number
  readonly preallocate: boolean
}

/**
 * One partition's log: where the synchronous core meets the disk.
 *
 * The order of an append: `reserve` checks everything, the producer's sequences against state that includes batches in
 * flight, and writes nothing. `append` follows in the same turn: from then on `nextOffset`, producer state and epoch
 * cache include the batch. When its write has completed, in order, `logEndOffset` moves and the listener is told. Only
 * `logEndOffset`, or `flushedOffset`, is shown to followers, fetches and the high watermark.
 *
 * `Range` is what the engine uses for bytes that are to be sent from a file.
 */
export interface PartitionLog<Range> {
  readonly topicId: Uuid
  readonly topic: string
  readonly partition: number

  /** First offset that can still be read. Never falls. */
  readonly logStartOffset: number
  /** The offset after the last batch whose write has completed. */
  readonly logEndOffset: number
  /** The offset that the next reservation gets: `logEndOffset` plus what is in flight. */
  readonly nextOffset: number
  /** Below it everything is synced. */
  readonly flushedOffset: number
  /** Kept here because reads, the checkpoint and the last stable offset depend on it; moved by replication only. */
  readonly highWatermark: number
  /**
   * min(high watermark, first offset of a transaction that is open or whose marker is not yet below it); not below the log
   * start.
   */
  readonly lastStableOffset: number
  /** The leader epoch of the last batch, or the last epoch assigned; -1 in an empty log. */
  readonly latestEpoch: number
  /** The log directory has failed: appends and reads answer KAFKA_STORAGE_ERROR. */
  readonly isOffline: boolean
  readonly sizeBytes: number
  readonly config: LogConfig

  listen(listener: PartitionLogListener): void
  configure(config: LogConfig): void

  reserve(request: ReserveRequest): Reservation | Duplicate | Refusal | NeedsUnpacking | NeedsPacking
  append(reservation: Reservation): void
  /**
   * Appends batches that a leader sent, as they are: CRC and offsets are checked, the rest is the leader's word. Returns a
   * refusal when they do not continue this log or are damaged; nothing is appended then.
   */
  appendAsFollower(batches: Buffer, now: Now): Refusal | undefined

  /**
   * At once where the bytes are in memory or their position is known, a promise where the disk has to be asked. The caller
   * sends or releases every range of the result.
   */
  read(request: ReadRequest): LogRead<Range> | ReadRefusal | Promise<LogRead<Range> | ReadRefusal>

  /** Never falls while leading; `highWatermark` is at most `logEndOffset`. */
  moveHighWatermark(offset: number): void
  /** DeleteRecords and followers: forgets what is below `offset`, which is at most the high watermark. Durable when resolved. */
  moveLogStart(offset: number): Promise<void>
  /** Cuts the log so that `endOffset` is the next offset. No append may be in flight. */
  truncate(target: { endOffset: number }): Promise<void>
  /** Empties the log and starts it anew at `offset`. */
  truncateFullyAndStartAt(offset: number): Promise<void>

  /** This node leads from `nextOffset` on under this epoch, if it is newer than all before. */
  assignLeaderEpoch(leaderEpoch: number): void
  /**
   * A follower: these epochs begin in offsets that are missing at the end of the log. Durable when resolved. No append may be
   * in flight.
   */
  assignEpochs(epochs: readonly EpochStart[]): Promise<void>
  /** Answers OffsetForLeaderEpoch. */
  endOffsetForEpoch(leaderEpoch: number): EpochEndOffset
  /** The first record whose timestamp is not below `timestamp`, in the readable log. */
  findByTimestamp(timestamp: bigint): Promise<TimestampAndOffset | ReadRefusal | undefined>
  /** The record with the largest timestamp, the earliest of several; where none has one, the first, with -1. */
  findMaxTimestamp(): Promise<TimestampAndOffset | ReadRefusal | undefined>
  /** The leader epoch that wrote the record at `offset`; -1 when the log does not know. */
  epochAt(offset: number): number

  /**
   * Asks for everything written by now to be synced; `flushedOffsetMoved` tells when it is. One sync runs at a time, the
   * next covers all that was asked for meanwhile: to be called after every append that has to be durable.
   */
  requestFlush(): void
  /** Everything appended and completed by now is durable when this resolves; rejects when the directory has failed. */
  flush(): Promise<void>
}
