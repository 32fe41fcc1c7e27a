import { fields, type Infer, int16, int32, int64, list, message, string, struct, uint16, uuid } from '../schema.ts'

export const controlRecordTypeSchema = message(
  'ControlRecordTypeSchema',
  { versions: '0', flexible: 'none' },
  {
    type: int16('0+'),
  },
)
export interface ControlRecordTypeSchema extends Infer<typeof controlRecordTypeSchema> {}

export const endTxnMarker = message(
  'EndTxnMarker',
  { versions: '0', flexible: 'none' },
  {
    coordinatorEpoch: int32('0+'),
  },
)
export interface EndTxnMarker extends Infer<typeof endTxnMarker> {}

export const voter = fields({
  voterId: int32('0+'),
  voterDirectoryId: uuid('1+'),
})
export interface Voter extends Infer<typeof voter> {}

export const leaderChangeMessage = message(
  'LeaderChangeMessage',
  { versions: '0-1', flexible: '0+' },
  {
    version: int16('0+'),
    leaderId: int32('0+'),
    voters: list('0+', voter),
    grantingVoters: list('0+', voter),
  },
)
export interface LeaderChangeMessage extends Infer<typeof leaderChangeMessage> {}

export const snapshotHeaderRecord = message(
  'SnapshotHeaderRecord',
  { versions: '0', flexible: '0+' },
  {
    version: int16('0+'),
    lastContainedLogTimestamp: int64('0+'),
  },
)
export interface SnapshotHeaderRecord extends Infer<typeof snapshotHeaderRecord> {}

export const snapshotFooterRecord = message(
  'SnapshotFooterRecord',
  { versions: '0', flexible: '0+' },
  {
    version: int16('0+'),
  },
)
export interface SnapshotFooterRecord extends Infer<typeof snapshotFooterRecord> {}

export const kraftVersionRecord = message(
  'KRaftVersionRecord',
  { versions: '0', flexible: '0+' },
  {
    version: int16('0+'),
    kraftVersion: int16('0+'),
  },
)
export interface KRaftVersionRecord extends Infer<typeof kraftVersionRecord> {}

export const endpoint = fields({
  name: string('0+'),
  host: string('0+'),
  port: uint16('0+'),
})
export interface Endpoint extends Infer<typeof endpoint> {}

export const votersRecordVoter = fields({
  voterId: int32('0+'),
  /** Zero if unknown, which matches any. */
  voterDirectoryId: uuid('0+'),
  endpoints: list('0+', endpoint),
  kraftVersionFeature: struct('0+', {
    minSupportedVersion: int16('0+'),
    maxSupportedVersion: int16('0+'),
  }),
})
export interface VotersRecordVoter extends Infer<typeof votersRecordVoter> {}

export const votersRecord = message(
  'VotersRecord',
  { versions: '0', flexible: '0+' },
  {
    version: int16('0+'),
    voters: list('0+', votersRecordVoter),
  },
)
export interface VotersRecord extends Infer<typeof votersRecord> {}
