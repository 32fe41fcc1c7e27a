import { errorCode, type Infer, int32, message, string } from '../schema.ts'

export const heartbeatRequest = message(
  'HeartbeatRequest',
  { key: 12, versions: '0-4', flexible: '4+' },
  {
    groupId: string('0+'),
    generationId: int32('0+'),
    memberId: string('0+'),
    groupInstanceId: string('3+', { nullable: '3+', default: null }),
  },
)
export interface HeartbeatRequest extends Infer<typeof heartbeatRequest> {}

export const heartbeatResponse = message(
  'HeartbeatResponse',
  { key: 12, versions: '0-4', flexible: '4+' },
  {
    throttleTimeMs: int32('1+', { ignorable: true }),
    errorCode: errorCode('0+'),
  },
)
export interface HeartbeatResponse extends Infer<typeof heartbeatResponse> {}
