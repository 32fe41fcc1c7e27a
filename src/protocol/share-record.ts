import { type CoordinatorRecord, type CoordinatorRecordInput, coordinatorRecordCodec } from './coordinator-record.ts'
import { shareSnapshotKey, shareSnapshotValue, shareUpdateKey, shareUpdateValue } from './records/share-state.ts'

/** What `__share_group_state` holds. */
const types = {
  shareSnapshot: { key: shareSnapshotKey, value: shareSnapshotValue },
  shareUpdate: { key: shareUpdateKey, value: shareUpdateValue },
}

export type ShareRecord = CoordinatorRecord<typeof types>
export type ShareRecordInput = CoordinatorRecordInput<typeof types>

export const shareRecords = coordinatorRecordCodec(types)
