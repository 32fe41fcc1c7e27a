import { bool, errorCode, fields, type Infer, int32, int64, list, message, string } from '../schema.ts'

export const describeLogDirsRequest = message(
  'DescribeLogDirsRequest',
  { key: 35, versions: '1-5', flexible: '2+' },
  {
    topics: list(
      '0+',
      {
        topic: string('0+'),
        partitions: list('0+', int32),
      },
      { nullable: '0+' },
    ),
  },
)
export interface DescribeLogDirsRequest extends Infer<typeof describeLogDirsRequest> {}

export const describeLogDirsPartition = fields({
  partitionIndex: int32('0+'),
  partitionSize: int64('0+'),
  offsetLag: int64('0+'),
  isFutureKey: bool('0+'),
})
export interface DescribeLogDirsPartition extends Infer<typeof describeLogDirsPartition> {}

export const describeLogDirsTopic = fields({
  name: string('0+'),
  partitions: list('0+', describeLogDirsPartition),
})
export interface DescribeLogDirsTopic extends Infer<typeof describeLogDirsTopic> {}

export const describeLogDirsResult = fields({
  errorCode: errorCode('0+'),
  logDir: string('0+'),
  topics: list('0+', describeLogDirsTopic),
  totalBytes: int64('4+', { default: -1, ignorable: true }),
  usableBytes: int64('4+', { default: -1, ignorable: true }),
  isCordoned: bool('5+', { default: false, ignorable: true }),
})
export interface DescribeLogDirsResult extends Infer<typeof describeLogDirsResult> {}

export const describeLogDirsResponse = message(
  'DescribeLogDirsResponse',
  { key: 35, versions: '1-5', flexible: '2+' },
  {
    throttleTimeMs: int32('0+'),
    errorCode: errorCode('3+', { ignorable: true }),
    results: list('0+', describeLogDirsResult),
  },
)
export interface DescribeLogDirsResponse extends Infer<typeof describeLogDirsResponse> {}
