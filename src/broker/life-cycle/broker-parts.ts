import type { BrokerConfig } from '../../config/broker-config.ts'
import type { StaticTexts } from '../../config/load-config.ts'
import type { DiskError } from '../../io/disk.ts'
import type { Io } from '../../io/io.ts'
import { BatchValidator } from '../../records/batch-validator.ts'
import type { Compactor } from '../../storage/compaction/compactor.ts'
import type { ClaimedDirectory } from '../../storage/directory-claim.ts'
import type { LogDirectories } from '../../storage/log-directories.ts'
import type { MetadataLog } from '../../storage/metadata-log.ts'
import { createStorage } from '../../storage/storage.ts'
import type { StorageContext } from '../../storage/storage-context.ts'
import { defaultStorageLimits } from '../../storage/storage-context.ts'
import type { BoundListener, BrokerOptions } from '../broker-options.ts'
import type { BrokerRegistration } from '../broker-registration.ts'
import { Deadlines } from '../deadlines.ts'
import { DeletedNames } from '../deleted-names.ts'
import { remedyFor } from '../directory-problem.ts'
import { FetchSessions } from '../fetch/fetch-session.ts'
import type { GroupCoordinator } from '../groups/group-coordinator.ts'
import { MemoryBudget } from '../memory-budget.ts'
import type { MetadataNode } from '../metadata/metadata-node.ts'
import { BrokerMetrics } from '../metrics/broker-metrics.ts'
import { ClusterCounts } from '../metrics/cluster-counts.ts'
import type { SocketServer } from '../network/socket-server.ts'
import type { Partitions } from '../partitions.ts'
import { StorageFaultLog } from '../storage-fault-log.ts'

/** `queued.max.request.bytes` when it is -1, which in Kafka is no limit. */
const defaultBudgetBytes = 64 * 1024 * 1024
const maxUnusedSlabBytes = 16 * 1024 * 1024
const fetchSessionEvictionMs = 120_000
/** Kafka's numbers of the states of a broker. */
export const brokerState = { notRunning: 0, starting: 1, recovery: 2, running: 3, shuttingDown: 7 }

/** What one node is made of, and what is known of it: made by the start, one part after the other, and given up by the stop. */
export class BrokerParts {
  readonly options: BrokerOptions
  readonly io: Io
  /** The settings as they were given, and as they are in force. */
  readonly texts: StaticTexts
  config: BrokerConfig
  effectiveTexts: StaticTexts
  readonly deadlines: Deadlines
  readonly deletedNames = new DeletedNames()
  readonly metrics = new BrokerMetrics()
  readonly clusterCounts = new ClusterCounts()
  readonly budget: MemoryBudget
  readonly fetchSessions: FetchSessions
  readonly faultLog: StorageFaultLog
  readonly storage: StorageContext
  claims: readonly ClaimedDirectory[] = []
  unclaimed: readonly string[] = []
  clusterId = ''
  metadataLog: MetadataLog | undefined
  metadata: MetadataNode | undefined
  logs: LogDirectories | undefined
  compactor: Compactor | undefined
  partitions: Partitions | undefined
  groups: GroupCoordinator | undefined
  server: SocketServer | undefined
  registration: BrokerRegistration | undefined
  controllerId: number | undefined
  readonly listeners: BoundListener[] = []
  state = brokerState.notRunning
  failure: Error | undefined

  constructor(options: BrokerOptions) {
    const { io, loaded } = options
    this.options = options
    this.io = io
    this.texts = loaded.texts
    this.config = loaded.config
    this.effectiveTexts = loaded.texts
    this.deadlines = new Deadlines(io.clock)
    const { queuedMaxRequestBytes, maxIncrementalFetchSessionCacheSlots } = this.config
    this.budget = new MemoryBudget({
      capacityBytes: queuedMaxRequestBytes > 0 ? queuedMaxRequestBytes : defaultBudgetBytes,
      maxUnusedBytes: maxUnusedSlabBytes,
      poison: options.poisonsMemory ?? false,
    })
    this.fetchSessions = new FetchSessions({
      maxSessions: maxIncrementalFetchSessionCacheSlots,
      evictionMs: fetchSessionEvictionMs,
      random: io.random,
    })
    this.faultLog = new StorageFaultLog(io.clock, io.log, {
      directoryWritable: () => this.partitions?.openUnmade(),
      directoryFailed: (path, error) => this.#directoryFailed(path, error),
    })
    this.storage = createStorage({
      io,
      faults: this.faultLog,
      limits: {
        scrubBytesPerSecond: this.config.millraceScrubBytesPerSecond,
        warmBytes: options.warmBytes ?? defaultStorageLimits.warmBytes,
        reserveBytes: options.reserveBytes ?? defaultStorageLimits.reserveBytes,
      },
      producerIdExpirationMs: () => this.config.producerIdExpirationMs,
      validator: new BatchValidator({
        maxUncompressedBytes: this.config.millraceMaxUncompressedBatchBytes,
        checksCompressed: this.config.millraceValidateCompressed,
      }),
    })
  }

  /** An invariant is broken: nothing more is promised or written. */
  fail(reason: Error): void {
    this.#stopWriting(reason, { error: reason.stack })
  }

  #stopWriting(reason: Error, fields: { readonly error?: string | undefined }): void {
    if (this.failure !== undefined) return
    this.failure = reason
    this.io.log.write('error', `the broker stops: ${reason.message}`, fields)
    this.registration?.stop()
    this.partitions?.closeAll()
    this.metadata?.stop()
    this.options.failed(reason)
  }

  #directoryFailed(path: string, error: DiskError): void {
    const isMetadata = path === this.config.metadataLogDir
    const isLast = this.claims.every(claim => claim.directory.isOffline)
    if (isMetadata || isLast) {
      const what = isMetadata ? 'the metadata directory' : 'the last log directory'
      // It says where and why: a stack would tell an operator nothing more.
      this.#stopWriting(new Error(`${what} ${path} has failed: ${error.message}. ${remedyFor(error)}`), {})
    }
  }
}
