import { errorCode, fields, type Infer, int8, int32, int64, list, message, string, timestamp64 } from '../schema.ts'

export const listOffsetsPartition = fields({
  partitionIndex: int32('0+'),
  currentLeaderEpoch: int32('4+', { default: -1, ignorable: true }),
  /** Time to look for, or -1 latest, -2 earliest, -3 greatest timestamp, -4 earliest local, -5 latest tiered, -6 earliest not yet tiered. */
  timestamp: timestamp64('0+'),
})
export interface ListOffsetsPartition extends Infer<typeof listOffsetsPartition> {}

export const listOffsetsTopic = fields({
  name: string('0+'),
  partitions: list('0+', listOffsetsPartition),
})
export interface ListOffsetsTopic extends Infer<typeof listOffsetsTopic> {}

export const listOffsetsRequest = message(
  'ListOffsetsRequest',
  { key: 2, versions: '1-11', flexible: '6+' },
  {
    /** -1 for a client. */
    replicaId: int32('0+'),
    /** With 1 the latest offset is the last stable one. */
    isolationLevel: int8('2+'),
    topics: list('0+', listOffsetsTopic),
    /** How long the broker may look in tiered storage. */
    timeoutMs: int32('10+', { ignorable: true }),
  },
)
export interface ListOffsetsRequest extends Infer<typeof listOffsetsRequest> {}

export const listOffsetsPartitionResponse = fields({
  partitionIndex: int32('0+'),
  errorCode: errorCode('0+'),
  /** Of the record found; -1 if none was, or none was looked for. */
  timestamp: timestamp64('0+', { default: -1n }),
  /** -1 if no record is as late as asked. */
  offset: int64('0+', { default: -1 }),
  /** In which the record was written; -1 if unknown. */
  leaderEpoch: int32('4+', { default: -1 }),
})
export interface ListOffsetsPartitionResponse extends Infer<typeof listOffsetsPartitionResponse> {}

export const listOffsetsTopicResponse = fields({
  name: string('0+'),
  partitions: list('0+', listOffsetsPartitionResponse),
})
export interface ListOffsetsTopicResponse extends Infer<typeof listOffsetsTopicResponse> {}

export const listOffsetsResponse = message(
  'ListOffsetsResponse',
  { key: 2, versions: '1-11', flexible: '6+' },
  {
    throttleTimeMs: int32('2+', { ignorable: true }),
    topics: list('0+', listOffsetsTopicResponse),
  },
)
export interface ListOffsetsResponse extends Infer<typeof listOffsetsResponse> {}
