import { bytes, fields, type Infer, int8, int32, int64, list, message, string, uuid } from '../schema.ts'

export const taskId = fields({
  topicGroupId: int32('0+'),
  partition: int32('0+'),
})
export interface TaskId extends Infer<typeof taskId> {}

export const partitionToOffsetSum = fields({
  partition: int32('0+'),
  offsetSum: int64('0+'),
})
export interface PartitionToOffsetSum extends Infer<typeof partitionToOffsetSum> {}

export const taskOffsetSum = fields({
  topicGroupId: int32('0+'),
  partition: int32('10+'),
  offsetSum: int64('10+'),
  namedTopology: string('10+', { nullable: '0+' }),
  partitionToOffsetSum: list('7-9', partitionToOffsetSum),
})
export interface TaskOffsetSum extends Infer<typeof taskOffsetSum> {}

export const clientTag = fields({
  key: bytes('0+'),
  value: bytes('0+'),
})
export interface ClientTag extends Infer<typeof clientTag> {}

export const subscriptionInfoData = message(
  'SubscriptionInfoData',
  { versions: '1-11', flexible: 'none' },
  {
    version: int32('0+'),
    latestSupportedVersion: int32('3+', { default: -1 }),
    processId: uuid('0+'),
    prevTasks: list('1-6', taskId),
    standbyTasks: list('1-6', taskId),
    userEndPoint: bytes('2+'),
    taskOffsetSums: list('7+', taskOffsetSum),
    uniqueField: int8('8+'),
    errorCode: int32('9+'),
    clientTags: list('11+', clientTag),
  },
)
export interface SubscriptionInfoData extends Infer<typeof subscriptionInfoData> {}
