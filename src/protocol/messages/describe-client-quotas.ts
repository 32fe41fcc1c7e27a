import { bool, errorCode, fields, float64, type Infer, int8, int32, list, message, string } from '../schema.ts'

export const componentData = fields({
  entityType: string('0+'),
  matchType: int8('0+'),
  match: string('0+', { nullable: '0+' }),
})
export interface ComponentData extends Infer<typeof componentData> {}

export const describeClientQuotasRequest = message(
  'DescribeClientQuotasRequest',
  { key: 48, versions: '0-1', flexible: '1+' },
  {
    components: list('0+', componentData),
    strict: bool('0+'),
  },
)
export interface DescribeClientQuotasRequest extends Infer<typeof describeClientQuotasRequest> {}

export const entryData = fields({
  entity: list('0+', {
    entityType: string('0+'),
    entityName: string('0+', { nullable: '0+' }),
  }),
  values: list('0+', {
    key: string('0+'),
    value: float64('0+'),
  }),
})
export interface EntryData extends Infer<typeof entryData> {}

export const describeClientQuotasResponse = message(
  'DescribeClientQuotasResponse',
  { key: 48, versions: '0-1', flexible: '1+' },
  {
    throttleTimeMs: int32('0+'),
    errorCode: errorCode('0+'),
    errorMessage: string('0+', { nullable: '0+' }),
    entries: list('0+', entryData, { nullable: '0+' }),
  },
)
export interface DescribeClientQuotasResponse extends Infer<typeof describeClientQuotasResponse> {}
