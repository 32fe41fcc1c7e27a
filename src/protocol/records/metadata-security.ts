import { bytes, type Infer, int8, int32, int64, list, message, string, uuid } from '../schema.ts'

export const accessControlEntryRecord = message(
  'AccessControlEntryRecord',
  { key: 18, versions: '0', flexible: '0+' },
  {
    id: uuid('0+'),
    resourceType: int8('0+'),
    resourceName: string('0+'),
    patternType: int8('0+'),
    principal: string('0+'),
    host: string('0+'),
    operation: int8('0+'),
    permissionType: int8('0+'),
  },
)
export interface AccessControlEntryRecord extends Infer<typeof accessControlEntryRecord> {}

export const removeAccessControlEntryRecord = message(
  'RemoveAccessControlEntryRecord',
  { key: 19, versions: '0', flexible: '0+' },
  {
    id: uuid('0+'),
  },
)
export interface RemoveAccessControlEntryRecord extends Infer<typeof removeAccessControlEntryRecord> {}

export const userScramCredentialRecord = message(
  'UserScramCredentialRecord',
  { key: 11, versions: '0', flexible: '0+' },
  {
    name: string('0+'),
    mechanism: int8('0+'),
    salt: bytes('0+'),
    storedKey: bytes('0+'),
    serverKey: bytes('0+'),
    iterations: int32('0+'),
  },
)
export interface UserScramCredentialRecord extends Infer<typeof userScramCredentialRecord> {}

export const removeUserScramCredentialRecord = message(
  'RemoveUserScramCredentialRecord',
  { key: 22, versions: '0', flexible: '0+' },
  {
    name: string('0+'),
    mechanism: int8('0+'),
  },
)
export interface RemoveUserScramCredentialRecord extends Infer<typeof removeUserScramCredentialRecord> {}

export const delegationTokenRecord = message(
  'DelegationTokenRecord',
  { key: 10, versions: '0', flexible: '0+' },
  {
    owner: string('0+'),
    requester: string('0+'),
    renewers: list('0+', string),
    issueTimestamp: int64('0+'),
    maxTimestamp: int64('0+'),
    expirationTimestamp: int64('0+'),
    tokenId: string('0+'),
  },
)
export interface DelegationTokenRecord extends Infer<typeof delegationTokenRecord> {}

export const removeDelegationTokenRecord = message(
  'RemoveDelegationTokenRecord',
  { key: 26, versions: '0', flexible: '0+' },
  {
    tokenId: string('0+'),
  },
)
export interface RemoveDelegationTokenRecord extends Infer<typeof removeDelegationTokenRecord> {}
