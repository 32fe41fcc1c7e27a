import { errorCode, fields, type Infer, int16, int32, list, message, string, struct, uint16, uuid } from '../schema.ts'

export const listener = fields({
  name: string('0+'),
  host: string('0+'),
  port: uint16('0+'),
})
export interface Listener extends Infer<typeof listener> {}

export const updateRaftVoterRequest = message(
  'UpdateRaftVoterRequest',
  { key: 82, versions: '0', flexible: '0+' },
  {
    clusterId: string('0+', { nullable: '0+' }),
    currentLeaderEpoch: int32('0+'),
    voterId: int32('0+'),
    voterDirectoryId: uuid('0+'),
    listeners: list('0+', listener),
    kraftVersionFeature: struct('0+', {
      minSupportedVersion: int16('0+'),
      maxSupportedVersion: int16('0+'),
    }),
  },
)
export interface UpdateRaftVoterRequest extends Infer<typeof updateRaftVoterRequest> {}

export const currentLeader = fields({
  leaderId: int32('0+', { default: -1 }),
  leaderEpoch: int32('0+', { default: -1 }),
  host: string('0+'),
  port: int32('0+'),
})
export interface CurrentLeader extends Infer<typeof currentLeader> {}

export const updateRaftVoterResponse = message(
  'UpdateRaftVoterResponse',
  { key: 82, versions: '0', flexible: '0+' },
  {
    throttleTimeMs: int32('0+'),
    errorCode: errorCode('0+'),
    currentLeader: struct('0+', currentLeader, { tag: 0 }),
  },
)
export interface UpdateRaftVoterResponse extends Infer<typeof updateRaftVoterResponse> {}
