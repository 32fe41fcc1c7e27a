import { errorCode, fields, type Infer, int8, int16, int32, int64, list, message, string, uuid } from '../schema.ts'

export const readStateData = fields({
  topicId: uuid('0+'),
  partitions: list('0+', {
    partition: int32('0+'),
    leaderEpoch: int32('0+'),
  }),
})
export interface ReadStateData extends Infer<typeof readStateData> {}

export const readShareGroupStateRequest = message(
  'ReadShareGroupStateRequest',
  { key: 84, versions: '0', flexible: '0+' },
  {
    groupId: string('0+'),
    topics: list('0+', readStateData),
  },
)
export interface ReadShareGroupStateRequest extends Infer<typeof readShareGroupStateRequest> {}

export const stateBatch = fields({
  firstOffset: int64('0+'),
  lastOffset: int64('0+'),
  deliveryState: int8('0+'),
  deliveryCount: int16('0+'),
})
export interface StateBatch extends Infer<typeof stateBatch> {}

export const partitionResult = fields({
  partition: int32('0+'),
  errorCode: errorCode('0+'),
  errorMessage: string('0+', { nullable: '0+', default: null }),
  stateEpoch: int32('0+'),
  startOffset: int64('0+'),
  stateBatches: list('0+', stateBatch),
})
export interface PartitionResult extends Infer<typeof partitionResult> {}

export const readStateResult = fields({
  topicId: uuid('0+'),
  partitions: list('0+', partitionResult),
})
export interface ReadStateResult extends Infer<typeof readStateResult> {}

export const readShareGroupStateResponse = message(
  'ReadShareGroupStateResponse',
  { key: 84, versions: '0', flexible: '0+' },
  {
    results: list('0+', readStateResult),
  },
)
export interface ReadShareGroupStateResponse extends Infer<typeof readShareGroupStateResponse> {}
