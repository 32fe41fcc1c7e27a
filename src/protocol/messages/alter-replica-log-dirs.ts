import { errorCode, fields, type Infer, int32, list, message, string } from '../schema.ts'

export const alterReplicaLogDir = fields({
  path: string('0+'),
  topics: list('0+', {
    name: string('0+'),
    partitions: list('0+', int32),
  }),
})
export interface AlterReplicaLogDir extends Infer<typeof alterReplicaLogDir> {}

export const alterReplicaLogDirsRequest = message(
  'AlterReplicaLogDirsRequest',
  { key: 34, versions: '1-2', flexible: '2+' },
  {
    dirs: list('0+', alterReplicaLogDir),
  },
)
export interface AlterReplicaLogDirsRequest extends Infer<typeof alterReplicaLogDirsRequest> {}

export const alterReplicaLogDirTopicResult = fields({
  topicName: string('0+'),
  partitions: list('0+', {
    partitionIndex: int32('0+'),
    errorCode: errorCode('0+'),
  }),
})
export interface AlterReplicaLogDirTopicResult extends Infer<typeof alterReplicaLogDirTopicResult> {}

export const alterReplicaLogDirsResponse = message(
  'AlterReplicaLogDirsResponse',
  { key: 34, versions: '1-2', flexible: '2+' },
  {
    throttleTimeMs: int32('0+'),
    results: list('0+', alterReplicaLogDirTopicResult),
  },
)
export interface AlterReplicaLogDirsResponse extends Infer<typeof alterReplicaLogDirsResponse> {}
