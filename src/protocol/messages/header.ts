import { type Infer, int16, int32, message, string } from '../schema.ts'

export const requestHeader = message(
  'RequestHeader',
  { versions: '1-2', flexible: '2+' },
  {
    requestApiKey: int16('0+'),
    requestApiVersion: int16('0+'),
    correlationId: int32('0+'),
    clientId: string('1+', { nullable: '1+', flexible: 'none' }),
  },
)
export interface RequestHeader extends Infer<typeof requestHeader> {}

export const responseHeader = message(
  'ResponseHeader',
  { versions: '0-1', flexible: '1+' },
  {
    correlationId: int32('0+'),
  },
)
export interface ResponseHeader extends Infer<typeof responseHeader> {}
