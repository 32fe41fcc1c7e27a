import { errorCode, fields, type Infer, int32, int64, list, message, uuid } from '../schema.ts'

export const topicData = fields({
  topicId: uuid('0+'),
  partitions: list('0+', {
    partitionIndex: int32('0+'),
  }),
})
export interface TopicData extends Infer<typeof topicData> {}

export const directoryData = fields({
  id: uuid('0+'),
  topics: list('0+', topicData),
})
export interface DirectoryData extends Infer<typeof directoryData> {}

export const assignReplicasToDirsRequest = message(
  'AssignReplicasToDirsRequest',
  { key: 73, versions: '0', flexible: '0+' },
  {
    brokerId: int32('0+'),
    brokerEpoch: int64('0+', { default: -1 }),
    directories: list('0+', directoryData),
  },
)
export interface AssignReplicasToDirsRequest extends Infer<typeof assignReplicasToDirsRequest> {}

export const topicDataResponse = fields({
  topicId: uuid('0+'),
  partitions: list('0+', {
    partitionIndex: int32('0+'),
    errorCode: errorCode('0+'),
  }),
})
export interface TopicDataResponse extends Infer<typeof topicDataResponse> {}

export const directoryDataResponse = fields({
  id: uuid('0+'),
  topics: list('0+', topicDataResponse),
})
export interface DirectoryDataResponse extends Infer<typeof directoryDataResponse> {}

export const assignReplicasToDirsResponse = message(
  'AssignReplicasToDirsResponse',
  { key: 73, versions: '0', flexible: '0+' },
  {
    throttleTimeMs: int32('0+'),
    errorCode: errorCode('0+'),
    directories: list('0+', directoryDataResponse),
  },
)
export interface AssignReplicasToDirsResponse extends Infer<typeof assignReplicasToDirsResponse> {}
