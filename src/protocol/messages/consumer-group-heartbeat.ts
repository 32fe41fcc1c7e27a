import { errorCode, fields, type Infer, int32, list, message, string, struct, uuid } from '../schema.ts'

export const consumerGroupHeartbeatRequest = message(
  'ConsumerGroupHeartbeatRequest',
  { key: 68, versions: '0-1', flexible: '0+' },
  {
    groupId: string('0+'),
    memberId: string('0+'),
    memberEpoch: int32('0+'),
    instanceId: string('0+', { nullable: '0+', default: null }),
    rackId: string('0+', { nullable: '0+', default: null }),
    rebalanceTimeoutMs: int32('0+', { default: -1 }),
    subscribedTopicNames: list('0+', string, { nullable: '0+', default: null }),
    subscribedTopicRegex: string('1+', { nullable: '1+', default: null }),
    serverAssignor: string('0+', { nullable: '0+', default: null }),
    topicPartitions: list(
      '0+',
      {
        topicId: uuid('0+'),
        partitions: list('0+', int32),
      },
      { nullable: '0+', default: null },
    ),
  },
)
export interface ConsumerGroupHeartbeatRequest extends Infer<typeof consumerGroupHeartbeatRequest> {}

export const topicPartitions = fields({
  topicId: uuid('0+'),
  partitions: list('0+', int32),
})
export interface TopicPartitions extends Infer<typeof topicPartitions> {}

export const assignment = fields({
  topicPartitions: list('0+', topicPartitions),
})
export interface Assignment extends Infer<typeof assignment> {}

export const consumerGroupHeartbeatResponse = message(
  'ConsumerGroupHeartbeatResponse',
  { key: 68, versions: '0-1', flexible: '0+' },
  {
    throttleTimeMs: int32('0+'),
    errorCode: errorCode('0+'),
    errorMessage: string('0+', { nullable: '0+', default: null }),
    memberId: string('0+', { nullable: '0+', default: null }),
    memberEpoch: int32('0+'),
    heartbeatIntervalMs: int32('0+'),
    assignment: struct('0+', assignment, { nullable: '0+', default: null }),
  },
)
export interface ConsumerGroupHeartbeatResponse extends Infer<typeof consumerGroupHeartbeatResponse> {}
