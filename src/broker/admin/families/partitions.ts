import { gauge, labels, type MetricFamily } from '../metric-family.ts'
import { isAtMinIsr, isUnderMinIsr, isUnderReplicated, type ScrapedPartition } from '../scrape.ts'

type Value = (one: ScrapedPartition) => number

/** Of each partition: its log, its replication as its leader knows it, and what kafka_exporter shows of it. */
export const partitionFamilies: readonly MetricFamily[] = [
  each('kafka_log_log_size', 'Bytes of the log.', one => one.sizeBytes),
  each('kafka_log_log_logstartoffset', 'First offset that can be read.', one => one.logStartOffset),
  each('kafka_log_log_logendoffset', 'Offset that the next record gets.', one => one.logEndOffset),
  each('kafka_log_log_numlogsegments', 'Segments of the log.', one => one.segmentCount),
  each('kafka_cluster_partition_insyncreplicascount', 'Replicas in sync; 0 where another leads.', one =>
    one.isLed ? one.isrCount : 0,
  ),
  each('kafka_cluster_partition_replicascount', 'Replicas; 0 where another leads.', one =>
    one.isLed ? one.replicaCount : 0,
  ),
  each('kafka_cluster_partition_underreplicated', '1 when replicas are out of sync.', one =>
    isUnderReplicated(one) ? 1 : 0,
  ),
  each('kafka_cluster_partition_underminisr', '1 when too few are in sync.', one => (isUnderMinIsr(one) ? 1 : 0)),
  each('kafka_cluster_partition_atminisr', '1 when just enough are in sync.', one => (isAtMinIsr(one) ? 1 : 0)),
  each(
    'kafka_cluster_partition_laststableoffsetlag',
    'High watermark less last stable offset.',
    one => one.highWatermark - one.lastStableOffset,
  ),
  eachLed('kafka_topic_partition_current_offset', 'High watermark.', one => one.highWatermark),
  eachLed('kafka_topic_partition_oldest_offset', 'First offset that can be read.', one => one.logStartOffset),
  eachLed('kafka_topic_partition_leader', 'Id of the leader.', one => one.leaderId),
  eachLed('kafka_topic_partition_leader_is_preferred', '1 when the leader is the first replica.', one =>
    one.isPreferredLeader ? 1 : 0,
  ),
  eachLed('kafka_topic_partition_replicas', 'Replicas.', one => one.replicaCount),
  eachLed('kafka_topic_partition_in_sync_replica', 'Replicas in sync.', one => one.isrCount),
  eachLed('kafka_topic_partition_under_replicated_partition', '1 when replicas are out of sync.', one =>
    isUnderReplicated(one) ? 1 : 0,
  ),
  gauge('kafka_topic_partitions', 'Partitions of a topic led here.', function* ({ ledByTopic }) {
    for (const [topic, count] of ledByTopic) yield [labels({ topic }), count]
  }),
]

function each(name: string, help: string, value: Value): MetricFamily {
  return gauge(name, help, function* ({ partitions }) {
    for (const one of partitions) yield [one.labels, value(one)]
  })
}

/** Boards sum these over brokers: only the leader shows them. */
function eachLed(name: string, help: string, value: Value): MetricFamily {
  return gauge(name, help, function* ({ partitions }) {
    for (const one of partitions) if (one.isLed) yield [one.labels, value(one)]
  })
}
