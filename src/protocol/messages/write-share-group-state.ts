import { errorCode, fields, type Infer, int8, int16, int32, int64, list, message, string, uuid } from '../schema.ts'

export const stateBatch = fields({
  firstOffset: int64('0+'),
  lastOffset: int64('0+'),
  deliveryState: int8('0+'),
  deliveryCount: int16('0+'),
})
export interface StateBatch extends Infer<typeof stateBatch> {}

export const partitionData = fields({
  partition: int32('0+'),
  stateEpoch: int32('0+'),
  leaderEpoch: int32('0+'),
  startOffset: int64('0+'),
  deliveryCompleteCount: int32('1+', { default: -1, ignorable: true }),
  stateBatches: list('0+', stateBatch),
})
export interface PartitionData extends Infer<typeof partitionData> {}

export const writeStateData = fields({
  topicId: uuid('0+'),
  partitions: list('0+', partitionData),
})
export interface WriteStateData extends Infer<typeof writeStateData> {}

export const writeShareGroupStateRequest = message(
  'WriteShareGroupStateRequest',
  { key: 85, versions: '0-1', flexible: '0+' },
  {
    groupId: string('0+'),
    topics: list('0+', writeStateData),
  },
)
export interface WriteShareGroupStateRequest extends Infer<typeof writeShareGroupStateRequest> {}

export const partitionResult = fields({
  partition: int32('0+'),
  errorCode: errorCode('0+'),
  errorMessage: string('0+', { nullable: '0+', default: null }),
})
export interface PartitionResult extends Infer<typeof partitionResult> {}

export const writeStateResult = fields({
  topicId: uuid('0+'),
  partitions: list('0+', partitionResult),
})
export interface WriteStateResult extends Infer<typeof writeStateResult> {}

export const writeShareGroupStateResponse = message(
  'WriteShareGroupStateResponse',
  { key: 85, versions: '0-1', flexible: '0+' },
  {
    results: list('0+', writeStateResult),
  },
)
export interface WriteShareGroupStateResponse extends Infer<typeof writeShareGroupStateResponse> {}
