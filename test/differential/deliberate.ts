import type { Difference } from './compare.ts'

/** Where Millrace means to answer otherwise than Kafka, and why. The reasons are in docs/kafka-compatibility.md. */
const deliberate: readonly {
  readonly scenario?: RegExp
  readonly label?: RegExp
  readonly path: RegExp
  readonly reason: string
}[] = [
  {
    scenario: /^OffsetDelete/,
    label: /^again$/,
    path: /./,
    reason: 'a group of nothing but offsets ends with the last of them; in Kafka at its next start',
  },
  {
    scenario: /Configs/,
    path: /\.errorMessage$/,
    reason: 'every refusal says why',
  },
  {
    scenario: /^every API/,
    label: /^DescribeConfigs/,
    path: /\.errorMessage$/,
    reason: 'every refusal says why',
  },
  {
    scenario: /^DescribeConfigs/,
    label: /^broker$/,
    path: /\.configs\.(length|has)$/,
    reason: 'Millrace has settings of its own, and they are described',
  },
  {
    scenario: /^DescribeConfigs/,
    label: /^cluster$/,
    path: /\.configs\.(length|has)$/,
    reason:
      'Kafka sets min.insync.replicas for the cluster when it turns on eligible leader replicas, which are off here',
  },
  {
    scenario: /^DescribeConfigs|^IncrementalAlterConfigs/,
    label: /^logger/,
    path: /./,
    reason: 'there are no loggers to configure by name',
  },
  {
    scenario: /^IncrementalAlterConfigs/,
    label: /an unknown operation$/,
    path: /./,
    reason: 'an unknown operation is an INVALID_REQUEST; Kafka fails on it with UNKNOWN_SERVER_ERROR',
  },
  {
    scenario: /^Fetch/,
    label: /^-1 (of the partition|in all)$/,
    path: /./,
    reason: 'a negative limit is taken for none at all (0); Kafka fails on it',
  },
  {
    scenario: /^Fetch/,
    label: /^the same twice$/,
    path: /./,
    reason: 'each is answered; Kafka takes the last',
  },
  {
    scenario: /^Produce: (batches|codecs)/,
    label: /said to be|codec|damaged/,
    path: /\.errorCode$/,
    reason: 'what cannot be unpacked is an INVALID_RECORD; Kafka says UNKNOWN_SERVER_ERROR',
  },
  {
    scenario: /^Produce: codecs/,
    label: /offsets with a gap|what is stored/,
    path: /./,
    reason: 'a compressed batch with gaps is stored with consecutive offsets; Kafka means to, and fails',
  },
  {
    scenario: /^Produce: batches of strange producers/,
    label: /without epoch and sequence/,
    path: /./,
    reason: 'a batch is packed anew whatever it says of its producer; Kafka fails on an id without epoch or sequence',
  },
  {
    scenario: /^Produce/,
    path: /\.errorMessage$/,
    reason: 'every refusal says why; Kafka only where single records are at fault',
  },
  {
    scenario: /^Produce/,
    label: /^the same (partition|topic) twice$/,
    path: /./,
    reason: 'each is stored and answered; Kafka takes the last and drops the others',
  },
  {
    scenario: /^Metadata/,
    label: /: neither$/,
    path: /./,
    reason: 'a topic that has neither name nor id is an INVALID_REQUEST of its own; Kafka fails on it',
  },
  {
    scenario: /^DescribeTopicPartitions/,
    label: /^unknown and illegal$/,
    path: /./,
    reason: 'an illegal name has its own error; Kafka fails the request with UNKNOWN_SERVER_ERROR',
  },
  { path: /^\.apiKeys\.(length|has)$/, reason: 'transactions, share groups and other APIs are not offered yet' },
  {
    path: /\.configs\[min\.insync\.replicas\]\.(configSource|synonyms.*)$/,
    reason: 'Kafka sets it for the cluster when it turns on eligible leader replicas, which are off here',
  },
]

export function reasonFor({ scenario, label, path }: Difference): string | undefined {
  return deliberate.find(
    one => (one.scenario?.test(scenario) ?? true) && (one.label?.test(label) ?? true) && one.path.test(path),
  )?.reason
}
