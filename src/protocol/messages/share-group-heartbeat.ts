import { errorCode, fields, type Infer, int32, list, message, string, struct, uuid } from '../schema.ts'

export const shareGroupHeartbeatRequest = message(
  'ShareGroupHeartbeatRequest',
  { key: 76, versions: '1', flexible: '0+' },
  {
    groupId: string('0+'),
    memberId: string('0+'),
    memberEpoch: int32('0+'),
    rackId: string('0+', { nullable: '0+', default: null }),
    subscribedTopicNames: list('0+', string, { nullable: '0+', default: null }),
  },
)
export interface ShareGroupHeartbeatRequest extends Infer<typeof shareGroupHeartbeatRequest> {}

export const topicPartitions = fields({
  topicId: uuid('0+'),
  partitions: list('0+', int32),
})
export interface TopicPartitions extends Infer<typeof topicPartitions> {}

export const assignment = fields({
  topicPartitions: list('0+', topicPartitions),
})
export interface Assignment extends Infer<typeof assignment> {}

export const shareGroupHeartbeatResponse = message(
  'ShareGroupHeartbeatResponse',
  { key: 76, versions: '1', flexible: '0+' },
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
export interface ShareGroupHeartbeatResponse extends Infer<typeof shareGroupHeartbeatResponse> {}
