import { bool, errorCode, fields, type Infer, int8, int32, list, message, string, struct, uuid } from '../schema.ts'

export const consumerGroupDescribeRequest = message(
  'ConsumerGroupDescribeRequest',
  { key: 69, versions: '0-1', flexible: '0+' },
  {
    groupIds: list('0+', string),
    includeAuthorizedOperations: bool('0+'),
  },
)
export interface ConsumerGroupDescribeRequest extends Infer<typeof consumerGroupDescribeRequest> {}

export const topicPartitions = fields({
  topicId: uuid('0+'),
  topicName: string('0+'),
  partitions: list('0+', int32),
})
export interface TopicPartitions extends Infer<typeof topicPartitions> {}

export const assignment = fields({
  topicPartitions: list('0+', topicPartitions),
})
export interface Assignment extends Infer<typeof assignment> {}

export const member = fields({
  memberId: string('0+'),
  instanceId: string('0+', { nullable: '0+', default: null }),
  rackId: string('0+', { nullable: '0+', default: null }),
  memberEpoch: int32('0+'),
  clientId: string('0+'),
  clientHost: string('0+'),
  subscribedTopicNames: list('0+', string),
  subscribedTopicRegex: string('0+', { nullable: '0+', default: null }),
  assignment: struct('0+', assignment),
  targetAssignment: struct('0+', assignment),
  memberType: int8('1+', { default: -1, ignorable: true }),
})
export interface Member extends Infer<typeof member> {}

export const describedGroup = fields({
  errorCode: errorCode('0+'),
  errorMessage: string('0+', { nullable: '0+', default: null }),
  groupId: string('0+'),
  groupState: string('0+'),
  groupEpoch: int32('0+'),
  assignmentEpoch: int32('0+'),
  assignorName: string('0+'),
  members: list('0+', member),
  authorizedOperations: int32('0+', { default: -2147483648 }),
})
export interface DescribedGroup extends Infer<typeof describedGroup> {}

export const consumerGroupDescribeResponse = message(
  'ConsumerGroupDescribeResponse',
  { key: 69, versions: '0-1', flexible: '0+' },
  {
    throttleTimeMs: int32('0+'),
    groups: list('0+', describedGroup),
  },
)
export interface ConsumerGroupDescribeResponse extends Infer<typeof consumerGroupDescribeResponse> {}
