import { zeroUuid } from '../base/uuid.ts'
import type { BrokerConfig } from '../config/broker-config.ts'
import type { ConfigLayers } from '../config/describe-config.ts'
import { effectiveConfig, effectiveTexts } from '../config/effective-config.ts'
import type { Listener } from '../config/listeners.ts'
import type { LoadedConfig, StaticTexts } from '../config/load-config.ts'
import { topicConfigOf } from '../config/topic-config.ts'
import { defaultLogConfig } from '../core/log/default-log-config.ts'
import { supportedFeatures } from '../core/metadata/features.ts'
import type { MetadataDelta } from '../core/metadata/metadata-delta.ts'
import { ResourceType } from '../core/metadata/metadata-image.ts'
import { VoterSet } from '../core/raft/voters.ts'
import type { DiskError } from '../io/disk.ts'
import type { Io } from '../io/io.ts'
import { NetworkError } from '../io/network.ts'
import { apiOf } from '../protocol/apis.ts'
import { readRecordCount } from '../records/batch.ts'
import { BatchValidator } from '../records/batch-validator.ts'
import { Compactor, type CompactorSettings } from '../storage/compaction/compactor.ts'
import type { ClaimedDirectory } from '../storage/directory-claim.ts'
import { DuplicateLogError } from '../storage/duplicate-logs.ts'
import { LogDirectories, type OpenOptions } from '../storage/log-directories.ts'
import { type MetadataLog, openMetadataLog } from '../storage/metadata-log.ts'
import { createStorage } from '../storage/storage.ts'
import type { StorageContext } from '../storage/storage-context.ts'
import { defaultStorageLimits } from '../storage/storage-context.ts'
import { AutoTopicCreator } from './auto-topic-creator.ts'
import { BrokerRegistration } from './broker-registration.ts'
import { Deadlines } from './deadlines.ts'
import { FetchSessions } from './fetch/fetch-session.ts'
import { metadataDirectoryName } from './format.ts'
import { GroupCoordinator, groupTopic } from './groups/group-coordinator.ts'
import { allHandlers } from './handlers/all-handlers.ts'
import { ImageClusterView } from './image-cluster-view.ts'
import { MemoryBudget } from './memory-budget.ts'
import { partitionsWithoutMetadata } from './metadata/lost-metadata.ts'
import { MetadataNode } from './metadata/metadata-node.ts'
import { BrokerMetrics } from './metrics/broker-metrics.ts'
import { bind, bindProblem } from './network/bind.ts'
import { SocketServer } from './network/socket-server.ts'
import { openDirectories } from './open-directories.ts'
import type { Partition } from './partition.ts'
import { Partitions, type PartitionsOptions } from './partitions.ts'
import { Unpacker } from './produce/unpacker.ts'
import { ProducerIds } from './producer-ids.ts'
import type { BrokerServices, FeatureView, HandlerSettings } from './services.ts'
import { StartError } from './start-error.ts'
import { StorageFaultLog } from './storage-fault-log.ts'

/** `queued.max.request.bytes` when it is -1, which in Kafka is no limit. */
const defaultBudgetBytes = 64 * 1024 * 1024
const maxCachedSlabBytes = 16 * 1024 * 1024
const fetchSessionEvictionMs = 120_000
const controllerAnswerTimeoutMs = 30_000
const closeLingerMs = 1000
const tellWaitingMs = 10_000
/** The largest batch that Kafka's quorum takes. */
const maxMetadataBatchBytes = 8 * 1024 * 1024
/** Kafka's numbers of the states of a broker. */
const brokerState = { notRunning: 0, starting: 1, recovery: 2, running: 3, shuttingDown: 7 }

export interface BrokerOptions {
  readonly io: Io
  readonly loaded: LoadedConfig
  /** What an advertised listener without a host is advertised as. */
  readonly hostName: string
  /** Empty and absent log directories are formatted at once: the development profile. */
  readonly formatsEmptyDirectories: boolean
  /** Names this run of the machine, if that is known: memory that the kernel kept is still there. */
  readonly bootId?: string
  /** Bytes written or read lately that the kernel is taken to hold in memory; see `Traffic`. */
  readonly warmBytes?: number
  /** Memory that was given back is overwritten, so that a use after that shows. For tests. */
  readonly poisonsMemory?: boolean
  /** The broker has stopped itself: an invariant is broken, or its metadata directory has failed. */
  readonly failed: (reason: Error) => void
}

