import { bool, errorCode, fields, type Infer, int32, list, message, string } from '../schema.ts'

export const createPartitionsTopic = fields({
  name: string('0+'),
  /** How many there shall be in all. */
  count: int32('0+'),
  /** Replicas of the new partitions by hand; null leaves them to the controller. */
  assignments: list(
    '0+',
    {
      brokerIds: list('0+', int32),
    },
    { nullable: '0+' },
  ),
})
export interface CreatePartitionsTopic extends Infer<typeof createPartitionsTopic> {}

export const createPartitionsRequest = message(
  'CreatePartitionsRequest',
  { key: 37, versions: '0-3', flexible: '2+' },
  {
    topics: list('0+', createPartitionsTopic),
    timeoutMs: int32('0+'),
    validateOnly: bool('0+'),
  },
)
export interface CreatePartitionsRequest extends Infer<typeof createPartitionsRequest> {}

export const createPartitionsTopicResult = fields({
  name: string('0+'),
  errorCode: errorCode('0+'),
  errorMessage: string('0+', { nullable: '0+', default: null }),
})
export interface CreatePartitionsTopicResult extends Infer<typeof createPartitionsTopicResult> {}

export const createPartitionsResponse = message(
  'CreatePartitionsResponse',
  { key: 37, versions: '0-3', flexible: '2+' },
  {
    throttleTimeMs: int32('0+'),
    results: list('0+', createPartitionsTopicResult),
  },
)
export interface CreatePartitionsResponse extends Infer<typeof createPartitionsResponse> {}
