import { type Infer, int8, int32, list, message, string, uuid } from '../schema.ts'

export const topicRecord = message(
  'TopicRecord',
  { key: 2, versions: '0', flexible: '0+' },
  {
    name: string('0+'),
    topicId: uuid('0+'),
  },
)
export interface TopicRecord extends Infer<typeof topicRecord> {}

export const removeTopicRecord = message(
  'RemoveTopicRecord',
  { key: 9, versions: '0', flexible: '0+' },
  {
    topicId: uuid('0+'),
  },
)
export interface RemoveTopicRecord extends Infer<typeof removeTopicRecord> {}

export const partitionRecord = message(
  'PartitionRecord',
  { key: 3, versions: '0-2', flexible: '0+' },
  {
    partitionId: int32('0+', { default: -1 }),
    topicId: uuid('0+'),
    replicas: list('0+', int32),
    isr: list('0+', int32),
    removingReplicas: list('0+', int32),
    addingReplicas: list('0+', int32),
    leader: int32('0+', { default: -1 }),
    leaderRecoveryState: int8('0+', { default: 0, tag: 0 }),
    leaderEpoch: int32('0+', { default: -1 }),
    partitionEpoch: int32('0+', { default: -1 }),
    /** Directory of each replica, in the order of `replicas`. */
    directories: list('1+', uuid),
    /** May lead without loss though not in sync. */
    eligibleLeaderReplicas: list('2+', int32, { nullable: '0+', default: null, tag: 1 }),
    /** The last members of the eligible replicas, for unclean recovery. */
    lastKnownElr: list('2+', int32, { nullable: '0+', default: null, tag: 2 }),
  },
)
export interface PartitionRecord extends Infer<typeof partitionRecord> {}

export const partitionChangeRecord = message(
  'PartitionChangeRecord',
  { key: 5, versions: '0-2', flexible: '0+' },
  {
    partitionId: int32('0+', { default: -1 }),
    topicId: uuid('0+'),
    /** Null: as before. */
    isr: list('0+', int32, { nullable: '0+', default: null, tag: 0 }),
    /** -1: none; -2: as before. */
    leader: int32('0+', { default: -2, tag: 1 }),
    /** Null: as before. */
    replicas: list('0+', int32, { nullable: '0+', default: null, tag: 2 }),
    removingReplicas: list('0+', int32, { nullable: '0+', default: null, tag: 3 }),
    addingReplicas: list('0+', int32, { nullable: '0+', default: null, tag: 4 }),
    /** -1: as before. */
    leaderRecoveryState: int8('0+', { default: -1, tag: 5 }),
    directories: list('1+', uuid, { nullable: '0+', default: null, tag: 8 }),
    eligibleLeaderReplicas: list('2+', int32, { nullable: '0+', default: null, tag: 6 }),
    lastKnownElr: list('2+', int32, { nullable: '0+', default: null, tag: 7 }),
  },
)
export interface PartitionChangeRecord extends Infer<typeof partitionChangeRecord> {}

export const clearElrRecord = message(
  'ClearElrRecord',
  { key: 28, versions: '0', flexible: '0+' },
  {
    topicName: string('0+'),
  },
)
export interface ClearElrRecord extends Infer<typeof clearElrRecord> {}