/** A listener as it is bound and advertised. */
export interface BoundListener {
  readonly name: string
  readonly host: string
  readonly port: number
  readonly advertisedHost: string
  readonly advertisedPort: number
}

/** One node: the only place where all parts meet. */
export class Broker {
  readonly #options: BrokerOptions
  readonly #io: Io
  readonly #texts: StaticTexts
  #config: BrokerConfig
  #effectiveTexts: StaticTexts
  readonly deadlines: Deadlines
  readonly metrics = new BrokerMetrics()
  readonly budget: MemoryBudget
  readonly fetchSessions: FetchSessions
  readonly #faultLog: StorageFaultLog
  readonly #storage: StorageContext
  #claims: readonly ClaimedDirectory[] = []
  #unclaimed: readonly string[] = []
  #clusterId = ''
  #metadataLog: MetadataLog | undefined
  #metadata: MetadataNode | undefined
  #logs: LogDirectories | undefined
  #compactor: Compactor | undefined
  #partitions: Partitions | undefined
  #groups: GroupCoordinator | undefined
  #server: SocketServer | undefined
  #registration: BrokerRegistration | undefined
  #controllerId: number | undefined
  #listeners: BoundListener[] = []
  #state = brokerState.notRunning
  #closing: Promise<boolean> | undefined
  #failure: Error | undefined

  /** Rejects with `StartError` when the broker cannot start; everything is given back then. */
  static async start(options: BrokerOptions): Promise<Broker> {
    const broker = new Broker(options)
    try {
      await broker.#start()
      return broker
    } catch (error) {
      await broker.close()
      throw error
    }
  }

