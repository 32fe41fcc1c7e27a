import { bool, errorCode, fields, type Infer, int32, list, message, string } from '../schema.ts'

export const reassignableTopic = fields({
  name: string('0+'),
  partitions: list('0+', {
    partitionIndex: int32('0+'),
    replicas: list('0+', int32, { nullable: '0+', default: null }),
  }),
})
export interface ReassignableTopic extends Infer<typeof reassignableTopic> {}

export const alterPartitionReassignmentsRequest = message(
  'AlterPartitionReassignmentsRequest',
  { key: 45, versions: '0-1', flexible: '0+' },
  {
    timeoutMs: int32('0+', { default: 60000 }),
    allowReplicationFactorChange: bool('1+', { default: true }),
    topics: list('0+', reassignableTopic),
  },
)
export interface AlterPartitionReassignmentsRequest extends Infer<typeof alterPartitionReassignmentsRequest> {}

export const reassignablePartitionResponse = fields({
  partitionIndex: int32('0+'),
  errorCode: errorCode('0+'),
  errorMessage: string('0+', { nullable: '0+' }),
})
export interface ReassignablePartitionResponse extends Infer<typeof reassignablePartitionResponse> {}

export const reassignableTopicResponse = fields({
  name: string('0+'),
  partitions: list('0+', reassignablePartitionResponse),
})
export interface ReassignableTopicResponse extends Infer<typeof reassignableTopicResponse> {}

export const alterPartitionReassignmentsResponse = message(
  'AlterPartitionReassignmentsResponse',
  { key: 45, versions: '0-1', flexible: '0+' },
  {
    throttleTimeMs: int32('0+'),
    allowReplicationFactorChange: bool('1+', { default: true, ignorable: true }),
    errorCode: errorCode('0+'),
    errorMessage: string('0+', { nullable: '0+' }),
    responses: list('0+', reassignableTopicResponse),
  },
)
export interface AlterPartitionReassignmentsResponse extends Infer<typeof alterPartitionReassignmentsResponse> {}
