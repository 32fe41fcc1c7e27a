import { errorCode, type Infer, int32, message, string, uuid } from '../schema.ts'

export const removeRaftVoterRequest = message(
  'RemoveRaftVoterRequest',
  { key: 81, versions: '0', flexible: '0+' },
  {
    clusterId: string('0+', { nullable: '0+' }),
    voterId: int32('0+'),
    voterDirectoryId: uuid('0+'),
  },
)
export interface RemoveRaftVoterRequest extends Infer<typeof removeRaftVoterRequest> {}

export const removeRaftVoterResponse = message(
  'RemoveRaftVoterResponse',
  { key: 81, versions: '0', flexible: '0+' },
  {
    throttleTimeMs: int32('0+'),
    errorCode: errorCode('0+'),
    errorMessage: string('0+', { nullable: '0+', ignorable: true }),
  },
)
export interface RemoveRaftVoterResponse extends Infer<typeof removeRaftVoterResponse> {}
