import {
  errorCode,
  fields,
  type Infer,
  int16,
  int32,
  int64,
  list,
  message,
  records,
  string,
  struct,
  uuid,
} from '../schema.ts'

export const topicProduceData = fields({
  name: string('0-12', { ignorable: true }),
  topicId: uuid('13+', { ignorable: true }),
  partitionData: list('0+', {
    index: int32('0+'),
    records: records('0+', { nullable: '0+' }),
  }),
})
export interface TopicProduceData extends Infer<typeof topicProduceData> {}

export const produceRequest = message(
  'ProduceRequest',
  { key: 0, versions: '3-13', flexible: '9+' },
  {
    transactionalId: string('3+', { nullable: '3+', default: null }),
    acks: int16('0+'),
    timeoutMs: int32('0+'),
    topicData: list('0+', topicProduceData),
  },
)
export interface ProduceRequest extends Infer<typeof produceRequest> {}

export const partitionProduceResponse = fields({
  index: int32('0+'),
  errorCode: errorCode('0+'),
  baseOffset: int64('0+'),
  logAppendTimeMs: int64('2+', { default: -1, ignorable: true }),
  logStartOffset: int64('5+', { default: -1, ignorable: true }),
  recordErrors: list(
    '8+',
    {
      batchIndex: int32('8+'),
      batchIndexErrorMessage: string('8+', { nullable: '8+', default: null }),
    },
    { ignorable: true },
  ),
  errorMessage: string('8+', { nullable: '8+', default: null, ignorable: true }),
  currentLeader: struct(
    '10+',
    {
      leaderId: int32('10+', { default: -1 }),
      leaderEpoch: int32('10+', { default: -1 }),
    },
    { tag: 0 },
  ),
})
export interface PartitionProduceResponse extends Infer<typeof partitionProduceResponse> {}

export const topicProduceResponse = fields({
  name: string('0-12', { ignorable: true }),
  topicId: uuid('13+', { ignorable: true }),
  partitionResponses: list('0+', partitionProduceResponse),
})
export interface TopicProduceResponse extends Infer<typeof topicProduceResponse> {}

export const nodeEndpoint = fields({
  nodeId: int32('10+'),
  host: string('10+'),
  port: int32('10+'),
  rack: string('10+', { nullable: '10+', default: null }),
})
export interface NodeEndpoint extends Infer<typeof nodeEndpoint> {}

export const produceResponse = message(
  'ProduceResponse',
  { key: 0, versions: '3-13', flexible: '9+' },
  {
    responses: list('0+', topicProduceResponse),
    throttleTimeMs: int32('1+', { default: 0, ignorable: true }),
    nodeEndpoints: list('10+', nodeEndpoint, { tag: 0 }),
  },
)
export interface ProduceResponse extends Infer<typeof produceResponse> {}
