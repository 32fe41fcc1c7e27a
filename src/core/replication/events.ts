import type { ErrorCode } from '../../base/error-code.ts'
import type { EpochStart } from '../log/leader-epochs.ts'
import type { EpochEndOffset } from '../log/partition-log.ts'
import type { PartitionMetadata } from './views.ts'

export type ReplicationEvent =
  /** Something that was due by the clock may be due: `nextDeadlineMs()` has passed. Early and late ticks do no harm. */
  | { readonly type: 'tick' }
  /** The metadata says this of the partition. What is not newer (by partition epoch) changes nothing. */
  | { readonly type: 'metadata'; readonly partition: PartitionMetadata }
  /** Registrations of brokers have changed: who may be in sync may be others now. */
  | { readonly type: 'brokersChanged' }
  /** `min.insync.replicas` of the topic. */
  | { readonly type: 'configured'; readonly minInsyncReplicas: number }
  /** The partition is not here any more, or its directory has failed. Nothing happens after it. */
  | { readonly type: 'closed' }
  /** Offsets of the log have moved: writes have completed or failed, a sync has. A leader hears of writes by `localEndMoved`. */
  | { readonly type: 'logMoved' }
  /** The last `truncate`, `truncateFully`, `moveLogStart` or `assignEpochs` is done. */
  | { readonly type: 'logChanged' }
  /** What `append` gave is not in the log, nor what a leader has appended: it was refused, or its write failed. */
  | { readonly type: 'appendFailed' }
  | ({ readonly type: 'fetch' } & FollowerFetch)
  | { readonly type: 'partitionAltered'; readonly attemptId: number; readonly answer: AlterPartitionAnswer }
  /** No answer to `alterPartition` will come, or one that is not about the partition. It may have been carried out. */
  | { readonly type: 'alterPartitionFailed'; readonly attemptId: number }
  | { readonly type: 'fetched'; readonly correlationId: number; readonly answer: FetchAnswer }
  | { readonly type: 'offsetListed'; readonly correlationId: number; readonly answer: ListedOffset }
  | { readonly type: 'epochEndListed'; readonly correlationId: number; readonly answer: ListedEpochEnd }
  /** No answer to `fetch`, `listOffset` or `offsetForLeaderEpoch` will come. */
  | { readonly type: 'requestFailed'; readonly correlationId: number }

/** A follower's fetch of this partition, in the names of the schema. Answered by one `answerFetch`. */
export interface FollowerFetch {
  readonly requestId: number
  readonly replicaId: number
  /** The broker epoch of the follower's life; -1 when it does not say (no broker of Kafka 4): it is never counted then. */
  readonly replicaEpoch: number
  /** Followers always say; -1 is older than any. */
  readonly currentLeaderEpoch: number
  /** The follower holds everything below it. */
  readonly fetchOffset: number
  /** The epoch of the follower's last record; -1 when it has none. */
  readonly lastFetchedEpoch: number
  readonly logStartOffset: number
}

export type FetchVerdict =
  /** Read from the fetch offset up to the log end offset; high watermark and log start are those at the time of the answer. */
  | { readonly type: 'read' }
  /** The follower's log parts from this one: of the largest epoch not above its own, and where that ends here. */
  | { readonly type: 'diverging'; readonly epoch: number; readonly endOffset: number }
  | { readonly type: 'refused'; readonly errorCode: ErrorCode }

export interface ReplicaAndEpoch {
  readonly brokerId: number
  readonly brokerEpoch: number
}

/** Of AlterPartition, what is said of the partition; the fields other than the code only count without an error. */
export interface AlterPartitionAnswer {
  readonly errorCode: ErrorCode
  readonly leaderEpoch: number
  readonly partitionEpoch: number
  readonly isr: readonly number[]
}

/** Of a Fetch answer, what is said of the partition. */
export interface FetchAnswer {
  readonly errorCode: ErrorCode
  readonly highWatermark: number
  readonly logStartOffset: number
  /** Epoch -1: none. */
  readonly divergingEpoch: { readonly epoch: number; readonly endOffset: number }
  /** Undefined when there are none. `damaged`: a checksum or the order of the offsets is wrong. */
  readonly records: FetchedRecords | 'damaged' | undefined
}

/**
 * Whole batches, each of them sound, their offsets growing (`checkBatchRun`). Of an epoch that is not above the one that this
 * broker knows, and without a batch of a newer epoch than the one before it where offsets between the two are missing: the
 * shell leaves that one, and what follows, to the next fetch. Whether they continue the log is not the shell's to check.
 */
export interface FetchedRecords {
  /** Of the first batch; below the offset asked for where a log begins in the middle of a batch. */
  readonly baseOffset: number
  readonly lastOffset: number
  /** Of the first and the last batch; -1 in a format older than epochs. */
  readonly firstLeaderEpoch: number
  readonly lastLeaderEpoch: number
  readonly bytes: Buffer
}

/** Of an OffsetForLeaderEpoch answer, what is said of the partition. */
export interface ListedEpochEnd extends EpochEndOffset {
  readonly errorCode: ErrorCode
}

export interface ListedOffset {
  readonly errorCode: ErrorCode
  readonly offset: number
}

