import { bool, errorCode, fields, type Infer, int8, int32, list, message, string } from '../schema.ts'

export const describeClusterRequest = message(
  'DescribeClusterRequest',
  { key: 60, versions: '0-2', flexible: '0+' },
  {
    includeClusterAuthorizedOperations: bool('0+'),
    /** 1 brokers, 2 controllers. */
    endpointType: int8('1+', { default: 1 }),
    includeFencedBrokers: bool('2+'),
  },
)
export interface DescribeClusterRequest extends Infer<typeof describeClusterRequest> {}

export const describeClusterBroker = fields({
  brokerId: int32('0+'),
  host: string('0+'),
  port: int32('0+'),
  rack: string('0+', { nullable: '0+', default: null }),
  isFenced: bool('2+'),
})
export interface DescribeClusterBroker extends Infer<typeof describeClusterBroker> {}

export const describeClusterResponse = message(
  'DescribeClusterResponse',
  { key: 60, versions: '0-2', flexible: '0+' },
  {
    throttleTimeMs: int32('0+'),
    errorCode: errorCode('0+'),
    errorMessage: string('0+', { nullable: '0+', default: null }),
    endpointType: int8('1+', { default: 1 }),
    clusterId: string('0+'),
    controllerId: int32('0+', { default: -1 }),
    brokers: list('0+', describeClusterBroker),
    clusterAuthorizedOperations: int32('0+', { default: -2147483648 }),
  },
)
export interface DescribeClusterResponse extends Infer<typeof describeClusterResponse> {}
