import { errorCode, fields, type Infer, int32, int64, list, message, string, uuid } from '../schema.ts'

export const partitionData = fields({
  partition: int32('0+'),
  stateEpoch: int32('0+'),
  startOffset: int64('0+'),
})
export interface PartitionData extends Infer<typeof partitionData> {}

export const initializeStateData = fields({
  topicId: uuid('0+'),
  partitions: list('0+', partitionData),
})
export interface InitializeStateData extends Infer<typeof initializeStateData> {}

export const initializeShareGroupStateRequest = message(
  'InitializeShareGroupStateRequest',
  { key: 83, versions: '0', flexible: '0+' },
  {
    groupId: string('0+'),
    topics: list('0+', initializeStateData),
  },
)
export interface InitializeShareGroupStateRequest extends Infer<typeof initializeShareGroupStateRequest> {}

export const partitionResult = fields({
  partition: int32('0+'),
  errorCode: errorCode('0+'),
  errorMessage: string('0+', { nullable: '0+', default: null }),
})
export interface PartitionResult extends Infer<typeof partitionResult> {}

export const initializeStateResult = fields({
  topicId: uuid('0+'),
  partitions: list('0+', partitionResult),
})
export interface InitializeStateResult extends Infer<typeof initializeStateResult> {}

export const initializeShareGroupStateResponse = message(
  'InitializeShareGroupStateResponse',
  { key: 83, versions: '0', flexible: '0+' },
  {
    results: list('0+', initializeStateResult),
  },
)
export interface InitializeShareGroupStateResponse extends Infer<typeof initializeShareGroupStateResponse> {}
