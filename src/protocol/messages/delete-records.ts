import { errorCode, fields, type Infer, int32, int64, list, message, string } from '../schema.ts'

export const deleteRecordsTopic = fields({
  name: string('0+'),
  partitions: list('0+', {
    partitionIndex: int32('0+'),
    /** The new log start offset; -1 stands for the high watermark. */
    offset: int64('0+'),
  }),
})
export interface DeleteRecordsTopic extends Infer<typeof deleteRecordsTopic> {}

export const deleteRecordsRequest = message(
  'DeleteRecordsRequest',
  { key: 21, versions: '0-2', flexible: '2+' },
  {
    topics: list('0+', deleteRecordsTopic),
    timeoutMs: int32('0+'),
  },
)
export interface DeleteRecordsRequest extends Infer<typeof deleteRecordsRequest> {}

export const deleteRecordsPartitionResult = fields({
  partitionIndex: int32('0+'),
  /** The least log start offset of all replicas; -1 with an error. */
  lowWatermark: int64('0+'),
  errorCode: errorCode('0+'),
})
export interface DeleteRecordsPartitionResult extends Infer<typeof deleteRecordsPartitionResult> {}

export const deleteRecordsTopicResult = fields({
  name: string('0+'),
  partitions: list('0+', deleteRecordsPartitionResult),
})
export interface DeleteRecordsTopicResult extends Infer<typeof deleteRecordsTopicResult> {}

export const deleteRecordsResponse = message(
  'DeleteRecordsResponse',
  { key: 21, versions: '0-2', flexible: '2+' },
  {
    throttleTimeMs: int32('0+'),
    topics: list('0+', deleteRecordsTopicResult),
  },
)
export interface DeleteRecordsResponse extends Infer<typeof deleteRecordsResponse> {}
