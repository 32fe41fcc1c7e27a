import { assert } from '../../base/assert.ts'
import type { ControlRecord } from '../../protocol/control-record.ts'
import type { AppendedBatch } from './events.ts'
import type { Replica } from './replica.ts'
import type { Leader } from './roles.ts'

/** Appends one batch of the epoch that this node leads; returns the offset of its first record. */
export function appendAsLeader(replica: Replica, recordCount: number, batch: AppendedBatch): number {
  assert(replica.role.type === 'leader', 'only a leader appends')
  assert(recordCount > 0, 'a batch holds a record')
  const baseOffset = replica.log.logEndOffset
  replica.outbox.push({ type: 'append', baseOffset, leaderEpoch: replica.epoch, batch })
  replica.log.willEndAt({ offset: baseOffset + recordCount, epoch: replica.epoch })
  return baseOffset
}

/** Control records are in force from the moment they are appended. */
export function appendControlRecords(replica: Replica, records: readonly ControlRecord[]): number {
  const baseOffset = appendAsLeader(replica, records.length, { type: 'control', records })
  for (const [i, record] of records.entries()) replica.history.append(baseOffset + i, record)
  return baseOffset
}

/** Commits what a majority holds, once that includes a record of this epoch; then all before it is committed too. */
export function advanceHighWatermark(replica: Replica, role: Leader): void {
  if (!role.hasStarted) return
  const offset = role.progress.majorityOffset(replica.history.voters, replica.key, replica.log.view.flushedOffset)
  if (offset <= role.epochStartOffset || offset <= (role.highWatermark ?? -1)) return
  const wasActive = role.highWatermark !== undefined
  role.highWatermark = offset
  replica.raiseHighWatermark(offset)
  if (!wasActive) replica.outbox.push({ type: 'leaderActive', leaderEpoch: role.leaderEpoch })
}
