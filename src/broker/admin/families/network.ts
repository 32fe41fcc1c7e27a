import { gauge, labels, type MetricFamily, oneCounter, oneGauge } from '../metric-family.ts'
import type { MetricsSource } from '../metrics-source.ts'

const sockets = 'kafka_server_socket_server_metrics'
const server = 'kafka_network_socketserver'
const sessions = 'kafka_server_fetchsessioncache'

export const networkFamilies: readonly MetricFamily[] = [
  gauge(`${sockets}_connection_count`, 'Open connections.', ({ source }) =>
    countBy(source, ({ listener }) => labels({ listener })),
  ),
  gauge(`${sockets}_connections_software`, 'Open connections by client.', ({ source }) =>
    countBy(source, ({ softwareName, softwareVersion, listener }) =>
      labels({ clientSoftwareName: softwareName, clientSoftwareVersion: softwareVersion, listener }),
    ),
  ),
  oneCounter(
    `${sockets}_connection_creation_total`,
    'Connections accepted.',
    ({ source }) => source.counters.connectionsCreated,
  ),
  oneCounter(
    `${sockets}_connection_close_total`,
    'Connections ended.',
    ({ source }) => source.counters.connectionsClosed,
  ),
  oneCounter(
    'millrace_connections_refused_total',
    'Connections refused at a limit.',
    ({ source }) => source.counters.connectionsRefused,
  ),
  oneGauge(
    `${server}_expiredconnectionskilledcount`,
    'Connections closed for being idle.',
    ({ source }) => source.counters.expiredConnectionsKilled,
  ),
  oneGauge(`${server}_memorypoolavailable`, 'Bytes of the request budget that are free.', ({ source }) => {
    const { capacityBytes, usedBytes } = source.memory()
    return Math.max(0, capacityBytes - usedBytes)
  }),
  oneGauge(
    `${server}_memorypoolused`,
    'Bytes of the request budget in use.',
    ({ source }) => source.memory().usedBytes,
  ),
  gauge('kafka_server_delayedoperationpurgatory_purgatorysize', 'Requests that wait.', ({ source }) => {
    const { produce, fetch } = source.waiting()
    return [
      [labels({ delayedOperation: 'Produce' }), produce],
      [labels({ delayedOperation: 'Fetch' }), fetch],
    ]
  }),
  oneGauge(
    `${sessions}_numincrementalfetchsessions`,
    'Open fetch sessions.',
    ({ source }) => source.fetchSessions().count,
  ),
  oneCounter(
    `${sessions}_incrementalfetchsessionevictions_total`,
    'Sessions put out by others.',
    ({ source }) => source.fetchSessions().evictions,
  ),
]

type Connection = ReturnType<MetricsSource['connections']> extends Iterable<infer One> ? One : never

function countBy(source: MetricsSource, key: (connection: Connection) => string): Iterable<[string, number]> {
  const counts = new Map<string, number>()
  for (const one of source.connections()) counts.set(key(one), (counts.get(key(one)) ?? 0) + 1)
  return counts
}
