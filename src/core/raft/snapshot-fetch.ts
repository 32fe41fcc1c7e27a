import { assert } from '../../base/assert.ts'
import { ErrorCode } from '../../base/error-code.ts'
import type { Now } from '../../base/time.ts'
import type { ControlRecord } from '../../protocol/control-record.ts'
import type { FetchSnapshotResponse, PartitionSnapshotResponse } from '../../protocol/messages/fetch-snapshot.ts'
import { endpointsFrom, useOfAnswer } from './epochs.ts'
import type { SnapshotId } from './log-view.ts'
import type { Replica } from './replica.ts'
import { metadataPartition, metadataTopic } from './requests.ts'
import type { Follower, SnapshotFetch } from './roles.ts'

/*
 * A follower behind the leader's log start fetches a snapshot, piece by piece, and puts it in place of its log once it
 * is whole. Whatever happens in between (another leader, another snapshot, a piece that does not fit) it starts over.
 */

/** The leader said that its log does not reach back to us. False: it said something impossible. */
export function startSnapshotFetch(replica: Replica, role: Follower, id: SnapshotId): boolean {
  if (id.endOffset < 0 || id.epoch < 0) return false
  if (id.endOffset < replica.highWatermark) {
    replica.halt(
      `the leader wants a snapshot up to ${id.endOffset} to replace the log, which is committed up to ${replica.highWatermark}`,
    )
    return true
  }
  role.snapshot = { id, position: 0, sizeBytes: -1, isWriting: false }
  return true
}

export function handleFetchSnapshotResponse(replica: Replica, response: FetchSnapshotResponse, now: Now): boolean {
  const partition = partitionOf(response)
  if (response.errorCode !== ErrorCode.none || partition === undefined) {
    // Kafka 4.4 answers so whatever is wrong with the request, also when it has the snapshot no more.
    if (replica.role.type === 'follower') giveUpSnapshot(replica, replica.role)
    return false
  }
  const { currentLeader, errorCode } = partition
  const endpoints = endpointsFrom(replica, response.nodeEndpoints, currentLeader.leaderId)
  const isGone = errorCode === ErrorCode.snapshotNotFound || errorCode === ErrorCode.positionOutOfRange
  const use = useOfAnswer(replica, { ...currentLeader, errorCode: isGone ? ErrorCode.none : errorCode, endpoints }, now)
  const { role } = replica
  if (use !== 'use' || role.type !== 'follower' || role.snapshot === undefined) return use !== 'retry'
  role.fetchDeadlineMs = now.monotonicMs + replica.config.fetchTimeoutMs
  if (isGone || !isNextPiece(role.snapshot, partition)) {
    giveUpSnapshot(replica, role)
    return false
  }
  takePiece(replica, role.snapshot, partition)
  return true
}

function isNextPiece(snapshot: SnapshotFetch, piece: PartitionSnapshotResponse): boolean {
  return (
    piece.snapshotId.endOffset === snapshot.id.endOffset &&
    piece.snapshotId.epoch === snapshot.id.epoch &&
    piece.position === snapshot.position &&
    (snapshot.sizeBytes === -1 || snapshot.sizeBytes === piece.size) &&
    piece.unalignedRecords.length > 0 &&
    piece.position + piece.unalignedRecords.length <= piece.size
  )
}

function takePiece(replica: Replica, snapshot: SnapshotFetch, piece: PartitionSnapshotResponse): void {
  const { id: snapshotId, position } = snapshot
  replica.outbox.push({ type: 'writeSnapshot', snapshotId, position, bytes: piece.unalignedRecords })
  snapshot.position += piece.unalignedRecords.length
  snapshot.sizeBytes = piece.size
  snapshot.isWriting = true
}

/** The piece is written: the next one is asked for, or the whole is put in place. */
export function handleSnapshotWritten(replica: Replica, now: Now): void {
  const { role } = replica
  if (role.type !== 'follower' || role.snapshot === undefined || !role.snapshot.isWriting) return
  role.snapshot.isWriting = false
  restartFetchTimeout(replica, now)
  const { id: snapshotId, position, sizeBytes } = role.snapshot
  if (position < sizeBytes) return
  assert(replica.logChange === undefined, 'one change of the log at a time')
  replica.logChange = { type: 'load', endOffset: snapshotId.endOffset }
  role.snapshot = undefined
  replica.outbox.push({ type: 'loadSnapshot', snapshotId, sizeBytes })
}

/** The log is the snapshot now: all of it is committed. */
export function handleSnapshotLoaded(replica: Replica, controlRecords: readonly ControlRecord[], now: Now): void {
  const change = replica.logChange
  assert(change?.type === 'load', 'a snapshot is being loaded')
  assert(replica.log.logEndOffset === change.endOffset, 'the log ends where the snapshot does')
  replica.logChange = undefined
  replica.history.loadSnapshot(change.endOffset, controlRecords)
  replica.raiseHighWatermark(change.endOffset)
  restartFetchTimeout(replica, now)
}

export function handleSnapshotRejected(replica: Replica, now: Now): void {
  assert(replica.logChange?.type === 'load', 'a snapshot is being loaded')
  replica.logChange = undefined
  restartFetchTimeout(replica, now)
}

/** The time that our own disk took does not count against the leader. */
export function restartFetchTimeout(replica: Replica, now: Now): void {
  const { role } = replica
  if (role.type !== 'follower' || role.hasLeaderResigned) return
  role.fetchDeadlineMs = now.monotonicMs + replica.config.fetchTimeoutMs
}

/** The leader is asked for its log again, and says what snapshot there is now. */
export function giveUpSnapshot(replica: Replica, role: Follower): void {
  if (role.snapshot === undefined) return
  replica.outbox.push({ type: 'discardSnapshot', snapshotId: role.snapshot.id })
  role.snapshot = undefined
}

function partitionOf(response: FetchSnapshotResponse): PartitionSnapshotResponse | undefined {
  if (response.topics.length !== 1 || response.topics[0].name !== metadataTopic) return undefined
  const { partitions } = response.topics[0]
  return partitions.length === 1 && partitions[0].index === metadataPartition ? partitions[0] : undefined
}
