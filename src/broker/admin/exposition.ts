import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client'
import { errorName } from '../../base/error-code.ts'
import type { RequestMetrics, TopicMetrics } from '../metrics/broker-metrics.ts'
import type { CompactionGauges } from '../metrics/compaction-gauges.ts'
import type { GroupGauges, MetricsSource, PartitionGauges } from './metrics-source.ts'

type Labels = Record<string, string | number>
type Sample = readonly [labels: Labels, value: number]

/** Names are those that jmx_exporter gives Kafka's metrics in Strimzi's configuration, so that existing boards work. */
export class Exposition {
  readonly #registry = new Registry()
  readonly #source: MetricsSource
  /** As of the scrape that is under way. */
  #groups: readonly GroupGauges[] = []

  constructor(source: MetricsSource) {
    this.#source = source
    collectDefaultMetrics({ register: this.#registry })
    this.#addTopicCounters()
    this.#addRequests()
    this.#addPartitions()
    this.#addReplicaManager()
    this.#addCompaction()
    this.#addGroups()
    this.#addNetwork()
    this.#addController()
  }

  get contentType(): string {
    return this.#registry.contentType
  }

  async text(): Promise<string> {
    this.#groups = await this.#source.groups()
    return await this.#registry.metrics()
  }

  #counter(name: string, help: string, labelNames: string[], samples: () => Iterable<Sample>): void {
    const registers = [this.#registry]
    new Counter({
      name,
      help,
      labelNames,
      registers,
      collect() {
        this.reset()
        for (const [labels, value] of samples()) this.inc(labels, value)
      },
    })
  }

  #gauge(name: string, help: string, labelNames: string[], samples: () => Iterable<Sample>): void {
    const registers = [this.#registry]
    new Gauge({
      name,
      help,
      labelNames,
      registers,
      collect() {
        this.reset()
        for (const [labels, value] of samples()) this.set(labels, value)
      },
    })
  }

  #one(name: string, help: string, value: () => number): void {
    this.#gauge(name, help, [], () => [[{}, value()]])
  }

  #addTopicCounters(): void {
    const add = (name: string, help: string, value: (metrics: TopicMetrics) => number) => {
      const { counters } = this.#source
      this.#counter(`kafka_server_brokertopicmetrics_${name}_total`, help, ['topic'], function* () {
        yield [{}, value(counters.allTopics)]
        for (const [topic, metrics] of counters.topics) yield [{ topic }, value(metrics)]
      })
    }
    add('messagesin', 'Records appended by clients.', one => one.messagesIn)
    add('bytesin', 'Bytes of record batches appended by clients.', one => one.bytesIn)
    add('bytesout', 'Bytes of record batches sent to clients.', one => one.bytesOut)
    add('bytesrejected', 'Bytes of record batches that were refused.', one => one.bytesRejected)
    add('totalproducerequests', 'Produce requests, counted for each partition.', one => one.produceRequests)
    add('totalfetchrequests', 'Fetch requests, counted for each partition.', one => one.fetchRequests)
    add('failedproducerequests', 'Produces of a partition that failed.', one => one.failedProduceRequests)
    add('failedfetchrequests', 'Fetches of a partition that failed.', one => one.failedFetchRequests)
    add(
      'nokeycompactedtopicrecords',
      'Records without a key for compacted topics.',
      one => one.noKeyCompactedTopicRecords,
    )
    add('invalidmagicnumberrecords', 'Batches of an old format.', one => one.invalidMagicNumberRecords)
    add('invalidmessagecrcrecords', 'Batches with a wrong checksum.', one => one.invalidMessageCrcRecords)
    add('invalidoffsetorsequencerecords', 'Batches out of sequence.', one => one.invalidOffsetOrSequenceRecords)
  }

  #addRequests(): void {
    const { requests } = this.#source.counters
    this.#counter(
      'kafka_network_requestmetrics_requests_total',
      'Requests answered.',
      ['request', 'version'],
      function* () {
        for (const [request, one] of requests)
          for (const [version, count] of one.byVersion) yield [{ request, version }, count]
      },
    )
    this.#counter('kafka_network_requestmetrics_errors_total', 'Answers by error.', ['request', 'error'], function* () {
      for (const [request, one] of requests)
        for (const [code, count] of one.byError) yield [{ request, error: errorName(code) }, count]
    })
    const quantiles = [0.5, 0.75, 0.95, 0.98, 0.99, 0.999]
    const totalTime = 'kafka_network_requestmetrics_totaltimems'
    this.#gauge(
      totalTime,
      'Milliseconds from the last byte of a request to its answer.',
      ['request', 'quantile'],
      function* () {
        for (const [request, one] of requests)
          for (const quantile of quantiles) yield [{ request, quantile }, one.totalTimeMs.quantile(quantile)]
      },
    )
    const total = (name: string, help: string, value: (one: RequestMetrics) => number) =>
      this.#counter(name, help, ['request'], function* () {
        for (const [request, one] of requests) yield [{ request }, value(one)]
      })
    total(`${totalTime}_count`, 'Requests that were timed.', one => one.totalTimeMs.count)
    total('kafka_network_requestmetrics_requestbytes_total', 'Bytes of requests.', one => one.requestBytes)
    total('kafka_network_requestmetrics_responsebytes_total', 'Bytes of answers.', one => one.responseBytes)
  }

  #addPartitions(): void {
    const source = this.#source
    const add = (name: string, help: string, value: (one: PartitionGauges) => number) =>
      this.#gauge(name, help, ['topic', 'partition'], function* () {
        for (const one of source.partitions()) yield [{ topic: one.topic, partition: one.partition }, value(one)]
      })
    add('kafka_log_log_size', 'Bytes of the log.', one => one.sizeBytes)
    add('kafka_log_log_logstartoffset', 'First offset that can be read.', one => one.logStartOffset)
    add('kafka_log_log_logendoffset', 'Offset that the next record gets.', one => one.logEndOffset)
    add('kafka_log_log_numlogsegments', 'Segments of the log.', one => one.segmentCount)
    add('kafka_cluster_partition_insyncreplicascount', 'Replicas in sync.', one => one.isrCount)
    add('kafka_cluster_partition_replicascount', 'Replicas.', one => one.replicaCount)
    add('kafka_cluster_partition_underreplicated', '1 when replicas are out of sync.', one =>
      isUnderReplicated(one) ? 1 : 0,
    )
    add('kafka_cluster_partition_underminisr', '1 when too few are in sync.', one =>
      one.isrCount < one.minInsyncReplicas ? 1 : 0,
    )
    add('kafka_cluster_partition_atminisr', '1 when just enough are in sync.', one =>
      one.isrCount === one.minInsyncReplicas ? 1 : 0,
    )
    add(
      'kafka_cluster_partition_laststableoffsetlag',
      'High watermark less last stable offset.',
      one => one.highWatermark - one.lastStableOffset,
    )
    add('kafka_topic_partition_current_offset', 'High watermark.', one => one.highWatermark)
    add('kafka_topic_partition_oldest_offset', 'First offset that can be read.', one => one.logStartOffset)
    add('kafka_topic_partition_leader', 'Id of the leader.', one => one.leaderId)
    add('kafka_topic_partition_leader_is_preferred', '1 when the leader is the first replica.', one =>
      one.isPreferredLeader ? 1 : 0,
    )
    add('kafka_topic_partition_replicas', 'Replicas.', one => one.replicaCount)
    add('kafka_topic_partition_in_sync_replica', 'Replicas in sync.', one => one.isrCount)
    add('kafka_topic_partition_under_replicated_partition', '1 when replicas are out of sync.', one =>
      isUnderReplicated(one) ? 1 : 0,
    )
    this.#gauge('kafka_topic_partitions', 'Partitions of a topic led here.', ['topic'], function* () {
      const counts = new Map<string, number>()
      for (const { topic } of source.partitions()) counts.set(topic, (counts.get(topic) ?? 0) + 1)
      for (const [topic, count] of counts) yield [{ topic }, count]
    })
  }

  #addReplicaManager(): void {
    const source = this.#source
    const count = (test: (one: PartitionGauges) => boolean) => () => [...source.partitions()].filter(test).length
    const prefix = 'kafka_server_replicamanager'
    this.#one(
      `${prefix}_leadercount`,
      'Partitions led by this broker.',
      count(() => true),
    )
    this.#one(
      `${prefix}_partitioncount`,
      'Partitions on this broker.',
      count(() => true),
    )
    this.#one(`${prefix}_underreplicatedpartitions`, 'Partitions with replicas out of sync.', count(isUnderReplicated))
    this.#one(
      `${prefix}_underminisrpartitioncount`,
      'Partitions with too few in sync.',
      count(one => one.isrCount < one.minInsyncReplicas),
    )
    this.#one(
      `${prefix}_atminisrpartitioncount`,
      'Partitions with just enough in sync.',
      count(one => one.isrCount === one.minInsyncReplicas),
    )
    this.#one(
      'kafka_log_logmanager_offlinelogdirectorycount',
      'Log directories that have failed.',
      () => source.logDirectories().filter(one => one.isOffline).length,
    )
    this.#gauge('kafka_log_logmanager_logdirectoryoffline', '1 when the directory has failed.', ['logDirectory'], () =>
      source.logDirectories().map(one => [{ logDirectory: one.path }, one.isOffline ? 1 : 0] as const),
    )
    this.#one(
      'kafka_server_kafkaserver_brokerstate',
      '0 not running, 1 starting, 2 recovery, 3 running, 7 shutting down.',
      () => source.brokerState(),
    )
    this.#one('kafka_brokers', 'Brokers of the cluster.', () => source.broker().brokerCount)
    this.#gauge('kafka_broker_info', 'Always 1.', ['id', 'address'], () => {
      const { nodeId, host, port } = source.broker()
      return [[{ id: nodeId, address: `${host}:${port}` }, 1]]
    })
  }

  #addCompaction(): void {
    const source = this.#source
    const cleaner = 'kafka_log_logcleaner'
    const manager = 'kafka_log_logcleanermanager'
    const one = (name: string, help: string, value: (gauges: CompactionGauges) => number) =>
      this.#one(name, help, () => value(source.compaction()))
    one(`${cleaner}_cleaner_recopy_percent`, 'Written of what was read, latest passes.', all => all.recopyPercent)
    one(
      `${cleaner}_max_buffer_utilization_percent`,
      'How full the map of keys was, latest passes.',
      all => all.maxBufferUtilizationPercent,
    )
    one(`${cleaner}_max_clean_time_secs`, 'Seconds of the longest of the latest passes.', all => all.maxPassSeconds)
    one(
      `${cleaner}_max_compaction_delay_secs`,
      'How much later than max.compaction.lag.ms the last pass came.',
      all => all.maxDelaySeconds,
    )
    one(
      `${cleaner}_deadthreadcount`,
      'Always 0: whatever ends a thread of compaction, another takes its place.',
      () => 0,
    )
    one(`${manager}_max_dirty_percent`, 'Of the dirtiest log at the last look.', all => all.maxDirtyPercent)
    one(`${manager}_time_since_last_run_ms`, 'Since logs were looked at.', all => all.sinceLastLookMs)
    this.#gauge(
      `${manager}_uncleanable_partitions_count`,
      'Partitions that cannot be compacted.',
      ['logDirectory'],
      () =>
        source.compaction().uncleanable.map(({ path, partitions }) => [{ logDirectory: path }, partitions] as const),
    )
    this.#gauge(`${manager}_uncleanable_bytes`, 'Dirty bytes of such partitions.', ['logDirectory'], () =>
      source.compaction().uncleanable.map(({ path, bytes }) => [{ logDirectory: path }, bytes] as const),
    )
    this.#counter('millrace_compaction_runs_total', 'Passes that came through.', [], () => [
      [{}, source.compaction().passes],
    ])
    this.#counter('millrace_compaction_bytes_total', 'Bytes that passes read and wrote.', ['direction'], () => {
      const { readBytes, writtenBytes } = source.compaction()
      return [
        [{ direction: 'read' }, readBytes],
        [{ direction: 'written' }, writtenBytes],
      ]
    })
    this.#counter('millrace_compaction_seconds_total', 'Seconds that passes took.', [], () => [
      [{}, source.compaction().passSeconds],
    ])
  }

  #addGroups(): void {
    const groups = () => this.#groups
    this.#gauge('kafka_consumergroup_members', 'Members of a group.', ['consumergroup'], function* () {
      for (const one of groups()) yield [{ consumergroup: one.groupId }, one.memberCount]
    })
    const add = (name: string, help: string, value: (one: GroupGauges['offsets'][number]) => number) =>
      this.#gauge(name, help, ['consumergroup', 'topic', 'partition'], function* () {
        for (const { groupId, offsets } of groups())
          for (const one of offsets)
            yield [{ consumergroup: groupId, topic: one.topic, partition: one.partition }, value(one)]
      })
    add('kafka_consumergroup_current_offset', 'Committed offset.', one => one.committedOffset)
    add('kafka_consumergroup_lag', 'Records between the committed offset and the high watermark.', one =>
      Math.max(0, one.highWatermark - one.committedOffset),
    )
    const groupMetadata = 'kafka_coordinator_group_groupmetadatamanager'
    this.#one(`${groupMetadata}_numgroups`, 'Groups.', () => groups().length)
    for (const state of ['PreparingRebalance', 'CompletingRebalance', 'Stable', 'Empty', 'Dead']) {
      const count = () => groups().filter(one => one.state === state).length
      this.#one(`${groupMetadata}_numgroups${state.toLowerCase()}`, `Groups in state ${state}.`, count)
    }
    this.#one(`${groupMetadata}_numoffsets`, 'Committed offsets.', () =>
      groups().reduce((sum, one) => sum + one.offsets.length, 0),
    )
  }

  #addNetwork(): void {
    const source = this.#source
    const { counters } = source
    const prefix = 'kafka_server_socket_server_metrics'
    this.#gauge(`${prefix}_connection_count`, 'Open connections.', ['listener'], function* () {
      const counts = new Map<string, number>()
      for (const { listener } of source.connections()) counts.set(listener, (counts.get(listener) ?? 0) + 1)
      for (const [listener, count] of counts) yield [{ listener }, count]
    })
    const labels = ['clientSoftwareName', 'clientSoftwareVersion', 'listener']
    this.#gauge(`${prefix}_connections_software`, 'Open connections by client.', labels, function* () {
      const counts = new Map<string, { labels: Labels; count: number }>()
      for (const one of source.connections()) {
        const key = JSON.stringify(one)
        const label = {
          clientSoftwareName: one.softwareName,
          clientSoftwareVersion: one.softwareVersion,
          listener: one.listener,
        }
        const known = counts.get(key)
        if (known === undefined) counts.set(key, { labels: label, count: 1 })
        else known.count++
      }
      for (const { labels: label, count } of counts.values()) yield [label, count]
    })
    this.#counter(`${prefix}_connection_creation_total`, 'Connections accepted.', [], () => [
      [{}, counters.connectionsCreated],
    ])
    this.#counter(`${prefix}_connection_close_total`, 'Connections ended.', [], () => [
      [{}, counters.connectionsClosed],
    ])
    this.#counter('millrace_connections_refused_total', 'Connections refused at a limit.', [], () => [
      [{}, counters.connectionsRefused],
    ])
    this.#one(
      'kafka_network_socketserver_expiredconnectionskilledcount',
      'Connections closed for being idle.',
      () => counters.expiredConnectionsKilled,
    )
    this.#one('kafka_network_socketserver_memorypoolavailable', 'Bytes of the request budget that are free.', () =>
      Math.max(0, source.memory().capacityBytes - source.memory().usedBytes),
    )
    this.#one(
      'kafka_network_socketserver_memorypoolused',
      'Bytes of the request budget in use.',
      () => source.memory().usedBytes,
    )
    this.#gauge(
      'kafka_server_delayedoperationpurgatory_purgatorysize',
      'Requests that wait.',
      ['delayedOperation'],
      () => {
        const { produce, fetch } = source.waiting()
        return [
          [{ delayedOperation: 'Produce' }, produce],
          [{ delayedOperation: 'Fetch' }, fetch],
        ]
      },
    )
    this.#one(
      'kafka_server_fetchsessioncache_numincrementalfetchsessions',
      'Open fetch sessions.',
      () => source.fetchSessions().count,
    )
    this.#counter(
      'kafka_server_fetchsessioncache_incrementalfetchsessionevictions_total',
      'Sessions put out by others.',
      [],
      () => [[{}, source.fetchSessions().evictions]],
    )
  }

  #addController(): void {
    const source = this.#source
    const prefix = 'kafka_controller_kafkacontroller'
    this.#one(`${prefix}_activecontrollercount`, '1 on the active controller.', () =>
      source.controller().isActive ? 1 : 0,
    )
    this.#one(
      `${prefix}_offlinepartitionscount`,
      'Partitions without a leader.',
      () => source.controller().offlinePartitions,
    )
    this.#one(`${prefix}_globaltopiccount`, 'Topics of the cluster.', () => source.controller().topics)
    this.#one(`${prefix}_globalpartitioncount`, 'Partitions of the cluster.', () => source.controller().partitions)
    this.#one(`${prefix}_activebrokercount`, 'Brokers that are not fenced.', () => source.controller().activeBrokers)
    this.#one(`${prefix}_fencedbrokercount`, 'Brokers that are fenced.', () => source.controller().fencedBrokers)
    this.#one(
      `${prefix}_lastappliedrecordoffset`,
      'Last metadata record applied.',
      () => source.controller().lastAppliedOffset,
    )
    this.#one(
      `${prefix}_lastcommittedrecordoffset`,
      'Last metadata record committed.',
      () => source.controller().lastCommittedOffset,
    )
    this.#one('kafka_server_raftmetrics_current_leader', 'Id of the quorum leader.', () => source.controller().leaderId)
    this.#one('kafka_server_raftmetrics_current_epoch', 'Epoch of the quorum.', () => source.controller().leaderEpoch)
    this.#one(
      'kafka_server_raftmetrics_log_end_offset',
      'End of the metadata log.',
      () => source.controller().logEndOffset,
    )
    this.#one(
      'kafka_server_raftmetrics_high_watermark',
      'High watermark of the metadata log.',
      () => source.controller().highWatermark,
    )
  }
}

function isUnderReplicated(one: PartitionGauges): boolean {
  return one.isrCount < one.replicaCount
}
