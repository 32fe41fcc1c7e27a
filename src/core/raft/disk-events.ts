import { assert, unreachable } from '../../base/assert.ts'
import type { Now } from '../../base/time.ts'
import type { QuorumEvent } from './events.ts'
import { handleLogRead } from './fetch-server.ts'
import { handleTruncated } from './follower.ts'
import type { Replica } from './replica.ts'
import {
  handleSnapshotLoaded,
  handleSnapshotRejected,
  handleSnapshotWritten,
  restartFetchTimeout,
} from './snapshot-fetch.ts'
import { handleSnapshotRead } from './snapshot-server.ts'

type DiskEvent = QuorumEvent & {
  type:
    | 'quorumStatePersisted'
    | 'flushed'
    | 'truncated'
    | 'logRead'
    | 'snapshotRead'
    | 'snapshotWritten'
    | 'snapshotLoaded'
    | 'snapshotRejected'
    | 'snapshotTaken'
    | 'diskFailed'
}

/** What the disk has done, or could not do. */
export function handleDisk(replica: Replica, event: DiskEvent, now: Now): void {
  switch (event.type) {
    case 'quorumStatePersisted':
      replica.outbox.persisted()
      break
    case 'flushed':
      assert(replica.isSyncing, 'a sync is open')
      replica.isSyncing = false
      restartFetchTimeout(replica, now)
      break
    case 'truncated':
      handleTruncated(replica, now)
      break
    case 'logRead':
      handleLogRead(replica, event.requestId, event.records)
      break
    case 'snapshotRead':
      handleSnapshotRead(replica, event.requestId, event.bytes)
      break
    case 'snapshotWritten':
      handleSnapshotWritten(replica, now)
      break
    case 'snapshotLoaded':
      handleSnapshotLoaded(replica, event.controlRecords, now)
      break
    case 'snapshotRejected':
      handleSnapshotRejected(replica, now)
      break
    case 'snapshotTaken':
      assert(event.snapshotId.endOffset <= replica.highWatermark, 'a snapshot holds committed records only')
      replica.history.trimBelow(event.snapshotId.endOffset)
      break
    case 'diskFailed':
      replica.halt(event.reason)
      break
    default:
      unreachable(event)
  }
}
