import { bool, errorCode, fields, float64, type Infer, int32, list, message, string } from '../schema.ts'

export const opData = fields({
  key: string('0+'),
  value: float64('0+'),
  remove: bool('0+'),
})
export interface OpData extends Infer<typeof opData> {}

export const entryData = fields({
  entity: list('0+', {
    entityType: string('0+'),
    entityName: string('0+', { nullable: '0+' }),
  }),
  ops: list('0+', opData),
})
export interface EntryData extends Infer<typeof entryData> {}

export const alterClientQuotasRequest = message(
  'AlterClientQuotasRequest',
  { key: 49, versions: '0-1', flexible: '1+' },
  {
    entries: list('0+', entryData),
    validateOnly: bool('0+'),
  },
)
export interface AlterClientQuotasRequest extends Infer<typeof alterClientQuotasRequest> {}

export const entryDataResponse = fields({
  errorCode: errorCode('0+'),
  errorMessage: string('0+', { nullable: '0+' }),
  entity: list('0+', {
    entityType: string('0+'),
    entityName: string('0+', { nullable: '0+' }),
  }),
})
export interface EntryDataResponse extends Infer<typeof entryDataResponse> {}

export const alterClientQuotasResponse = message(
  'AlterClientQuotasResponse',
  { key: 49, versions: '0-1', flexible: '1+' },
  {
    throttleTimeMs: int32('0+'),
    entries: list('0+', entryDataResponse),
  },
)
export interface AlterClientQuotasResponse extends Infer<typeof alterClientQuotasResponse> {}
