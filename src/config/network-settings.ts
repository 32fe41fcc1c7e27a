import { int, list, long, string } from './setting.ts'

/** Listeners, sockets and requests. */
export const networkSettings = {
  listeners: list('listeners', {
    allowed: 'NAME://HOST:PORT, several with commas between, each with a port of its own',
    default: ['PLAINTEXT://:9092'],
    nonEmpty: true,
    update: 'per-broker',
    doc: 'Where to listen: NAME://HOST:PORT, several with commas between. An empty host is every address.',
  }),
  advertisedListeners: list('advertised.listeners', {
    allowed: 'NAME://HOST:PORT, several with commas between, of names that stand in listeners',
    default: null,
    nonEmpty: true,
    doc: 'The addresses that clients are told to connect to, by listener. Without it, those of listeners.',
  }),
  listenerSecurityProtocolMap: string('listener.security.protocol.map', {
    allowed: 'NAME:PROTOCOL, several with commas between',
    default: 'SASL_SSL:SASL_SSL,PLAINTEXT:PLAINTEXT,SSL:SSL,SASL_PLAINTEXT:SASL_PLAINTEXT',
    update: 'per-broker',
    doc: 'The security protocol of each listener, NAME:PROTOCOL. Only PLAINTEXT is served so far.',
  }),
  interBrokerListenerName: string('inter.broker.listener.name', {
    allowed: 'one of the names in advertised.listeners',
    default: null,
    doc: 'The listener that brokers use among themselves.',
  }),
  securityInterBrokerProtocol: string('security.inter.broker.protocol', {
    default: 'PLAINTEXT',
    oneOf: ['PLAINTEXT', 'SSL', 'SASL_PLAINTEXT', 'SASL_SSL'],
    doc: 'The protocol, and so the listener, that brokers use among themselves where no listener is named.',
  }),
  authorizerClassName: string('authorizer.class.name', {
    allowed: 'nothing, so far',
    default: '',
    doc: 'There is no authorizer so far: a name here ends the start, so that nobody runs open who meant not to.',
  }),
  socketRequestMaxBytes: int('socket.request.max.bytes', {
    default: 104_857_600,
    min: 1,
    doc: 'The largest request that is taken.',
  }),
  socketReceiveBufferBytes: int('socket.receive.buffer.bytes', {
    default: 102_400,
    doc: 'The receive buffer of a socket; -1 leaves it to the system.',
    noEffect: { because: 'it is left to the system', except: '-1' },
  }),
  socketSendBufferBytes: int('socket.send.buffer.bytes', {
    default: 102_400,
    doc: 'The send buffer of a socket; -1 leaves it to the system.',
    noEffect: { because: 'it is left to the system', except: '-1' },
  }),
  socketListenBacklogSize: int('socket.listen.backlog.size', {
    default: 50,
    min: 1,
    doc: 'How many connections may wait to be accepted. Without it 1024 may here.',
  }),
  connectionsMaxIdleMs: long('connections.max.idle.ms', {
    default: 600_000,
    doc: 'A connection without requests is closed after this time.',
  }),
  maxConnections: int('max.connections', {
    default: 2_147_483_647,
    min: 0,
    update: 'cluster-wide',
    doc: 'The most connections of this broker. For one listener: listener.name.NAME.max.connections.',
  }),
  maxConnectionsPerIp: int('max.connections.per.ip', {
    allowed: 'a whole number of at least 0; of at least 1 without max.connections.per.ip.overrides',
    default: 2_147_483_647,
    min: 0,
    update: 'cluster-wide',
    doc: 'The most connections from one address.',
  }),
  maxConnectionsPerIpOverrides: string('max.connections.per.ip.overrides', {
    allowed: 'ADDRESS:LIMIT, several with commas between',
    default: '',
    update: 'cluster-wide',
    doc: 'Limits of single addresses: ADDRESS:LIMIT, with commas between.',
  }),
  maxConnectionCreationRate: int('max.connection.creation.rate', {
    default: 2_147_483_647,
    min: 0,
    update: 'cluster-wide',
    doc: 'The most new connections a second: further ones wait. For one listener: listener.name.NAME.max.connection.creation.rate.',
  }),
  queuedMaxRequestBytes: long('queued.max.request.bytes', {
    allowed: 'a whole number of at least socket.request.max.bytes, or -1',
    default: -1,
    doc: 'The memory for requests and answers in work; -1 means 64 MiB here. Answers that clients do not read may take half of it.',
  }),
  requestTimeoutMs: int('request.timeout.ms', {
    default: 30_000,
    doc: 'How long a request to another broker may take.',
    noEffect: { because: 'there is one node' },
  }),
  fetchMaxBytes: int('fetch.max.bytes', {
    default: 57_671_680,
    min: 1024,
    doc: 'The most bytes that one fetch is answered with.',
  }),
  maxIncrementalFetchSessionCacheSlots: int('max.incremental.fetch.session.cache.slots', {
    default: 1000,
    min: 0,
    doc: 'How many incremental fetch sessions are kept.',
  }),
  maxRequestPartitionSizeLimit: int('max.request.partition.size.limit', {
    default: 2000,
    min: 1,
    doc: 'The most partitions in one answer to DescribeTopicPartitions.',
  }),
}
