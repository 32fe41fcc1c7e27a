import { bool, float64, type Infer, int8, int16, int32, int64, list, message, string } from '../schema.ts'

export const configRecord = message(
  'ConfigRecord',
  { key: 4, versions: '0', flexible: '0+' },
  {
    resourceType: int8('0+'),
    resourceName: string('0+'),
    name: string('0+'),
    /** Null removes the setting. */
    value: string('0+', { nullable: '0+' }),
  },
)
export interface ConfigRecord extends Infer<typeof configRecord> {}

export const clientQuotaRecord = message(
  'ClientQuotaRecord',
  { key: 14, versions: '0', flexible: '0+' },
  {
    entity: list('0+', {
      entityType: string('0+'),
      entityName: string('0+', { nullable: '0+' }),
    }),
    key: string('0+'),
    value: float64('0+'),
    remove: bool('0+'),
  },
)
export interface ClientQuotaRecord extends Infer<typeof clientQuotaRecord> {}

export const featureLevelRecord = message(
  'FeatureLevelRecord',
  { key: 12, versions: '0', flexible: '0+' },
  {
    name: string('0+'),
    /** 0 removes the feature. */
    featureLevel: int16('0+'),
  },
)
export interface FeatureLevelRecord extends Infer<typeof featureLevelRecord> {}

export const producerIdsRecord = message(
  'ProducerIdsRecord',
  { key: 15, versions: '0', flexible: '0+' },
  {
    brokerId: int32('0+'),
    brokerEpoch: int64('0+', { default: -1 }),
    /** Every id below has been given out. */
    nextProducerId: int64('0+'),
  },
)
export interface ProducerIdsRecord extends Infer<typeof producerIdsRecord> {}