  private constructor(options: BrokerOptions) {
    const { io, loaded } = options
    this.#options = options
    this.#io = io
    this.#texts = loaded.texts
    this.#config = loaded.config
    this.#effectiveTexts = loaded.texts
    this.deadlines = new Deadlines(io.clock)
    const { queuedMaxRequestBytes, maxIncrementalFetchSessionCacheSlots } = this.#config
    this.budget = new MemoryBudget({
      capacityBytes: queuedMaxRequestBytes > 0 ? queuedMaxRequestBytes : defaultBudgetBytes,
      maxCachedBytes: maxCachedSlabBytes,
      poison: options.poisonsMemory ?? false,
    })
    this.fetchSessions = new FetchSessions({
      maxSessions: maxIncrementalFetchSessionCacheSlots,
      evictionMs: fetchSessionEvictionMs,
      random: io.random,
    })
    this.#faultLog = new StorageFaultLog(io.log, {
      directoryWritable: () => this.#partitions?.openUnmade(),
      directoryFailed: (path, error) => this.#directoryFailed(path, error),
    })
    this.#storage = createStorage({
      io,
      faults: this.#faultLog,
      limits: {
        scrubBytesPerSecond: this.#config.millraceScrubBytesPerSecond,
        warmBytes: options.warmBytes ?? defaultStorageLimits.warmBytes,
      },
      producerIdExpirationMs: () => this.#config.producerIdExpirationMs,
      validator: new BatchValidator({
        maxUncompressedBytes: this.#config.millraceMaxUncompressedBatchBytes,
        checksCompressed: this.#config.millraceValidateCompressed,
      }),
    })
  }

  get nodeId(): number {
    return this.#config.nodeId
  }

  get clusterId(): string {
    return this.#clusterId
  }

  get config(): BrokerConfig {
    return this.#config
  }

  get listeners(): readonly BoundListener[] {
    return this.#listeners
  }

  /** Kafka's number of the state: 1 starting, 2 recovery, 3 running, 7 shutting down. */
  get state(): number {
    return this.#state
  }

  get isReady(): boolean {
    return this.#state === brokerState.running
  }

  get metadata(): MetadataNode {
    return this.#metadata!
  }

  get partitions(): Partitions {
    return this.#partitions!
  }

  get groups(): GroupCoordinator {
    return this.#groups!
  }

  get logs(): LogDirectories {
    return this.#logs!
  }

  get compactor(): Compactor {
    return this.#compactor!
  }

  get server(): SocketServer {
    return this.#server!
  }

  /**
   * Stops in good order: answers what can be answered, syncs, marks the directories clean. Answers whether all of that
   * succeeded; if not, the log says why, and the next start is like one after a kill. Harmless when repeated.
   */
  async close(): Promise<boolean> {
    this.#closing ??= this.#close()
    return await this.#closing
  }

  /** An invariant is broken: nothing more is promised or written. */
  fail(reason: Error): void {
    if (this.#failure !== undefined) return
    this.#failure = reason
    this.#io.log.write('error', `the broker stops: ${reason.message}`, { error: reason.stack })
    this.#registration?.stop()
    this.#partitions?.closeAll()
    this.#metadata?.stop()
    this.#options.failed(reason)
  }

  async #start(): Promise<void> {
    this.#state = brokerState.starting
    this.#refuseUnsupportedListeners()
    const opened = await openDirectories(this.#io, this.#storage, {
      config: this.#config,
      formatsEmpty: this.#options.formatsEmptyDirectories,
    })
    this.#claims = opened.claims
    this.#unclaimed = opened.failed
    this.#clusterId = opened.clusterId
    await this.#startMetadata()
    // Without the metadata of the cluster every partition would look like one that is not ours.
    this.#refuseToGoOn()
    this.#state = brokerState.recovery
    await this.#openLogs()
    this.#refuseToGoOn()
    await this.#listen()
    await this.#register()
    this.#refuseToGoOn()
    this.#server!.serve()
    this.#compactor!.start()
    this.#state = brokerState.running
  }

  #refuseToGoOn(): void {
    if (this.#failure !== undefined) throw new StartError(this.#failure.message)
  }

  #refuseUnsupportedListeners(): void {
    const { isBroker, isController, brokerListeners, controllerListeners } = this.#config
    if (!isBroker || !isController) {
      throw new StartError('process.roles: only broker,controller is offered yet: one node that is both')
    }
    for (const { name, securityProtocol } of [...brokerListeners, ...controllerListeners]) {
      if (securityProtocol === 'PLAINTEXT') continue
      throw new StartError(`listeners: ${name} is ${securityProtocol}, and only PLAINTEXT is offered yet`)
    }
  }

  get #metadataClaim(): ClaimedDirectory {
    return this.#claims.find(claim => claim.directory.path === this.#config.metadataLogDir)!
  }

  async #startMetadata(): Promise<void> {
    const { clock, random, disk, log } = this.#io
    const config = this.#config
    const claim = this.#metadataClaim
    const directory = `${config.metadataLogDir}/${metadataDirectoryName}`
    this.#metadataLog = await this.#openMetadataLog(claim)
    const [listener] = config.controllerListeners
    const metadata = new MetadataNode({
      clock,
      random,
      disk,
      log,
      deadlines: this.deadlines,
      quorum: {
        nodeId: config.nodeId,
        directoryId: claim.directory.id,
        clusterId: this.#clusterId,
        isController: config.isController,
        listenerName: listener.name,
        listeners: config.controllerListeners.map(({ name, host, port }) => ({ name, host, port })),
        bootstrapServers: config.controllerQuorumBootstrapServers,
        kraftVersionFeature: { minSupportedVersion: 0, maxSupportedVersion: 1 },
        fetchTimeoutMs: config.controllerQuorumFetchTimeoutMs,
        electionTimeoutMs: config.controllerQuorumElectionTimeoutMs,
        electionBackoffMaxMs: config.controllerQuorumElectionBackoffMaxMs,
        requestTimeoutMs: config.controllerQuorumRequestTimeoutMs,
        retryBackoffMs: config.controllerQuorumRetryBackoffMs,
        fetchMaxWaitMs: 500,
        fetchMaxBytes: config.controllerQuorumFetchMaxBytes,
        fetchSnapshotMaxBytes: config.controllerQuorumFetchSnapshotMaxBytes,
        autoJoin: false,
      },
      staticVoters: this.#staticVoters(listener),
      directory,
      metadataLog: this.#metadataLog.log,
      // One node is the whole quorum: there is nobody to send to.
      transport: { send: () => {}, reply: () => {} },
      controller: {
        nodeId: config.nodeId,
        clusterId: this.#clusterId,
        config,
        texts: this.#texts,
        supportedFeatures,
        random,
      },
      snapshotEveryBytes: config.metadataLogMaxRecordBytesBetweenSnapshots,
      snapshotEveryMs: config.metadataLogMaxSnapshotIntervalMs,
      answerTimeoutMs: controllerAnswerTimeoutMs,
      publish: delta => this.#publish(delta),
      leaderChanged: leaderId => {
        this.#controllerId = leaderId
      },
      halted: reason => this.fail(new Error(reason)),
    })
    this.#metadata = metadata
    await metadata.start()
    const tellsWaiting = this.#tellWaiting()
    await metadata.untilActive()
    tellsWaiting.cancel()
  }

  /** One line each ten seconds, while the quorum has no leader. */
  #tellWaiting(): { cancel(): void } {
    const { clock, log } = this.#io
    let timer = clock.after(tellWaitingMs, tell)
    function tell(): void {
      log.write(
        'warn',
        'no controller is elected yet: the start waits for a majority of the voters, and for the directory __cluster_metadata-0 of each',
      )
      timer = clock.after(tellWaitingMs, tell)
    }
    return { cancel: () => timer.cancel() }
  }

  #staticVoters(listener: Listener): VoterSet {
    const range = { minSupportedVersion: 0, maxSupportedVersion: 1 }
    return new VoterSet(
      this.#config.controllerQuorumVoters.map(({ id, host, port }) => ({
        id,
        directoryId: zeroUuid,
        endpoints: [{ name: listener.name, host, port }],
        kraftVersionFeature: range,
      })),
    )
  }

  async #openMetadataLog(claim: ClaimedDirectory): Promise<MetadataLog> {
    const config = {
      ...defaultLogConfig,
      segmentBytes: this.#config.internalMetadataLogSegmentBytes ?? this.#config.metadataLogSegmentBytes,
      segmentMs: this.#config.metadataLogSegmentMs,
      maxMessageBytes: maxMetadataBatchBytes,
      retentionMs: -1,
      retentionBytes: -1,
    }
    const opened = await openMetadataLog(this.#storage, claim.directory, config)
    const [damage] = opened.damage
    if (damage === undefined) {
      this.#refuseLostMetadata(opened.log.logEndOffset)
      return opened
    }
    throw new StartError(
      `${damage.path} is damaged at byte ${damage.position}: ${damage.reason}. The metadata of the cluster cannot be trusted: restore the file from a copy`,
    )
  }

  #refuseLostMetadata(logEndOffset: number): void {
    const directory = `${this.#config.metadataLogDir}/${metadataDirectoryName}`
    const paths = this.#claims.map(claim => claim.directory.path)
    const found = partitionsWithoutMetadata(this.#io.disk, { directory, logEndOffset }, paths)
    if (found === undefined) return
    throw new StartError(
      `${directory} has no records, but partitions lie in ${found}: the metadata of the cluster is lost. Restore its files from a copy`,
    )
  }

  async #openLogs(): Promise<void> {
    const { clock, log } = this.#io
    const image = this.#metadata!.image
    const config = this.#config
    const options: OpenOptions = {
      directories: this.#claims,
      unclaimed: this.#unclaimed,
      configOf: topic => topicConfigOf(image.config(ResourceType.topic, topic), this.#effectiveTexts).log,
      isStray: at => !Partitions.belongsHere(image, config.nodeId, at),
      intervals: {
        recoveryPointCheckpointMs: config.logFlushOffsetCheckpointIntervalMs,
        logStartCheckpointMs: config.logFlushStartOffsetCheckpointIntervalMs,
        highWatermarkCheckpointMs: config.replicaHighWatermarkCheckpointIntervalMs,
        retentionCheckMs: config.logRetentionCheckIntervalMs,
        producerExpiryCheckMs: config.producerIdExpirationCheckIntervalMs,
      },
      bootId: this.#options.bootId,
    }
    try {
      this.#logs = await LogDirectories.open(this.#storage, options)
    } catch (error) {
      if (!(error instanceof DuplicateLogError)) throw error
      throw new StartError(`log.dirs: ${error.message}`, { cause: error })
    }
    for (const { directory, name, reason } of this.#logs.unopened) {
      log.write('error', `${directory}/${name} is not served: ${reason}`, { directory, name })
    }
    this.#groups = new GroupCoordinator({
      clock,
      random: this.#io.random,
      deadlines: this.deadlines,
      log,
      topics: {
        topic: name => {
          const topic = image.topic(name)
          return topic === undefined ? undefined : { topicId: topic.id, partitionCount: topic.partitions.length }
        },
      },
      config: () => groupConfigOf(this.#config),
      partitionCount: () => image.topic(groupTopic)?.partitions.length,
      commitTimeoutMs: config.offsetsCommitTimeoutMs,
    })
    this.#partitions = new Partitions({
      nodeId: config.nodeId,
      host: this.#partitionHost(),
      logs: this.#logs,
      log,
      random: this.#io.random,
      deadlines: this.deadlines,
      configs: image,
      listener: {
        leads: partition => {
          if (partition.topic === groupTopic) this.#groups!.open(partition)
        },
        leadsNoMore: (topic, index) => {
          if (topic === groupTopic) this.#groups!.close(index)
        },
        topicsDeleted: topics => {
          this.#groups!.topicsDeleted(topics)
          for (const { name } of topics) this.metrics.forgetTopic(name)
        },
      },
      brokerTexts: () => this.#effectiveTexts,
    })
    this.#partitions.openAll(image)
    if (config.millraceFlush === 'ack') await this.#syncRecovered()
    this.#compactor = new Compactor({
      clock,
      compute: this.#io.compute,
      logs: () => this.#logs!.logs,
      settings: () => compactorSettingsOf(this.#config),
      listener: this.#faultLog,
    })
  }

  /**
   * What recovery found in the page cache may be beyond what was synced. Nobody is served before it is, so that the high
   * watermark does not begin below what clients have seen.
   */
  async #syncRecovered(): Promise<void> {
    const flushes = [...this.#logs!.logs].map(log => log.flush())
    // A directory that fails meanwhile is offline, and its partitions say so.
    await Promise.allSettled(flushes)
  }

  #partitionHost(): PartitionsOptions['host'] {
    return {
      clock: this.#io.clock,
      unpacker: new Unpacker({
        compute: this.#io.compute,
        clock: this.#io.clock,
        roomBytes: this.budget.capacityBytes,
        failed: error => this.fail(error),
      }),
      nodeId: this.#config.nodeId,
      flushBeforeAck: this.#config.millraceFlush === 'ack',
      replicaLagTimeMaxMs: this.#config.replicaLagTimeMaxMs,
      replicaFetchBackoffMs: this.#config.replicaFetchBackoffMs,
      brokers: { broker: id => this.#metadata?.image.broker(id) },
      appended: (partition: Partition, batch: Buffer) => {
        this.metrics.appended(partition.topic, readRecordCount(batch, 0), batch.length)
      },
    }
  }

  /** Before the image moves: partitions follow the metadata, then the settings do. */
  #publish(delta: MetadataDelta): undefined {
    this.#partitions?.apply(delta)
    for (const { resourceType, resourceName } of delta.changedConfigs()) {
      const isOurs = resourceName === '' || resourceName === String(this.#config.nodeId)
      if (resourceType === ResourceType.broker && isOurs) this.#takeBrokerConfig(delta)
    }
    return undefined
  }

  #takeBrokerConfig(configs: Pick<MetadataDelta, 'config'>): void {
    const dynamic = {
      cluster: configs.config(ResourceType.broker, ''),
      broker: configs.config(ResourceType.broker, String(this.#config.nodeId)),
    }
    const config = effectiveConfig(this.#texts, dynamic)
    if (config === undefined) {
      this.#io.log.write(
        'error',
        'the dynamic settings of this broker break a rule among them; what was in force stays',
      )
      return
    }
    this.#config = config
    this.#effectiveTexts = effectiveTexts(this.#texts, dynamic)
    this.#partitions?.configureAll(configs)
    this.#compactor?.reconfigured()
  }

  async #listen(): Promise<void> {
    const { clock, network, log } = this.#io
    const config = this.#config
    const server = new SocketServer({
      clock,
      network,
      log,
      budget: this.budget,
      metrics: this.metrics,
      handlers: allHandlers(this.#services()),
      apiName: apiKey => apiOf(apiKey)?.name ?? String(apiKey),
      maxRequestBytes: config.socketRequestMaxBytes,
      maxIdleMs: config.connectionsMaxIdleMs,
      frameTimeoutMs: config.millraceFrameTimeoutMs,
      slowReaderTimeoutMs: config.millraceSlowReaderTimeoutMs,
      failed: error => this.fail(error),
      maxConnections: () => this.#config.maxConnections,
      maxConnectionsOf: address =>
        this.#config.maxConnectionsPerIpOverrides.get(address) ?? this.#config.maxConnectionsPerIp,
    })
    this.#server = server
    for (const listener of config.brokerListeners) {
      const port = await this.#bind(server, listener)
      const advertised = config.advertisedListeners.find(one => one.name === listener.name)
      if (advertised === undefined) continue
      this.#listeners.push({
        name: listener.name,
        host: listener.host,
        port,
        advertisedHost: advertised.host || this.#options.hostName,
        advertisedPort: advertised.port === 0 ? port : advertised.port,
      })
    }
  }

  async #bind(server: SocketServer, { name, host, port }: Listener): Promise<number> {
    try {
      return await bind(
        { host, port },
        endpoint => server.listen(name, endpoint),
        () => server.stopListening(name),
      )
    } catch (error) {
      if (!(error instanceof NetworkError)) throw error
      const where = `${host === '' ? 'all interfaces' : host}, port ${port}`
      throw new StartError(`listeners: ${name} cannot listen on ${where}: ${bindProblem(error)}`, { cause: error })
    }
  }

  async #register(): Promise<void> {
    const { clock, random, log } = this.#io
    const config = this.#config
    this.#registration = new BrokerRegistration({
      clock,
      random,
      log,
      metadata: this.#metadata!,
      nodeId: config.nodeId,
      clusterId: this.#clusterId,
      rack: config.brokerRack ?? null,
      listeners: this.#listeners.map(({ name, advertisedHost, advertisedPort }) => ({
        ...{ name, host: advertisedHost, port: advertisedPort, securityProtocol: 0 },
      })),
      directoryIds: this.#claims.map(claim => claim.directory.id),
      previousBrokerEpoch: Math.min(...this.#claims.map(claim => claim.cleanShutdown?.brokerEpoch ?? -1)),
      offlineDirectoryIds: () =>
        this.#claims.filter(claim => claim.directory.isOffline).map(claim => claim.directory.id),
      heartbeatMs: config.brokerHeartbeatIntervalMs,
      timeoutMs: config.initialBrokerRegistrationTimeoutMs,
    })
    await this.#registration.start()
  }

  #services(): BrokerServices {
    const metadata = this.#metadata!
    const image = metadata.image
    const cluster = new ImageClusterView({
      clusterId: this.#clusterId,
      image: () => image,
      controllerId: () => this.#controllerId ?? -1,
    })
    const creator = new AutoTopicCreator({
      controller: request => metadata.submit(request),
      config: () => this.#config,
      log: this.#io.log,
    })
    return {
      clock: this.#io.clock,
      log: this.#io.log,
      deadlines: this.deadlines,
      metrics: this.metrics,
      nodeId: this.#config.nodeId,
      clusterId: this.#clusterId,
      config: settingsOf(() => this.#config),
      partitions: this.#partitions!,
      cluster,
      groups: this.#groups!,
      fetchSessions: this.fetchSessions,
      producerIds: new ProducerIds(async () => {
        const request = { brokerId: this.#config.nodeId, brokerEpoch: this.#registration?.brokerEpoch ?? -1 }
        const reply = await metadata.submit({ type: 'allocateProducerIds', request })
        const response = reply.type === 'allocateProducerIds' ? reply.response : undefined
        if (response === undefined || response.errorCode !== 0)
          return { type: 'refused', errorCode: response?.errorCode ?? -1 }
        return { type: 'allocated', start: response.producerIdStart, length: response.producerIdLen }
      }),
      features: () => this.#features(),
      controller: request => metadata.submit(request),
      configLayers: () => this.#configLayers(),
      resourceConfig: (type, name) => image.config(type, name),
      fail: error => this.fail(error),
      createMissingTopics: names => creator.create(names),
      nodeEndpoints: request => cluster.brokers(request.owner.listenerName),
    }
  }

  #configLayers(): ConfigLayers {
    const { image } = this.#metadata!
    const cluster = image.config(ResourceType.broker, '')
    const broker = image.config(ResourceType.broker, String(this.#config.nodeId))
    return { texts: this.#texts, dynamic: { cluster, broker } }
  }

  #features(): FeatureView {
    const metadata = this.#metadata!
    const supported = [...supportedFeatures].map(([name, { min, max }]) => ({ name, minVersion: min, maxVersion: max }))
    const finalized = [...metadata.image.features()]
      // What a feature of a higher level governs is refused here, so it is not offered either.
      .filter(([name, level]) => level <= (supportedFeatures.get(name)?.max ?? 0))
      .map(([name, level]) => ({ name, minVersionLevel: level, maxVersionLevel: level }))
    const kraftVersion = metadata.quorum?.kraftVersion ?? 0
    if (kraftVersion > 0)
      finalized.push({ name: 'kraft.version', minVersionLevel: kraftVersion, maxVersionLevel: kraftVersion })
    return {
      supported: supported.filter(one => one.maxVersion > 0),
      finalized,
      finalizedEpoch: metadata.servedOffset - 1,
    }
  }

  #directoryFailed(path: string, error: DiskError): void {
    const isMetadata = path === this.#config.metadataLogDir
    const isLast = this.#claims.every(claim => claim.directory.isOffline)
    if (isMetadata || isLast) {
      const what = isMetadata ? 'the metadata directory' : 'the last log directory'
      this.fail(
        new Error(`${what} ${path} has failed: ${error.message}. Mend the disk, or restore the file from a copy`),
      )
    }
  }

  async #close(): Promise<boolean> {
    this.#state = brokerState.shuttingDown
    if (this.#failure === undefined) await this.#registration?.shutDown()
    this.#registration?.stop()
    await this.#server?.stopAccepting()
    this.#groups?.closeAll()
    this.#partitions?.closeAll()
    this.#server?.closeConnections(closeLingerMs)
    await this.#compactor?.close()
    await this.#metadata?.close()
    const isClean = await this.#closeLogs()
    this.deadlines.close()
    this.#state = brokerState.notRunning
    return isClean
  }

  async #closeLogs(): Promise<boolean> {
    const metadataProblem = await this.#closeMetadataLog()
    const problems = metadataProblem === undefined ? [] : [metadataProblem]
    if (this.#logs !== undefined) {
      problems.push(...(await this.#logs.close({ brokerEpoch: this.#registration?.brokerEpoch ?? -1 })))
    } else {
      for (const { directory, lock } of this.#claims) {
        directory.close()
        lock.release()
      }
    }
    if (problems.length === 0) return true
    this.#io.log.write(
      'error',
      `not all could be put in order: ${problems.join('; ')}. The next start looks for it, as after a kill.`,
    )
    return false
  }

  /** Undefined when that has succeeded. */
  async #closeMetadataLog(): Promise<string | undefined> {
    try {
      await this.#metadataLog?.close()
      return undefined
    } catch (error) {
      return `the metadata log: ${error instanceof Error ? error.message : String(error)}`
    }
  }
}