/** The in-sync replicas that were asked for are in force, and are fewer or more; or the controller did not make them so. */
export type IsrUpdateOutcome = 'shrunk' | 'expanded' | 'failed'

/**
 * What the shell does, in the order in which `handle` returned it. The contract:
 *
 *  1. Effects of one `handle` start in order, and all of them before the next `handle`. The shell carries no effect out by
 *     calling `handle` within it.
 *  2. `append` moves `nextOffset` in the turn, or is answered by `appendFailed`. Its write moves `logEndOffset` later, told by
 *     `logMoved`; a write that fails is told by `appendFailed`. It may come one `truncateFully`, or some
 *     `offsetForLeaderEpoch` and an `assignEpochs`, later than the answer that brought the records: their bytes must not change meanwhile.
 *  3. One of `truncate`, `truncateFully`, `moveLogStart` and `assignEpochs` is open at a time and is answered by `logChanged`,
 *     when it is durable; meanwhile the view may show the old or the new log, and nothing is appended or fetched. No append is
 *     in flight when it starts. A failed one takes the directory offline: `closed`.
 *  4. `flush`: everything written is to be synced; `logMoved` when it is. A fetch leaves, with flush=ack, only when the log is
 *     synced up to its end. What a leader appends later is the shell's to sync.
 *  5. `highWatermark` is at most `logEndOffset`. It never falls, but with `committedLost` and `truncateFully`, which make it the
 *     offset they name.
 *  6. `fetch`, `listOffset` and `offsetForLeaderEpoch` go to the leader named, each answered once (`fetched`, `offsetListed`,
 *     `epochEndListed`, `requestFailed`), one open at a time. Answers of an older role or request are recognised by their correlation id and may come late or twice.
 *  7. `alterPartition`: requests of one broker reach the controller in the order in which they were sent and each at most
 *     once; one that was given up (`alterPartitionFailed`) does not arrive after a later one. A connection that is closed
 *     when a request on it is given up does that. The controller compares the partition epoch: of several attempts with one
 *     epoch at most one changes anything.
 *  8. This broker leads only by metadata that is not older than its own registration in this life. What an earlier life
 *     led is over with it: the controller made a new leader epoch, or none, when this life was registered.
 *  9. `becameLeader`: the log is given the epoch (`assignLeaderEpoch`), and only from now on are writes taken.
 *     `lostLeadership` takes effect before anything after it.
 * 10. `halt` is the last effect ever. Nothing else that is open may leave this process.
 */
export type ReplicationEffect =
  | { readonly type: 'becameLeader'; readonly leaderEpoch: number }
  | { readonly type: 'lostLeadership'; readonly leaderEpoch: number }
  | { readonly type: 'highWatermark'; readonly offset: number }
  | { readonly type: 'flush' }
  | { readonly type: 'answerFetch'; readonly fetch: FollowerFetch; readonly verdict: FetchVerdict }
  /** Asks the controller for other in-sync replicas; this broker's own epoch is the shell's to add. */
  | {
      readonly type: 'alterPartition'
      readonly attemptId: number
      readonly leaderEpoch: number
      readonly partitionEpoch: number
      /** This broker is among them, with epoch -1: the shell's to add. */
      readonly isr: readonly ReplicaAndEpoch[]
    }
  /** What became of it, for whoever counts; nothing depends on it. */
  | { readonly type: 'isrUpdate'; readonly outcome: IsrUpdateOutcome }
  | {
      readonly type: 'fetch'
      readonly correlationId: number
      readonly leader: number
      readonly currentLeaderEpoch: number
      readonly fetchOffset: number
      readonly lastFetchedEpoch: number
      readonly logStartOffset: number
    }
  /**
   * ListOffsets for the latest (-1) or the earliest (-2) offset, in this broker's own name: a leader tells its replicas where
   * its log ends, and everybody else only what is committed.
   */
  | {
      readonly type: 'listOffset'
      readonly correlationId: number
      readonly leader: number
      readonly currentLeaderEpoch: number
      readonly timestamp: -1 | -2
    }
  /** OffsetForLeaderEpoch, in this broker's own name: where the largest epoch that is not above `leaderEpoch` ends. */
  | {
      readonly type: 'offsetForLeaderEpoch'
      readonly correlationId: number
      readonly leader: number
      readonly currentLeaderEpoch: number
      readonly leaderEpoch: number
    }
  /** As they are: `PartitionLog.appendAsFollower`. */
  | { readonly type: 'append'; readonly records: FetchedRecords }
  /** The log may end lower still, with the batch before. Epochs that begin at or above go too, even if no record does. */
  | { readonly type: 'truncate'; readonly endOffset: number }
  /** The log is emptied and begins at `startOffset`. */
  | { readonly type: 'truncateFully'; readonly startOffset: number }
  | { readonly type: 'moveLogStart'; readonly offset: number }
  /** Epochs begin there, in offsets that are missing at the end of the log. Before what follows them is appended. */
  | { readonly type: 'assignEpochs'; readonly epochs: readonly EpochStart[] }
  /** The leader does not have what was committed from `fromOffset` up to `toOffset`; it is cut off here too. */
  | { readonly type: 'committedLost'; readonly fromOffset: number; readonly toOffset: number }
  | { readonly type: 'halt'; readonly reason: string }
