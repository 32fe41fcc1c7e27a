import { ErrorCode, errorName } from '../base/error-code.ts'
import type { Random } from '../base/random.ts'
import { randomUuid, type Uuid } from '../base/uuid.ts'
import { toleratedFeatures } from '../core/metadata/features.ts'
import type { Clock, Timer } from '../io/clock.ts'
import type { LogSink } from '../io/log-sink.ts'
import type { MetadataNode } from './metadata/metadata-node.ts'
import { StartError } from './start-error.ts'

export interface AdvertisedListener {
  readonly name: string
  readonly host: string
  readonly port: number
  /** Kafka's number of the security protocol. */
  readonly securityProtocol: number
}

export interface BrokerRegistrationOptions {
  readonly clock: Clock
  readonly random: Random
  readonly log: LogSink
  readonly metadata: MetadataNode
  readonly nodeId: number
  readonly clusterId: string
  readonly rack: string | null
  readonly listeners: readonly AdvertisedListener[]
  readonly directoryIds: readonly Uuid[]
  /** Of the last life of this broker, when it ended cleanly; -1 otherwise. */
  readonly previousBrokerEpoch: number
  readonly offlineDirectoryIds: () => readonly Uuid[]
  /** `broker.heartbeat.interval.ms` */
  readonly heartbeatMs: number
  /** `initial.broker.registration.timeout.ms` */
  readonly timeoutMs: number
}

const retryMs = 50
/** While it is fenced a broker asks more often to be let in. */
const fencedHeartbeatMs = 20
/** How long a stop waits for leaders to move away. */
const shutdownTimeoutMs = 10_000

/** The other controller, or a former life of this broker, is about to go; a disk that was found full gives what was set aside. */
const passing: ReadonlySet<number> = new Set([
  ErrorCode.notController,
  ErrorCode.duplicateBrokerRegistration,
  ErrorCode.kafkaStorageError,
])

/** One life of a broker in its cluster: it registers, is unfenced once it has read the metadata, and says that it lives. */
export class BrokerRegistration {
  readonly #options: BrokerRegistrationOptions
  #brokerEpoch = -1
  #isFenced = true
  #timer: Timer | undefined
  #isStopped = false
  /** An answer is waited for. */
  #isAsking = false
  #wantsShutDown = false
  #unfenced: (() => void) | undefined
  #letGo: (() => void) | undefined

  constructor(options: BrokerRegistrationOptions) {
    this.#options = options
  }

  get brokerEpoch(): number {
    return this.#brokerEpoch
  }

  get isFenced(): boolean {
    return this.#isFenced
  }

  /** Resolves when the controller has let the broker in; rejects with `StartError` when it does not. */
  async start(): Promise<void> {
    await this.#register()
    if (this.#isStopped) return
    await new Promise<void>(resolve => {
      this.#unfenced = resolve
      this.#heartbeat()
    })
  }

  /**
   * Asks to be let go: the controller takes its leaderships away and then the broker out of service. Resolves when it agrees, and
   * also when it does not within `shutdownTimeoutMs`. Nothing more is said to it then.
   */
  async shutDown(): Promise<void> {
    if (this.#isStopped || this.#brokerEpoch < 0) return
    const { clock, log } = this.#options
    this.#wantsShutDown = true
    const timeout = clock.after(shutdownTimeoutMs, () => {
      log.write('warn', 'the controller does not let this broker go; it goes all the same')
      this.stop()
    })
    await new Promise<void>(resolve => {
      this.#letGo = resolve
      this.#timer?.cancel()
      if (!this.#isAsking) this.#heartbeat()
    })
    timeout.cancel()
  }

  stop(): void {
    this.#isStopped = true
    this.#timer?.cancel()
    this.#unfenced?.()
    this.#letGo?.()
  }

  async #register(): Promise<void> {
    const {
      clock,
      random,
      metadata,
      nodeId,
      clusterId,
      rack,
      listeners,
      directoryIds,
      previousBrokerEpoch,
      timeoutMs,
    } = this.#options
    const incarnationId = randomUuid(random)
    const deadlineMs = clock.now().monotonicMs + timeoutMs
    for (;;) {
      const reply = await metadata.submit({
        type: 'registerBroker',
        request: {
          brokerId: nodeId,
          clusterId,
          incarnationId,
          listeners: listeners.map(listener => ({ ...listener })),
          features: [...toleratedFeatures].map(([name, { min, max }]) => ({
            name,
            minSupportedVersion: min,
            maxSupportedVersion: max,
          })),
          rack,
          isMigratingZkBroker: false,
          logDirs: directoryIds,
          previousBrokerEpoch,
        },
      })
      if (this.#isStopped) return
      if (reply.type !== 'registerBroker') continue
      const { errorCode, brokerEpoch } = reply.response
      if (errorCode === ErrorCode.none) {
        this.#brokerEpoch = brokerEpoch ?? -1
        return
      }
      if (!passing.has(errorCode)) {
        throw new StartError(`the controller refuses this broker: ${errorName(errorCode)}`)
      }
      if (clock.now().monotonicMs >= deadlineMs) {
        throw new StartError(`no controller has taken this broker within ${timeoutMs} ms (${errorName(errorCode)})`)
      }
      await new Promise<void>(resolve => clock.after(retryMs, resolve))
    }
  }

  #heartbeat(): void {
    const { clock, metadata, nodeId, offlineDirectoryIds, heartbeatMs } = this.#options
    const request = {
      brokerId: nodeId,
      brokerEpoch: this.#brokerEpoch,
      currentMetadataOffset: metadata.servedOffset - 1,
      wantFence: false,
      wantShutDown: this.#wantsShutDown,
      offlineLogDirs: offlineDirectoryIds(),
      cordonedLogDirs: null,
    }
    this.#isAsking = true
    void metadata.submit({ type: 'brokerHeartbeat', request }).then(reply => {
      this.#isAsking = false
      if (this.#isStopped || reply.type !== 'brokerHeartbeat') return
      this.#answered(reply.response)
      if (this.#isStopped) return
      const isHurried = this.#isFenced || this.#wantsShutDown
      this.#timer = clock.after(isHurried ? fencedHeartbeatMs : heartbeatMs, () => this.#heartbeat())
    })
  }

  #answered({ errorCode, isFenced, shouldShutDown }: BrokerHeartbeatAnswer): void {
    if (errorCode !== ErrorCode.none) {
      if (errorCode === ErrorCode.notController) return
      const text = `the controller refuses a heartbeat of this broker: ${errorName(errorCode)}`
      this.#options.log.write('error', text, { errorCode })
      // Whoever is stopping asks for nothing that could be had by asking again.
      if (this.#wantsShutDown) this.stop()
      return
    }
    this.#isFenced = isFenced ?? true
    if (!this.#isFenced) this.#unfenced?.()
    if (shouldShutDown === true) this.stop()
  }
}

interface BrokerHeartbeatAnswer {
  readonly errorCode: ErrorCode
  readonly isFenced?: boolean
  readonly shouldShutDown?: boolean
}
