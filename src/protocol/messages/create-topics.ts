import { bool, errorCode, fields, type Infer, int8, int16, int32, list, message, string, uuid } from '../schema.ts'

export const creatableTopic = fields({
  name: string('0+'),
  /** -1: as the broker is configured, or as `assignments` say. */
  numPartitions: int32('0+'),
  /** -1: as the broker is configured, or as `assignments` say. */
  replicationFactor: int16('0+'),
  /** Replicas by hand; none leaves them to the controller. */
  assignments: list('0+', {
    partitionIndex: int32('0+'),
    brokerIds: list('0+', int32),
  }),
  configs: list('0+', {
    name: string('0+'),
    value: string('0+', { nullable: '0+' }),
  }),
})
export interface CreatableTopic extends Infer<typeof creatableTopic> {}

export const createTopicsRequest = message(
  'CreateTopicsRequest',
  { key: 19, versions: '2-7', flexible: '5+' },
  {
    topics: list('0+', creatableTopic),
    timeoutMs: int32('0+', { default: 60000 }),
    /** Say what would happen, and do nothing. */
    validateOnly: bool('0+', { default: false }),
  },
)
export interface CreateTopicsRequest extends Infer<typeof createTopicsRequest> {}

export const creatableTopicConfigs = fields({
  name: string('0+'),
  value: string('0+', { nullable: '0+' }),
  readOnly: bool('0+'),
  configSource: int8('0+', { default: -1, ignorable: true }),
  isSensitive: bool('0+'),
})
export interface CreatableTopicConfigs extends Infer<typeof creatableTopicConfigs> {}

export const creatableTopicResult = fields({
  name: string('0+'),
  topicId: uuid('7+', { ignorable: true }),
  errorCode: errorCode('0+'),
  errorMessage: string('0+', { nullable: '0+', ignorable: true }),
  /** Why `configs` is null: the caller may not see them. */
  topicConfigErrorCode: errorCode('5+', { tag: 0, ignorable: true }),
  /** -1 with an error. */
  numPartitions: int32('5+', { default: -1, ignorable: true }),
  /** -1 with an error. */
  replicationFactor: int16('5+', { default: -1, ignorable: true }),
  configs: list('5+', creatableTopicConfigs, { nullable: '0+', ignorable: true }),
})
export interface CreatableTopicResult extends Infer<typeof creatableTopicResult> {}

export const createTopicsResponse = message(
  'CreateTopicsResponse',
  { key: 19, versions: '2-7', flexible: '5+' },
  {
    throttleTimeMs: int32('0+', { ignorable: true }),
    topics: list('0+', creatableTopicResult),
  },
)
export interface CreateTopicsResponse extends Infer<typeof createTopicsResponse> {}
