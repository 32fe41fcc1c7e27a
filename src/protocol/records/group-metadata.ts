import { bytes, fields, type Infer, int32, int64, list, message, string } from '../schema.ts'

export const groupMetadataKey = message(
  'GroupMetadataKey',
  { key: 2, versions: '0', flexible: 'none' },
  {
    group: string('0'),
  },
)
export interface GroupMetadataKey extends Infer<typeof groupMetadataKey> {}

export const memberMetadata = fields({
  memberId: string('0+'),
  groupInstanceId: string('3+', { nullable: '3+', default: null, ignorable: true }),
  clientId: string('0+'),
  clientHost: string('0+'),
  rebalanceTimeout: int32('1+', { default: -1, ignorable: true }),
  sessionTimeout: int32('0+'),
  subscription: bytes('0+'),
  assignment: bytes('0+'),
})
export interface MemberMetadata extends Infer<typeof memberMetadata> {}

export const groupMetadataValue = message(
  'GroupMetadataValue',
  { key: 2, versions: '0-4', flexible: '4+' },
  {
    protocolType: string('0+'),
    generation: int32('0+'),
    protocol: string('0+', { nullable: '0+' }),
    leader: string('0+', { nullable: '0+' }),
    currentStateTimestamp: int64('2+', { default: -1, ignorable: true }),
    members: list('0+', memberMetadata),
  },
)
export interface GroupMetadataValue extends Infer<typeof groupMetadataValue> {}
