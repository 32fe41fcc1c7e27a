import { bool, errorCode, fields, type Infer, int32, list, message, string, uint16, uuid } from '../schema.ts'

export const listener = fields({
  name: string('0+'),
  host: string('0+'),
  port: uint16('0+'),
})
export interface Listener extends Infer<typeof listener> {}

export const addRaftVoterRequest = message(
  'AddRaftVoterRequest',
  { key: 80, versions: '0-1', flexible: '0+' },
  {
    clusterId: string('0+', { nullable: '0+' }),
    timeoutMs: int32('0+'),
    voterId: int32('0+'),
    voterDirectoryId: uuid('0+'),
    listeners: list('0+', listener),
    ackWhenCommitted: bool('1+', { default: true }),
  },
)
export interface AddRaftVoterRequest extends Infer<typeof addRaftVoterRequest> {}

export const addRaftVoterResponse = message(
  'AddRaftVoterResponse',
  { key: 80, versions: '0-1', flexible: '0+' },
  {
    throttleTimeMs: int32('0+'),
    errorCode: errorCode('0+'),
    errorMessage: string('0+', { nullable: '0+', ignorable: true }),
  },
)
export interface AddRaftVoterResponse extends Infer<typeof addRaftVoterResponse> {}
