import { errorCode, fields, type Infer, int32, int64, list, message, string, uuid } from '../schema.ts'

export const readStateSummaryData = fields({
  topicId: uuid('0+'),
  partitions: list('0+', {
    partition: int32('0+'),
    leaderEpoch: int32('0+'),
  }),
})
export interface ReadStateSummaryData extends Infer<typeof readStateSummaryData> {}

export const readShareGroupStateSummaryRequest = message(
  'ReadShareGroupStateSummaryRequest',
  { key: 87, versions: '0-1', flexible: '0+' },
  {
    groupId: string('0+'),
    topics: list('0+', readStateSummaryData),
  },
)
export interface ReadShareGroupStateSummaryRequest extends Infer<typeof readShareGroupStateSummaryRequest> {}

export const partitionResult = fields({
  partition: int32('0+'),
  errorCode: errorCode('0+'),
  errorMessage: string('0+', { nullable: '0+', default: null }),
  stateEpoch: int32('0+'),
  leaderEpoch: int32('0+'),
  startOffset: int64('0+'),
  deliveryCompleteCount: int32('1+', { default: -1, ignorable: true }),
})
export interface PartitionResult extends Infer<typeof partitionResult> {}

export const readStateSummaryResult = fields({
  topicId: uuid('0+'),
  partitions: list('0+', partitionResult),
})
export interface ReadStateSummaryResult extends Infer<typeof readStateSummaryResult> {}

export const readShareGroupStateSummaryResponse = message(
  'ReadShareGroupStateSummaryResponse',
  { key: 87, versions: '0-1', flexible: '0+' },
  {
    results: list('0+', readStateSummaryResult),
  },
)
export interface ReadShareGroupStateSummaryResponse extends Infer<typeof readShareGroupStateSummaryResponse> {}
