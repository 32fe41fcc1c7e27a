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
    /** One record batch. */
    records: records('0+', { nullable: '0+' }),
  }),
})
export interface TopicProduceData extends Infer<typeof topicProduceData> {}

export const produceRequest = message(
  'ProduceRequest',
  { key: 0, versions: '3-13', flexible: '9+' },
  {
    /** Null outside of transactions. */
    transactionalId: string('0+', { nullable: '0+', default: null }),
    /** 0: no answer at all; 1: the leader has it; -1: every in-sync replica has it. */
    acks: int16('0+'),
    /** How long to wait for the in-sync replicas when `acks` is -1. */
    timeoutMs: int32('0+'),
    topicData: list('0+', topicProduceData),
  },
)
export interface ProduceRequest extends Infer<typeof produceRequest> {}

export const partitionProduceResponse = fields({
  index: int32('0+'),
  errorCode: errorCode('0+'),
  /** Offset of the batch's first record; -1 with an error. */
  baseOffset: int64('0+'),
  /** The broker's time that the records got, or -1 where the topic keeps the producer's. */
  logAppendTimeMs: int64('0+', { default: -1, ignorable: true }),
  /** First offset still readable. */
  logStartOffset: int64('5+', { default: -1, ignorable: true }),
  /** Which records of the batch were the reason to refuse it. */
  recordErrors: list(
    '8+',
    {
      batchIndex: int32('0+'),
      batchIndexErrorMessage: string('0+', { nullable: '0+', default: null }),
    },
    { ignorable: true },
  ),
  errorMessage: string('8+', { nullable: '0+', default: null, ignorable: true }),
  /** Where to go instead, with notLeaderOrFollower; the address is in `nodeEndpoints`. */
  currentLeader: struct(
    '10+',
    {
      leaderId: int32('0+', { default: -1 }),
      leaderEpoch: int32('0+', { default: -1 }),
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
  nodeId: int32('0+'),
  host: string('0+'),
  port: int32('0+'),
  rack: string('0+', { nullable: '0+', default: null }),
})
export interface NodeEndpoint extends Infer<typeof nodeEndpoint> {}

export const produceResponse = message(
  'ProduceResponse',
  { key: 0, versions: '3-13', flexible: '9+' },
  {
    responses: list('0+', topicProduceResponse),
    throttleTimeMs: int32('0+', { default: 0, ignorable: true }),
    /** Addresses of the leaders named above. */
    nodeEndpoints: list('10+', nodeEndpoint, { tag: 0 }),
  },
)
export interface ProduceResponse extends Infer<typeof produceResponse> {}
