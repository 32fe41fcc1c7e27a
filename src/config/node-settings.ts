import { int, list, long, required, string } from './setting.ts'

/** This node, its directories, and the metadata quorum. */
export const nodeSettings = {
  processRoles: list('process.roles', {
    default: required,
    oneOf: ['broker', 'controller'],
    nonEmpty: true,
    doc: 'What this node is: broker, controller, or both.',
  }),
  nodeId: int('node.id', {
    default: required,
    min: 0,
    doc: 'The number of this node, unique in the cluster. Given as broker.id it is taken too.',
  }),
  brokerId: int('broker.id', {
    allowed: 'a whole number of at least 0, the same as node.id',
    default: -1,
    doc: 'The old name of node.id.',
  }),
  brokerRack: string('broker.rack', {
    default: null,
    doc: 'The rack or zone of this broker. Replicas of a partition are spread over racks.',
  }),
  logDirs: list('log.dirs', {
    default: null,
    nonEmpty: true,
    doc: 'The directories that hold the logs, with commas between. Without it, log.dir.',
  }),
  logDir: list('log.dir', { default: ['/tmp/kafka-logs'], nonEmpty: true, doc: 'The directory that holds the logs.' }),
  metadataLogDir: string('metadata.log.dir', {
    default: null,
    doc: 'The directory that holds the metadata log. Without it, the first of log.dirs.',
  }),
  controllerListenerNames: list('controller.listener.names', {
    allowed: 'names of listeners, at least one, with commas between',
    default: required,
    nonEmpty: true,
    doc: 'The listeners of the controller quorum. Brokers use the first.',
  }),
  controllerQuorumVoters: list('controller.quorum.voters', {
    allowed: 'ID@HOST:PORT, several with commas between',
    default: [],
    doc: 'The voters of a static quorum: ID@HOST:PORT, with commas between.',
  }),
  controllerQuorumBootstrapServers: list('controller.quorum.bootstrap.servers', {
    allowed: 'HOST:PORT, several with commas between; at least one without controller.quorum.voters',
    default: [],
    doc: 'Where to find the quorum: HOST:PORT of some controllers, with commas between.',
  }),
  controllerQuorumAppendLingerMs: int('controller.quorum.append.linger.ms', {
    default: 25,
    min: 0,
    doc: 'How long the leader of the quorum collects records before it writes them.',
    noEffect: { because: 'it does not wait' },
  }),
  controllerQuorumElectionBackoffMaxMs: int('controller.quorum.election.backoff.max.ms', {
    default: 1000,
    min: 0,
    doc: 'The longest wait before a new election after a failed one.',
  }),
  controllerQuorumElectionTimeoutMs: int('controller.quorum.election.timeout.ms', {
    default: 1000,
    min: 0,
    doc: 'How long a candidate waits for votes.',
  }),
  controllerQuorumFetchMaxBytes: int('controller.quorum.fetch.max.bytes', {
    default: 1_048_576,
    min: 1,
    doc: 'The most bytes of the metadata log that one fetch takes.',
  }),
  controllerQuorumFetchSnapshotMaxBytes: int('controller.quorum.fetch.snapshot.max.bytes', {
    default: 1_048_576,
    min: 1,
    doc: 'The most bytes of a metadata snapshot that one fetch takes.',
  }),
  controllerQuorumFetchTimeoutMs: int('controller.quorum.fetch.timeout.ms', {
    default: 2000,
    min: 0,
    doc: 'How long a node goes without word of the leader before it stands for election.',
  }),
  controllerQuorumRequestTimeoutMs: int('controller.quorum.request.timeout.ms', {
    default: 2000,
    min: 0,
    doc: 'How long a request to another node of the quorum may take.',
  }),
  controllerQuorumRetryBackoffMs: int('controller.quorum.retry.backoff.ms', {
    default: 20,
    min: 0,
    doc: 'The wait before a request to another node of the quorum is sent again.',
  }),
  brokerHeartbeatIntervalMs: int('broker.heartbeat.interval.ms', {
    default: 2000,
    doc: 'How often a broker reports to the controller.',
  }),
  brokerSessionTimeoutMs: int('broker.session.timeout.ms', {
    default: 9000,
    doc: 'How long the controller waits for a broker before it takes it for dead.',
  }),
  initialBrokerRegistrationTimeoutMs: int('initial.broker.registration.timeout.ms', {
    default: 60_000,
    doc: 'How long a starting broker tries to register before it gives up.',
  }),
  metadataLogMaxRecordBytesBetweenSnapshots: long('metadata.log.max.record.bytes.between.snapshots', {
    default: 20_971_520,
    min: 1,
    doc: 'A metadata snapshot is made after this many bytes of records.',
  }),
  metadataLogMaxSnapshotIntervalMs: long('metadata.log.max.snapshot.interval.ms', {
    default: 3_600_000,
    min: 0,
    doc: 'A metadata snapshot is made after this time, if anything changed; 0 is never.',
  }),
  metadataLogSegmentBytes: int('metadata.log.segment.bytes', {
    default: 1_073_741_824,
    min: 8_388_608,
    doc: 'A segment of the metadata log is closed at this size.',
  }),
  metadataLogSegmentMs: long('metadata.log.segment.ms', {
    default: 604_800_000,
    doc: 'A segment of the metadata log is closed at this age.',
  }),
  metadataMaxRetentionBytes: long('metadata.max.retention.bytes', {
    default: 104_857_600,
    doc: 'Old metadata segments and snapshots are deleted above this size.',
    noEffect: { because: 'the last two snapshots stay, and the log from the older one on' },
  }),
  metadataMaxRetentionMs: long('metadata.max.retention.ms', {
    default: 604_800_000,
    doc: 'Old metadata segments and snapshots are deleted after this time.',
    noEffect: { because: 'the last two snapshots stay, and the log from the older one on' },
  }),
  internalMetadataLogSegmentBytes: int('internal.metadata.log.segment.bytes', {
    default: null,
    internal: true,
    doc: 'As metadata.log.segment.bytes without its lower bound; for tests.',
  }),
  internalMetadataMaxBatchSizeInBytes: int('internal.metadata.max.batch.size.in.bytes', {
    default: 8_388_608,
    internal: true,
    doc: 'The largest batch of the metadata log.',
    noEffect: { because: 'it is 8 MiB' },
  }),
  internalMetadataDeleteDelayMillis: long('internal.metadata.delete.delay.millis', {
    default: 60_000,
    internal: true,
    doc: 'How long the files of a deleted metadata segment stay on disk.',
    noEffect: { because: 'it is a minute' },
  }),
}
