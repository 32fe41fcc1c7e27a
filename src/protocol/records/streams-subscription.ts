import { bytes, fields, type Infer, int8, int32, int64, list, message, string, uuid } from '../schema.ts'

export const taskId = fields({
  topicGroupId: int32('1-6'),
  partition: int32('1-6'),
})
export interface TaskId extends Infer<typeof taskId> {}

export const partitionToOffsetSum = fields({
  partition: int32('7-9'),
  offsetSum: int64('7-9'),
})
export interface PartitionToOffsetSum extends Infer<typeof partitionToOffsetSum> {}

export const taskOffsetSum = fields({
  topicGroupId: int32('7+'),
  partition: int32('10+'),
  offsetSum: int64('10+'),
  namedTopology: string('10+', { nullable: '10+' }),
  partitionToOffsetSum: list('7-9', partitionToOffsetSum),
})
export interface TaskOffsetSum extends Infer<typeof taskOffsetSum> {}

export const clientTag = fields({
  key: bytes('11+'),
  value: bytes('11+'),
})
export interface ClientTag extends Infer<typeof clientTag> {}

export const subscriptionInfoData = message(
  'SubscriptionInfoData',
  { versions: '1-11', flexible: 'none' },
  {
    version: int32('1+'),
    latestSupportedVersion: int32('3+', { default: -1 }),
    processId: uuid('1+'),
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
