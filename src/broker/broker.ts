import type { BrokerConfig } from '../config/broker-config.ts'
import type { Compactor } from '../storage/compaction/compactor.ts'
import type { LogDirectories } from '../storage/log-directories.ts'
import type { BoundListener, BrokerOptions } from './broker-options.ts'
import type { Deadlines } from './deadlines.ts'
import type { FetchSessions } from './fetch/fetch-session.ts'
import type { GroupCoordinator } from './groups/group-coordinator.ts'
import { BrokerParts, brokerState } from './life-cycle/broker-parts.ts'
import { startParts } from './life-cycle/start-parts.ts'
import { stopParts } from './life-cycle/stop-parts.ts'
import type { MemoryBudget } from './memory-budget.ts'
import type { MetadataNode } from './metadata/metadata-node.ts'
import type { BrokerMetrics } from './metrics/broker-metrics.ts'
import type { ClusterCounts } from './metrics/cluster-counts.ts'
import type { SocketServer } from './network/socket-server.ts'
import type { Partitions } from './partitions.ts'

/** One node: the only place where all parts meet. */
export class Broker {
  readonly #parts: BrokerParts
  #closing: Promise<boolean> | undefined

  /** Rejects with `StartError` when the broker cannot start; everything is given back then. */
  static async start(options: BrokerOptions): Promise<Broker> {
    const broker = new Broker(options)
    try {
      await startParts(broker.#parts)
      return broker
    } catch (error) {
      await broker.close()
      throw error
    }
  }

  private constructor(options: BrokerOptions) {
    this.#parts = new BrokerParts(options)
  }

  get deadlines(): Deadlines {
    return this.#parts.deadlines
  }

  get metrics(): BrokerMetrics {
    return this.#parts.metrics
  }

  get clusterCounts(): ClusterCounts {
    return this.#parts.clusterCounts
  }

  get budget(): MemoryBudget {
    return this.#parts.budget
  }

  get fetchSessions(): FetchSessions {
    return this.#parts.fetchSessions
  }

  get nodeId(): number {
    return this.#parts.config.nodeId
  }

  get clusterId(): string {
    return this.#parts.clusterId
  }

  get config(): BrokerConfig {
    return this.#parts.config
  }

  get listeners(): readonly BoundListener[] {
    return this.#parts.listeners
  }

  /** Kafka's number of the state: 1 starting, 2 recovery, 3 running, 7 shutting down. */
  get state(): number {
    return this.#parts.state
  }

  get isReady(): boolean {
    return this.#parts.state === brokerState.running
  }

  get metadata(): MetadataNode {
    return this.#parts.metadata!
  }

  get partitions(): Partitions {
    return this.#parts.partitions!
  }

  get groups(): GroupCoordinator {
    return this.#parts.groups!
  }

  get logs(): LogDirectories {
    return this.#parts.logs!
  }

  get compactor(): Compactor {
    return this.#parts.compactor!
  }

  get server(): SocketServer {
    return this.#parts.server!
  }

  /**
   * Stops in good order: answers what can be answered, syncs, marks the directories clean. Answers whether all of that
   * succeeded; if not, the log says why, and the next start is like one after a kill. Harmless when repeated.
   */
  async close(): Promise<boolean> {
    this.#closing ??= stopParts(this.#parts)
    return await this.#closing
  }

  /** An invariant is broken: nothing more is promised or written. */
  fail(reason: Error): void {
    this.#parts.fail(reason)
  }
}
