import type { ErrorCode } from '../../base/error-code.ts'
import type { ControlRecord } from '../../protocol/control-record.ts'
import type { Endpoint } from '../../protocol/records/control.ts'
import type { RaftBatch, SnapshotId } from './log-view.ts'
import type { RaftRequest, RaftResponse } from './messages.ts'

/** What the file `quorum-state` holds, in the names of Kafka's schema; -1 for no leader and no vote. */
export interface QuorumState {
  readonly leaderId: number
  readonly leaderEpoch: number
  readonly votedId: number
  readonly votedDirectoryId: string
}

export type QuorumEvent =
  /** Something that was due by the clock may be due: `nextDeadlineMs()` has passed. Early and late ticks do no harm. */
  | { readonly type: 'tick' }
  | ({ readonly type: 'request'; readonly requestId: number; readonly apiVersion: number } & RaftRequest)
  /** `batches`: of a Fetch answer, its records split into batches and checked. Not all of them if bytes were cut. */
  | ({
      readonly type: 'response'
      readonly correlationId: number
      readonly batches?: readonly RaftBatch[]
    } & RaftResponse)
  /** No answer will come. `unsupportedVersion`: the peer does not serve a version that can carry this request. */
  | { readonly type: 'requestFailed'; readonly correlationId: number; readonly unsupportedVersion?: boolean }
  /** The last `persistQuorumState` is on disk, synced. */
  | { readonly type: 'quorumStatePersisted' }
  /** Writes completed: `writtenOffset` moved. */
  | { readonly type: 'appended' }
  /** The last `sync` completed: `flushedOffset` moved. */
  | { readonly type: 'flushed' }
  /** The last `truncate` completed: the log ends where it said, or where a batch that holds that offset begins. */
  | { readonly type: 'truncated' }
  /** The bytes that `readLog` asked for, whole batches from its offset on (empty if there are none). */
  | { readonly type: 'logRead'; readonly requestId: number; readonly records: Buffer }
  /** The bytes that `readSnapshot` asked for; undefined when the snapshot is gone. */
  | { readonly type: 'snapshotRead'; readonly requestId: number; readonly bytes: Buffer | undefined }
  /** The last `writeSnapshot` completed (it need not be synced). */
  | { readonly type: 'snapshotWritten' }
  /** `loadSnapshot` completed: snapshot synced, checked and in place, log empty above it. With its control records. */
  | { readonly type: 'snapshotLoaded'; readonly controlRecords: readonly ControlRecord[] }
  /** The fetched snapshot is not whole or fails its checks; the log was not touched, the file is gone. */
  | { readonly type: 'snapshotRejected' }
  /** This node's own snapshot of the committed state is in place; the log may start later from now on. */
  | { readonly type: 'snapshotTaken'; readonly snapshotId: SnapshotId }
  /** A write or sync failed, or what is on disk cannot be trusted: the node halts. */
  | { readonly type: 'diskFailed'; readonly reason: string }
  /** One batch of the state machine's records. Answered by `append` or `appendRefused` with the same id. */
  | {
      readonly type: 'append'
      readonly appendId: number
      readonly leaderEpoch: number
      readonly recordCount: number
      readonly bytes: unknown
    }
  /** The state machine that leads wants this kraft.version. Answered by `kraftVersionUpgraded` with the same id. */
  | {
      readonly type: 'upgradeKraftVersion'
      readonly upgradeId: number
      readonly leaderEpoch: number
      readonly kraftVersion: number
      /** Only whether it could be. */
      readonly validateOnly: boolean
    }
  /** The state machine that leads asks to step down (it failed to apply, say). Nothing happens in another epoch. */
  | { readonly type: 'resign'; readonly leaderEpoch: number }
  /** Leave in good order; answered by `shutdownComplete`. */
  | { readonly type: 'shutdown' }

/** Where a request goes: a replica by its endpoints, or a bootstrap server of the configuration by its index. */
export type Destination =
  | { readonly type: 'node'; readonly id: number; readonly endpoints: readonly Endpoint[] }
  | { readonly type: 'bootstrap'; readonly index: number }

