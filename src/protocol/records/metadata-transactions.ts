import { type Infer, int8, message, string } from '../schema.ts'

export const beginTransactionRecord = message(
  'BeginTransactionRecord',
  { key: 23, versions: '0', flexible: '0+' },
  {
    name: string('0+', { nullable: '0+', default: null, tag: 0 }),
  },
)
export interface BeginTransactionRecord extends Infer<typeof beginTransactionRecord> {}

export const endTransactionRecord = message('EndTransactionRecord', { key: 24, versions: '0', flexible: '0+' }, {})
export interface EndTransactionRecord extends Infer<typeof endTransactionRecord> {}

export const abortTransactionRecord = message(
  'AbortTransactionRecord',
  { key: 25, versions: '0', flexible: '0+' },
  {
    reason: string('0+', { nullable: '0+', default: null, tag: 0 }),
  },
)
export interface AbortTransactionRecord extends Infer<typeof abortTransactionRecord> {}

export const noOpRecord = message('NoOpRecord', { key: 20, versions: '0', flexible: '0+' }, {})
export interface NoOpRecord extends Infer<typeof noOpRecord> {}

export const zkMigrationStateRecord = message(
  'ZkMigrationStateRecord',
  { key: 21, versions: '0', flexible: '0+' },
  {
    zkMigrationState: int8('0+'),
  },
)
export interface ZkMigrationStateRecord extends Infer<typeof zkMigrationStateRecord> {}
