import { errorCode, fields, type Infer, int8, int32, list, message, string } from '../schema.ts'

export const findCoordinatorRequest = message(
  'FindCoordinatorRequest',
  { key: 10, versions: '0-6', flexible: '3+' },
  {
    key: string('0-3'),
    keyType: int8('1+', { default: 0 }),
    coordinatorKeys: list('4+', string),
  },
)
export interface FindCoordinatorRequest extends Infer<typeof findCoordinatorRequest> {}

export const coordinator = fields({
  key: string('4+'),
  nodeId: int32('4+'),
  host: string('4+'),
  port: int32('4+'),
  errorCode: errorCode('4+'),
  errorMessage: string('4+', { nullable: '4+', ignorable: true }),
})
export interface Coordinator extends Infer<typeof coordinator> {}

export const findCoordinatorResponse = message(
  'FindCoordinatorResponse',
  { key: 10, versions: '0-6', flexible: '3+' },
  {
    throttleTimeMs: int32('1+', { ignorable: true }),
    errorCode: errorCode('0-3'),
    errorMessage: string('1-3', { nullable: '1-3', ignorable: true }),
    nodeId: int32('0-3'),
    host: string('0-3'),
    port: int32('0-3'),
    coordinators: list('4+', coordinator),
  },
)
export interface FindCoordinatorResponse extends Infer<typeof findCoordinatorResponse> {}
