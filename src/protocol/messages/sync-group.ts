import { bytes, errorCode, type Infer, int32, list, message, string } from '../schema.ts'

export const syncGroupRequest = message(
  'SyncGroupRequest',
  { key: 14, versions: '0-5', flexible: '4+' },
  {
    groupId: string('0+'),
    generationId: int32('0+'),
    memberId: string('0+'),
    groupInstanceId: string('3+', { nullable: '0+', default: null }),
    protocolType: string('5+', { nullable: '0+', default: null, ignorable: true }),
    protocolName: string('5+', { nullable: '0+', default: null, ignorable: true }),
    /** From the leader only. */
    assignments: list('0+', {
      memberId: string('0+'),
      assignment: bytes('0+'),
    }),
  },
)
export interface SyncGroupRequest extends Infer<typeof syncGroupRequest> {}

export const syncGroupResponse = message(
  'SyncGroupResponse',
  { key: 14, versions: '0-5', flexible: '4+' },
  {
    throttleTimeMs: int32('1+', { ignorable: true }),
    errorCode: errorCode('0+'),
    protocolType: string('5+', { nullable: '0+', default: null, ignorable: true }),
    protocolName: string('5+', { nullable: '0+', default: null, ignorable: true }),
    /** For `consumer` groups see `consumer-protocol.ts`. */
    assignment: bytes('0+'),
  },
)
export interface SyncGroupResponse extends Infer<typeof syncGroupResponse> {}