function settingsOf(config: () => BrokerConfig): HandlerSettings {
  return {
    get fetchMaxBytes() {
      return config().fetchMaxBytes
    },
    get autoCreateTopics() {
      return config().autoCreateTopicsEnable
    },
    get maxPartitionsPerAnswer() {
      return config().maxRequestPartitionSizeLimit
    },
  }
}

function compactorSettingsOf(config: BrokerConfig): CompactorSettings {
  return {
    threads: config.logCleanerEnable ? config.logCleanerThreads : 0,
    backoffMs: config.logCleanerBackoffMs,
    ioMaxBytesPerSecond: config.logCleanerIoMaxBytesPerSecond,
    dedupeBufferBytes: config.logCleanerDedupeBufferSize,
    ioBufferBytes: config.logCleanerIoBufferSize,
    loadFactor: config.logCleanerIoBufferLoadFactor,
    maxUncompressedBytes: config.millraceMaxUncompressedBatchBytes,
  }
}

function groupConfigOf(config: BrokerConfig) {
  return {
    minSessionTimeoutMs: config.groupMinSessionTimeoutMs,
    maxSessionTimeoutMs: config.groupMaxSessionTimeoutMs,
    maxSize: config.groupMaxSize,
    initialRebalanceDelayMs: config.groupInitialRebalanceDelayMs,
    offsetMetadataMaxBytes: config.offsetMetadataMaxBytes,
    offsetsRetentionMs: config.offsetsRetentionMinutes * 60_000,
    offsetsRetentionCheckIntervalMs: config.offsetsRetentionCheckIntervalMs,
  }
}
