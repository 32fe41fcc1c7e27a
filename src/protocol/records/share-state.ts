import { fields, type Infer, int8, int16, int32, int64, list, message, string, uuid } from '../schema.ts'

export const shareSnapshotKey = message(
  'ShareSnapshotKey',
  { key: 0, versions: '0', flexible: 'none' },
  {
    groupId: string('0'),
    topicId: uuid('0'),
    partition: int32('0'),
  },
)
export interface ShareSnapshotKey extends Infer<typeof shareSnapshotKey> {}

export const stateBatch = fields({
  firstOffset: int64('0+'),
  lastOffset: int64('0+'),
  deliveryState: int8('0+'),
  deliveryCount: int16('0+'),
})
export interface StateBatch extends Infer<typeof stateBatch> {}

export const shareSnapshotValue = message(
  'ShareSnapshotValue',
  { key: 0, versions: '0', flexible: '0+' },
  {
    snapshotEpoch: int32('0+'),
    stateEpoch: int32('0+'),
    leaderEpoch: int32('0+'),
    startOffset: int64('0+'),
    deliveryCompleteCount: int32('0+', { default: -1, tag: 0 }),
    createTimestamp: int64('0+'),
    writeTimestamp: int64('0+'),
    stateBatches: list('0+', stateBatch),
  },
)
export interface ShareSnapshotValue extends Infer<typeof shareSnapshotValue> {}

export const shareUpdateKey = message(
  'ShareUpdateKey',
  { key: 1, versions: '0', flexible: 'none' },
  {
    groupId: string('0'),
    topicId: uuid('0'),
    partition: int32('0'),
  },
)
export interface ShareUpdateKey extends Infer<typeof shareUpdateKey> {}

export const shareUpdateValue = message(
  'ShareUpdateValue',
  { key: 1, versions: '0', flexible: '0+' },
  {
    snapshotEpoch: int32('0+'),
    leaderEpoch: int32('0+'),
    startOffset: int64('0+'),
    deliveryCompleteCount: int32('0+', { default: -1, tag: 0 }),
    stateBatches: list('0+', stateBatch),
  },
)
export interface ShareUpdateValue extends Infer<typeof shareUpdateValue> {}
