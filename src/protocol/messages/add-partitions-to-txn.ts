import { bool, errorCode, fields, type Infer, int16, int32, int64, list, message, string } from '../schema.ts'

export const addPartitionsToTxnTopic = fields({
  name: string('0+'),
  partitions: list('0+', int32),
})
export interface AddPartitionsToTxnTopic extends Infer<typeof addPartitionsToTxnTopic> {}

export const addPartitionsToTxnTransaction = fields({
  transactionalId: string('4+'),
  producerId: int64('4+'),
  producerEpoch: int16('4+'),
  verifyOnly: bool('4+', { default: false }),
  topics: list('4+', addPartitionsToTxnTopic),
})
export interface AddPartitionsToTxnTransaction extends Infer<typeof addPartitionsToTxnTransaction> {}

export const addPartitionsToTxnRequest = message(
  'AddPartitionsToTxnRequest',
  { key: 24, versions: '0-5', flexible: '3+' },
  {
    transactions: list('4+', addPartitionsToTxnTransaction),
    v3AndBelowTransactionalId: string('0-3'),
    v3AndBelowProducerId: int64('0-3'),
    v3AndBelowProducerEpoch: int16('0-3'),
    v3AndBelowTopics: list('0-3', addPartitionsToTxnTopic),
  },
)
export interface AddPartitionsToTxnRequest extends Infer<typeof addPartitionsToTxnRequest> {}

export const addPartitionsToTxnPartitionResult = fields({
  partitionIndex: int32('0+'),
  partitionErrorCode: errorCode('0+'),
})
export interface AddPartitionsToTxnPartitionResult extends Infer<typeof addPartitionsToTxnPartitionResult> {}

export const addPartitionsToTxnTopicResult = fields({
  name: string('0+'),
  resultsByPartition: list('0+', addPartitionsToTxnPartitionResult),
})
export interface AddPartitionsToTxnTopicResult extends Infer<typeof addPartitionsToTxnTopicResult> {}

export const addPartitionsToTxnResult = fields({
  transactionalId: string('4+'),
  topicResults: list('4+', addPartitionsToTxnTopicResult),
})
export interface AddPartitionsToTxnResult extends Infer<typeof addPartitionsToTxnResult> {}

export const addPartitionsToTxnResponse = message(
  'AddPartitionsToTxnResponse',
  { key: 24, versions: '0-5', flexible: '3+' },
  {
    throttleTimeMs: int32('0+'),
    errorCode: errorCode('4+', { ignorable: true }),
    resultsByTransaction: list('4+', addPartitionsToTxnResult),
    resultsByTopicV3AndBelow: list('0-3', addPartitionsToTxnTopicResult),
  },
)
export interface AddPartitionsToTxnResponse extends Infer<typeof addPartitionsToTxnResponse> {}
