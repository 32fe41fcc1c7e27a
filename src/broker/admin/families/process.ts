import { gauge, labels, type MetricFamily, oneGauge, type Sample } from '../metric-family.ts'
import type { Scrape } from '../scrape.ts'

/** Of the broker as a whole and of its process. */
export const processFamilies: readonly MetricFamily[] = [
  oneGauge(
    'kafka_server_kafkaserver_brokerstate',
    '0 not running, 1 starting, 2 recovery, 3 running, 7 shutting down.',
    ({ source }) => source.brokerState(),
  ),
  oneGauge('kafka_brokers', 'Brokers of the cluster.', ({ source }) => source.broker().brokerCount),
  gauge('kafka_broker_info', 'Always 1.', ({ source }) => {
    const { nodeId, host, port } = source.broker()
    return [[labels({ id: String(nodeId), address: `${host}:${port}` }), 1]]
  }),
  gauge('millrace_build_info', 'Always 1.', ({ source }) => [[labels({ ...source.build }), 1]]),
  oneGauge(
    'kafka_server_kafkarequesthandlerpool_requesthandleravgidle_percent',
    'Part of the last minute (0 to 1) in which the event loop was idle. It does the work of all of a broker.',
    ({ source }) => source.loopIdle(),
  ),
  oneGauge(
    'kafka_network_socketserver_networkprocessoravgidle_percent',
    'The same: it is one event loop that reads, works and answers.',
    ({ source }) => source.loopIdle(),
  ),
  gauge('kafka_server_kafkaserver_linux_disk_read_bytes', 'Bytes that this process had read from disks.', scrape =>
    diskBytes(scrape, 'readBytes'),
  ),
  gauge('kafka_server_kafkaserver_linux_disk_write_bytes', 'Bytes that this process had written to disks.', scrape =>
    diskBytes(scrape, 'writtenBytes'),
  ),
]

function diskBytes({ source }: Scrape, which: 'readBytes' | 'writtenBytes'): readonly Sample[] {
  const traffic = source.diskTraffic()
  return traffic === undefined ? [] : [['', traffic[which]]]
}
