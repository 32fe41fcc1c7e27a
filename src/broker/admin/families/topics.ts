import type { TopicMetrics } from '../../metrics/broker-metrics.ts'
import { counter, labels, type MetricFamily } from '../metric-family.ts'

/** Counters of all topics together, without a label, and of each. */
export const topicFamilies: readonly MetricFamily[] = [
  family('messagesin', 'Records appended by clients.', one => one.messagesIn),
  family('bytesin', 'Bytes of record batches appended by clients.', one => one.bytesIn),
  family('bytesout', 'Bytes of record batches sent to clients.', one => one.bytesOut),
  family('bytesrejected', 'Bytes of record batches that were refused.', one => one.bytesRejected),
  family('totalproducerequests', 'Produce requests, counted for each partition.', one => one.produceRequests),
  family('totalfetchrequests', 'Fetch requests, counted for each partition.', one => one.fetchRequests),
  family('failedproducerequests', 'Produces of a partition that failed.', one => one.failedProduceRequests),
  family('failedfetchrequests', 'Fetches of a partition that failed.', one => one.failedFetchRequests),
  family(
    'nokeycompactedtopicrecords',
    'Records without a key for compacted topics.',
    one => one.noKeyCompactedTopicRecords,
  ),
  family('invalidmagicnumberrecords', 'Batches of an old format.', one => one.invalidMagicNumberRecords),
  family('invalidmessagecrcrecords', 'Batches with a wrong checksum.', one => one.invalidMessageCrcRecords),
  family('invalidoffsetorsequencerecords', 'Batches out of sequence.', one => one.invalidOffsetOrSequenceRecords),
]

function family(name: string, help: string, value: (metrics: TopicMetrics) => number): MetricFamily {
  return counter(`kafka_server_brokertopicmetrics_${name}_total`, help, function* ({ source: { counters } }) {
    yield ['', value(counters.allTopics)]
    for (const [topic, metrics] of counters.topics) yield [labels({ topic }), value(metrics)]
  })
}
