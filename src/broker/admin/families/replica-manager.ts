import { gauge, labels, type MetricFamily, oneCounter, oneGauge } from '../metric-family.ts'

const prefix = 'kafka_server_replicamanager'

export const replicaManagerFamilies: readonly MetricFamily[] = [
  oneGauge(`${prefix}_leadercount`, 'Partitions led by this broker.', ({ counts }) => counts.led),
  oneGauge(`${prefix}_partitioncount`, 'Partitions on this broker.', ({ counts }) => counts.partitions),
  oneGauge(
    `${prefix}_offlinereplicacount`,
    'Partitions whose log directory has failed, or whose log cannot be made.',
    ({ counts }) => counts.offline,
  ),
  oneGauge(
    `${prefix}_underreplicatedpartitions`,
    'Partitions with replicas out of sync.',
    ({ counts }) => counts.underReplicated,
  ),
  oneGauge(
    `${prefix}_underminisrpartitioncount`,
    'Partitions with too few in sync.',
    ({ counts }) => counts.underMinIsr,
  ),
  oneGauge(`${prefix}_atminisrpartitioncount`, 'Partitions with just enough in sync.', ({ counts }) => counts.atMinIsr),
  oneGauge(
    `${prefix}_reassigningpartitions`,
    'Partitions led here whose replicas are being moved.',
    ({ counts }) => counts.reassigning,
  ),
  oneCounter(
    `${prefix}_isrshrinks_total`,
    'Times that a replica fell out of sync, of partitions led here.',
    ({ source }) => source.counters.isrUpdates.shrunk,
  ),
  oneCounter(
    `${prefix}_isrexpands_total`,
    'Times that a replica came in sync, of partitions led here.',
    ({ source }) => source.counters.isrUpdates.expanded,
  ),
  oneCounter(
    `${prefix}_failedisrupdates_total`,
    'Changes of the in-sync replicas that the controller did not make.',
    ({ source }) => source.counters.isrUpdates.failed,
  ),
  oneGauge(
    'kafka_log_logmanager_offlinelogdirectorycount',
    'Log directories that have failed.',
    ({ source }) => source.logDirectories().filter(one => one.isOffline).length,
  ),
  gauge('kafka_log_logmanager_logdirectoryoffline', '1 when the directory has failed.', ({ source }) =>
    source.logDirectories().map(one => [labels({ logDirectory: one.path }), one.isOffline ? 1 : 0] as const),
  ),
]
