import { errorCode, fields, type Infer, int32, list, message, string, uuid } from '../schema.ts'

export const deleteStateData = fields({
  topicId: uuid('0+'),
  partitions: list('0+', {
    partition: int32('0+'),
  }),
})
export interface DeleteStateData extends Infer<typeof deleteStateData> {}

export const deleteShareGroupStateRequest = message(
  'DeleteShareGroupStateRequest',
  { key: 86, versions: '0', flexible: '0+' },
  {
    groupId: string('0+'),
    topics: list('0+', deleteStateData),
  },
)
export interface DeleteShareGroupStateRequest extends Infer<typeof deleteShareGroupStateRequest> {}

export const partitionResult = fields({
  partition: int32('0+'),
  errorCode: errorCode('0+'),
  errorMessage: string('0+', { nullable: '0+', default: null }),
})
export interface PartitionResult extends Infer<typeof partitionResult> {}

export const deleteStateResult = fields({
  topicId: uuid('0+'),
  partitions: list('0+', partitionResult),
})
export interface DeleteStateResult extends Infer<typeof deleteStateResult> {}

export const deleteShareGroupStateResponse = message(
  'DeleteShareGroupStateResponse',
  { key: 86, versions: '0', flexible: '0+' },
  {
    results: list('0+', deleteStateResult),
  },
)
export interface DeleteShareGroupStateResponse extends Infer<typeof deleteShareGroupStateResponse> {}
