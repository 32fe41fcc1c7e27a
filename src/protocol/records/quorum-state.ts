import { type Infer, int32, int64, list, message, string, uuid } from '../schema.ts'

export const quorumStateData = message(
  'QuorumStateData',
  { versions: '0-1', flexible: '0+' },
  {
    clusterId: string('0'),
    leaderId: int32('0+', { default: -1 }),
    leaderEpoch: int32('0+', { default: -1 }),
    votedId: int32('0+', { default: -1 }),
    votedDirectoryId: uuid('1+'),
    appliedOffset: int64('0'),
    currentVoters: list(
      '0',
      {
        voterId: int32('0'),
      },
      { nullable: '0' },
    ),
  },
)
export interface QuorumStateData extends Infer<typeof quorumStateData> {}
