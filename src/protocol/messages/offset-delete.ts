import { errorCode, fields, type Infer, int32, list, message, string } from '../schema.ts'

export const offsetDeleteRequestTopic = fields({
  name: string('0+'),
  partitions: list('0+', {
    partitionIndex: int32('0+'),
  }),
})
export interface OffsetDeleteRequestTopic extends Infer<typeof offsetDeleteRequestTopic> {}

export const offsetDeleteRequest = message(
  'OffsetDeleteRequest',
  { key: 47, versions: '0', flexible: 'none' },
  {
    groupId: string('0+'),
    topics: list('0+', offsetDeleteRequestTopic),
  },
)
export interface OffsetDeleteRequest extends Infer<typeof offsetDeleteRequest> {}

export const offsetDeleteResponseTopic = fields({
  name: string('0+'),
  partitions: list('0+', {
    partitionIndex: int32('0+'),
    errorCode: errorCode('0+'),
  }),
})
export interface OffsetDeleteResponseTopic extends Infer<typeof offsetDeleteResponseTopic> {}

export const offsetDeleteResponse = message(
  'OffsetDeleteResponse',
  { key: 47, versions: '0', flexible: 'none' },
  {
    errorCode: errorCode('0+'),
    throttleTimeMs: int32('0+', { ignorable: true }),
    topics: list('0+', offsetDeleteResponseTopic),
  },
)
export interface OffsetDeleteResponse extends Infer<typeof offsetDeleteResponse> {}
