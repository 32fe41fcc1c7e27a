import { bool, errorCode, fields, type Infer, int8, int16, int32, list, message, string, uuid } from '../schema.ts'

export const creatableTopic = fields({
  name: string('0+'),
  numPartitions: int32('0+'),
  replicationFactor: int16('0+'),
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
    validateOnly: bool('1+', { default: false }),
  },
)
export interface CreateTopicsRequest extends Infer<typeof createTopicsRequest> {}

export const creatableTopicConfigs = fields({
  name: string('5+'),
  value: string('5+', { nullable: '5+' }),
  readOnly: bool('5+'),
  configSource: int8('5+', { default: -1, ignorable: true }),
  isSensitive: bool('5+'),
})
export interface CreatableTopicConfigs extends Infer<typeof creatableTopicConfigs> {}

export const creatableTopicResult = fields({
  name: string('0+'),
  topicId: uuid('7+', { ignorable: true }),
  errorCode: errorCode('0+'),
  errorMessage: string('1+', { nullable: '0+', ignorable: true }),
  topicConfigErrorCode: errorCode('5+', { tag: 0, ignorable: true }),
  numPartitions: int32('5+', { default: -1, ignorable: true }),
  replicationFactor: int16('5+', { default: -1, ignorable: true }),
  configs: list('5+', creatableTopicConfigs, { nullable: '5+', ignorable: true }),
})
export interface CreatableTopicResult extends Infer<typeof creatableTopicResult> {}

export const createTopicsResponse = message(
  'CreateTopicsResponse',
  { key: 19, versions: '2-7', flexible: '5+' },
  {
    throttleTimeMs: int32('2+', { ignorable: true }),
    topics: list('0+', creatableTopicResult),
  },
)
export interface CreateTopicsResponse extends Infer<typeof createTopicsResponse> {}
