import { errorCode, fields, type Infer, int32, list, message, string, uuid } from '../schema.ts'

export const deleteTopicsRequest = message(
  'DeleteTopicsRequest',
  { key: 20, versions: '1-6', flexible: '4+' },
  {
    /** Since version 6, each by name or by id. */
    topics: list('6+', {
      name: string('0+', { nullable: '0+', default: null }),
      topicId: uuid('0+'),
    }),
    /** Until version 5. */
    topicNames: list('0-5', string, { ignorable: true }),
    timeoutMs: int32('0+'),
  },
)
export interface DeleteTopicsRequest extends Infer<typeof deleteTopicsRequest> {}

export const deletableTopicResult = fields({
  name: string('0+', { nullable: '6+' }),
  topicId: uuid('6+', { ignorable: true }),
  errorCode: errorCode('0+'),
  errorMessage: string('5+', { nullable: '0+', default: null, ignorable: true }),
})
export interface DeletableTopicResult extends Infer<typeof deletableTopicResult> {}

export const deleteTopicsResponse = message(
  'DeleteTopicsResponse',
  { key: 20, versions: '1-6', flexible: '4+' },
  {
    throttleTimeMs: int32('0+', { ignorable: true }),
    responses: list('0+', deletableTopicResult),
  },
)
export interface DeleteTopicsResponse extends Infer<typeof deleteTopicsResponse> {}
