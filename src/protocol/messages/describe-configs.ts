import { bool, errorCode, fields, type Infer, int8, int32, list, message, string } from '../schema.ts'

export const describeConfigsResource = fields({
  resourceType: int8('0+'),
  resourceName: string('0+'),
  /** Null: all of them. */
  configurationKeys: list('0+', string, { nullable: '0+' }),
})
export interface DescribeConfigsResource extends Infer<typeof describeConfigsResource> {}

export const describeConfigsRequest = message(
  'DescribeConfigsRequest',
  { key: 32, versions: '1-4', flexible: '4+' },
  {
    resources: list('0+', describeConfigsResource),
    includeSynonyms: bool('0+', { default: false }),
    includeDocumentation: bool('3+', { default: false }),
  },
)
export interface DescribeConfigsRequest extends Infer<typeof describeConfigsRequest> {}

export const describeConfigsSynonym = fields({
  name: string('0+'),
  value: string('0+', { nullable: '0+' }),
  source: int8('0+'),
})
export interface DescribeConfigsSynonym extends Infer<typeof describeConfigsSynonym> {}

export const describeConfigsResourceResult = fields({
  name: string('0+'),
  value: string('0+', { nullable: '0+' }),
  readOnly: bool('0+'),
  /** 1 topic, 2 broker (dynamic), 3 all brokers (dynamic), 4 broker (file), 5 default, 6 logger, 7 client metrics, 8 group. */
  configSource: int8('0+', { default: -1, ignorable: true }),
  /** The value is withheld. */
  isSensitive: bool('0+'),
  synonyms: list('0+', describeConfigsSynonym, { ignorable: true }),
  /** 1 bool, 2 string, 3 int, 4 short, 5 long, 6 double, 7 list, 8 class, 9 password. */
  configType: int8('3+', { default: 0, ignorable: true }),
  documentation: string('3+', { nullable: '0+', ignorable: true }),
})
export interface DescribeConfigsResourceResult extends Infer<typeof describeConfigsResourceResult> {}

export const describeConfigsResult = fields({
  errorCode: errorCode('0+'),
  errorMessage: string('0+', { nullable: '0+' }),
  resourceType: int8('0+'),
  resourceName: string('0+'),
  configs: list('0+', describeConfigsResourceResult),
})
export interface DescribeConfigsResult extends Infer<typeof describeConfigsResult> {}

export const describeConfigsResponse = message(
  'DescribeConfigsResponse',
  { key: 32, versions: '1-4', flexible: '4+' },
  {
    throttleTimeMs: int32('0+'),
    results: list('0+', describeConfigsResult),
  },
)
export interface DescribeConfigsResponse extends Infer<typeof describeConfigsResponse> {}
