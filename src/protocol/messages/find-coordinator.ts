import { errorCode, fields, type Infer, int8, int32, list, message, string } from '../schema.ts'

export const findCoordinatorRequest = message(
  'FindCoordinatorRequest',
  { key: 10, versions: '0-6', flexible: '3+' },
  {
    /** Until version 3, when there was one. */
    key: string('0-3'),
    /** 0 group, 1 transaction, 2 share. */
    keyType: int8('1+', { default: 0 }),
    /** For share: `groupId:topicId:partition`. */
    coordinatorKeys: list('4+', string),
  },
)
export interface FindCoordinatorRequest extends Infer<typeof findCoordinatorRequest> {}

export const coordinator = fields({
  key: string('0+'),
  nodeId: int32('0+'),
  host: string('0+'),
  port: int32('0+'),
  errorCode: errorCode('0+'),
  errorMessage: string('0+', { nullable: '0+', ignorable: true }),
})
export interface Coordinator extends Infer<typeof coordinator> {}

export const findCoordinatorResponse = message(
  'FindCoordinatorResponse',
  { key: 10, versions: '0-6', flexible: '3+' },
  {
    throttleTimeMs: int32('1+', { ignorable: true }),
    errorCode: errorCode('0-3'),
    errorMessage: string('1-3', { nullable: '0+', ignorable: true }),
    nodeId: int32('0-3'),
    host: string('0-3'),
    port: int32('0-3'),
    coordinators: list('4+', coordinator),
  },
)
export interface FindCoordinatorResponse extends Infer<typeof findCoordinatorResponse> {}
