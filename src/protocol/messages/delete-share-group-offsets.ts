import { errorCode, fields, type Infer, int32, list, message, string, uuid } from '../schema.ts'

export const deleteShareGroupOffsetsRequest = message(
  'DeleteShareGroupOffsetsRequest',
  { key: 92, versions: '0', flexible: '0+' },
  {
    groupId: string('0+'),
    topics: list('0+', {
      topicName: string('0+'),
    }),
  },
)
export interface DeleteShareGroupOffsetsRequest extends Infer<typeof deleteShareGroupOffsetsRequest> {}

export const deleteShareGroupOffsetsResponseTopic = fields({
  topicName: string('0+'),
  topicId: uuid('0+'),
  errorCode: errorCode('0+'),
  errorMessage: string('0+', { nullable: '0+', default: null }),
})
export interface DeleteShareGroupOffsetsResponseTopic extends Infer<typeof deleteShareGroupOffsetsResponseTopic> {}

export const deleteShareGroupOffsetsResponse = message(
  'DeleteShareGroupOffsetsResponse',
  { key: 92, versions: '0', flexible: '0+' },
  {
    throttleTimeMs: int32('0+'),
    errorCode: errorCode('0+'),
    errorMessage: string('0+', { nullable: '0+', default: null }),
    responses: list('0+', deleteShareGroupOffsetsResponseTopic),
  },
)
export interface DeleteShareGroupOffsetsResponse extends Infer<typeof deleteShareGroupOffsetsResponse> {}