/**
 * What the shell does, in the order in which `handle` returned it. The contract:
 *
 *  1. Effects of one `handle` start in order, and all of them before the next `handle`. Starting is enough: writes
 *     complete later and come back as events. Events may be handled while any number of them is open.
 *  2. The quorum itself holds back every `send` and `reply` until the quorum state they rest on is on disk
 *     (`quorumStatePersisted`). One `persistQuorumState` is open at a time; it must be atomic and synced.
 *  3. `append` and `appendFetched` move `logEndOffset` and `lastEpoch` at once; writes reach the file in that order;
 *     `writtenOffset` follows with `appended`.
 *  4. `sync` covers every append that came before it and is answered once by `flushed`. One is open at a time. A node's
 *     own end counts towards the high watermark, and a follower asks for more, only once it is flushed.
 *  5. After `truncate` and `loadSnapshot` the view may show the old or the new log until `truncated`, `snapshotLoaded`
 *     or `snapshotRejected`. The quorum neither appends, fetches nor campaigns meanwhile.
 *  6. `loadSnapshot`: sync and check the fetched file, put it in place atomically, then empty the log. After a crash in
 *     between the start finishes it: a log that does not continue its latest snapshot (`continuesSnapshot`) is emptied.
 *     Snapshots that were being fetched are dropped at the start: none is ever resumed, none loaded in part.
 *  7. `lostLeadership` takes effect before anything after it: the state machine proposes nothing more.
 *  8. `highWatermark`: everything below it is committed and may be applied. `leaderActive`: this node's own epoch has
 *     committed; once it has applied up to the high watermark it may act as the controller of that epoch, not before.
 *  9. Every `readLog` and `readSnapshot` is answered, also when its connection is gone. What fails of any effect that
 *     touches the disk is answered by `diskFailed`, never by its completion.
 * 10. `halt` is the last effect ever. Nothing else that is open may leave this process.
 */
export type QuorumEffect =
  | { readonly type: 'persistQuorumState'; readonly quorumState: QuorumState; readonly kraftVersion: number }
  | ({ readonly type: 'send'; readonly correlationId: number; readonly to: Destination } & RaftRequest)
  | ({ readonly type: 'reply'; readonly requestId: number } & RaftResponse)
  | {
      readonly type: 'append'
      readonly baseOffset: number
      readonly leaderEpoch: number
      readonly batch: AppendedBatch
    }
  | { readonly type: 'appendRefused'; readonly appendId: number; readonly errorCode: ErrorCode }
  /** Without an error the version is in force and committed, or was only to be validated. */
  | {
      readonly type: 'kraftVersionUpgraded'
      readonly upgradeId: number
      readonly errorCode: ErrorCode
      readonly message: string | null
    }
  | { readonly type: 'appendFetched'; readonly baseOffset: number; readonly batches: readonly RaftBatch[] }
  | { readonly type: 'sync' }
  | { readonly type: 'truncate'; readonly endOffset: number }
  /** Answer with `logRead`: whole batches from `offset` on, at least one if there is any, below `writtenOffset`. */
  | { readonly type: 'readLog'; readonly requestId: number; readonly offset: number; readonly maxBytes: number }
  | {
      readonly type: 'readSnapshot'
      readonly requestId: number
      readonly snapshotId: SnapshotId
      readonly position: number
      readonly maxBytes: number
    }
  /** Position 0 starts the file anew. */
  | {
      readonly type: 'writeSnapshot'
      readonly snapshotId: SnapshotId
      readonly position: number
      readonly bytes: Buffer
    }
  | { readonly type: 'discardSnapshot'; readonly snapshotId: SnapshotId }
  | { readonly type: 'loadSnapshot'; readonly snapshotId: SnapshotId; readonly sizeBytes: number }
  | { readonly type: 'highWatermark'; readonly offset: number }
  /** The leader as far as this node knows; undefined while there is none. */
  | {
      readonly type: 'leaderChanged'
      readonly leaderId: number | undefined
      readonly leaderEpoch: number
      readonly endpoints: readonly Endpoint[]
    }
  /** Elected. Not yet to act on: see `leaderActive`. */
  | { readonly type: 'becameLeader'; readonly leaderEpoch: number; readonly epochStartOffset: number }
  | { readonly type: 'leaderActive'; readonly leaderEpoch: number }
  | { readonly type: 'lostLeadership'; readonly leaderEpoch: number }
  | { readonly type: 'shutdownComplete' }
  | { readonly type: 'halt'; readonly reason: string }

export type AppendedBatch =
  | { readonly type: 'control'; readonly records: readonly ControlRecord[] }
  | { readonly type: 'records'; readonly appendId: number; readonly recordCount: number; readonly bytes: unknown }

export function isMessage(effect: QuorumEffect): boolean {
  return effect.type === 'send' || effect.type === 'reply'
}
