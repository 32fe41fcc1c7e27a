import { errorCode, fields, type Infer, int32, list, message, string } from '../schema.ts'

export const listPartitionReassignmentsRequest = message(
  'ListPartitionReassignmentsRequest',
  { key: 46, versions: '0', flexible: '0+' },
  {
    timeoutMs: int32('0+', { default: 60000 }),
    topics: list(
      '0+',
      {
        name: string('0+'),
        partitionIndexes: list('0+', int32),
      },
      { nullable: '0+', default: null },
    ),
  },
)
export interface ListPartitionReassignmentsRequest extends Infer<typeof listPartitionReassignmentsRequest> {}

export const ongoingPartitionReassignment = fields({
  partitionIndex: int32('0+'),
  replicas: list('0+', int32),
  addingReplicas: list('0+', int32),
  removingReplicas: list('0+', int32),
})
export interface OngoingPartitionReassignment extends Infer<typeof ongoingPartitionReassignment> {}

export const ongoingTopicReassignment = fields({
  name: string('0+'),
  partitions: list('0+', ongoingPartitionReassignment),
})
export interface OngoingTopicReassignment extends Infer<typeof ongoingTopicReassignment> {}

export const listPartitionReassignmentsResponse = message(
  'ListPartitionReassignmentsResponse',
  { key: 46, versions: '0', flexible: '0+' },
  {
    throttleTimeMs: int32('0+'),
    errorCode: errorCode('0+'),
    errorMessage: string('0+', { nullable: '0+' }),
    topics: list('0+', ongoingTopicReassignment),
  },
)
export interface ListPartitionReassignmentsResponse extends Infer<typeof listPartitionReassignmentsResponse> {}
