import { bool, errorCode, fields, type Infer, int8, int32, list, message, string } from '../schema.ts'

export const describeConfigsResource = fields({
  resourceType: int8('0+'),
  resourceName: string('0+'),
  configurationKeys: list('0+', string, { nullable: '0+' }),
})
export interface DescribeConfigsResource extends Infer<typeof describeConfigsResource> {}

export const describeConfigsRequest = message(
  'DescribeConfigsRequest',
  { key: 32, versions: '1-4', flexible: '4+' },
  {
    resources: list('0+', describeConfigsResource),
    includeSynonyms: bool('1+', { default: false }),
    includeDocumentation: bool('3+', { default: false }),
  },
)
export interface DescribeConfigsRequest extends Infer<typeof describeConfigsRequest> {}

export const describeConfigsSynonym = fields({
  name: string('1+'),
  value: string('1+', { nullable: '0+' }),
  source: int8('1+'),
})
export interface DescribeConfigsSynonym extends Infer<typeof describeConfigsSynonym> {}

export const describeConfigsResourceResult = fields({
  name: string('0+'),
  value: string('0+', { nullable: '0+' }),
  readOnly: bool('0+'),
  configSource: int8('1+', { default: -1, ignorable: true }),
  isSensitive: bool('0+'),
  synonyms: list('1+', describeConfigsSynonym, { ignorable: true }),
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
