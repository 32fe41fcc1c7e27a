import { type Infer, int32, int64, message, string, uuid } from '../schema.ts'

export const legacyOffsetCommitKey = message(
  'LegacyOffsetCommitKey',
  { key: 0, versions: '0', flexible: 'none' },
  {
    group: string('0+'),
    topic: string('0+'),
    partition: int32('0+'),
  },
)
export interface LegacyOffsetCommitKey extends Infer<typeof legacyOffsetCommitKey> {}

export const legacyOffsetCommitValue = message(
  'LegacyOffsetCommitValue',
  { key: 0, versions: '0', flexible: 'none' },
  {
    offset: int64('0+'),
    metadata: string('0+'),
    commitTimestamp: int64('0+'),
  },
)
export interface LegacyOffsetCommitValue extends Infer<typeof legacyOffsetCommitValue> {}

export const offsetCommitKey = message(
  'OffsetCommitKey',
  { key: 1, versions: '0', flexible: 'none' },
  {
    group: string('0+'),
    topic: string('0+'),
    partition: int32('0+'),
  },
)
export interface OffsetCommitKey extends Infer<typeof offsetCommitKey> {}

export const offsetCommitValue = message(
  'OffsetCommitValue',
  { key: 1, versions: '0-4', flexible: '4+' },
  {
    offset: int64('0+'),
    leaderEpoch: int32('3+', { default: -1, ignorable: true }),
    metadata: string('0+'),
    /** Milliseconds of the coordinator's clock. */
    commitTimestamp: int64('0+'),
    /** Only ever written by very old brokers. */
    expireTimestamp: int64('1', { default: -1, ignorable: true }),
    topicId: uuid('4+', { tag: 0, ignorable: true }),
  },
)
export interface OffsetCommitValue extends Infer<typeof offsetCommitValue> {}
