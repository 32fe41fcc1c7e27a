import { errorCode, fields, type Infer, int8, int32, list, message, string } from '../schema.ts'

export const electLeadersRequest = message(
  'ElectLeadersRequest',
  { key: 43, versions: '0-2', flexible: '2+' },
  {
    electionType: int8('1+'),
    topicPartitions: list(
      '0+',
      {
        topic: string('0+'),
        partitions: list('0+', int32),
      },
      { nullable: '0+' },
    ),
    timeoutMs: int32('0+', { default: 60000 }),
  },
)
export interface ElectLeadersRequest extends Infer<typeof electLeadersRequest> {}

export const partitionResult = fields({
  partitionId: int32('0+'),
  errorCode: errorCode('0+'),
  errorMessage: string('0+', { nullable: '0+' }),
})
export interface PartitionResult extends Infer<typeof partitionResult> {}

export const replicaElectionResult = fields({
  topic: string('0+'),
  partitionResult: list('0+', partitionResult),
})
export interface ReplicaElectionResult extends Infer<typeof replicaElectionResult> {}

export const electLeadersResponse = message(
  'ElectLeadersResponse',
  { key: 43, versions: '0-2', flexible: '2+' },
  {
    throttleTimeMs: int32('0+'),
    errorCode: errorCode('1+'),
    replicaElectionResults: list('0+', replicaElectionResult),
  },
)
export interface ElectLeadersResponse extends Infer<typeof electLeadersResponse> {}
