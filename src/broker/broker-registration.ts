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

/** One life of a broker in its cluster: it registers, is unfenced once it has read the metadata, and says that it lives. */
export class BrokerRegistration {
  readonly #options: BrokerRegistrationOptions
  #brokerEpoch = -1
  #isFenced = true
  #timer: Timer | undefined
  #isStopped = false
  #unfenced: (() => void) | undefined

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

  stop(): void {
    this.#isStopped = true
    this.#timer?.cancel()
    this.#unfenced?.()
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
      if (errorCode !== ErrorCode.notController && errorCode !== ErrorCode.duplicateBrokerRegistration) {
        throw new StartError(`the controller refuses this broker: ${errorName(errorCode)}`)
      }
      if (clock.now().monotonicMs >= deadlineMs) {
        throw new StartError(`no controller has taken this broker within ${timeoutMs} ms (${errorName(errorCode)})`)
      }
      await new Promise<void>(resolve => clock.after(retryMs, resolve))
    }
  }

  #heartbeat(): void {
    const { metadata, nodeId, offlineDirectoryIds, log } = this.#options
    const request = {
      brokerId: nodeId,
      brokerEpoch: this.#brokerEpoch,
      currentMetadataOffset: metadata.servedOffset - 1,
      wantFence: false,
      wantShutDown: false,
      offlineLogDirs: offlineDirectoryIds(),
      cordonedLogDirs: null,
    }
    void metadata.submit({ type: 'brokerHeartbeat', request }).then(reply => {
      if (this.#isStopped || reply.type !== 'brokerHeartbeat') return
      const { errorCode, isFenced } = reply.response
      if (errorCode !== ErrorCode.none && errorCode !== ErrorCode.notController) {
        log.write('error', `the controller refuses a heartbeat of this broker: ${errorName(errorCode)}`, { errorCode })
      }
      if (errorCode === ErrorCode.none) this.#isFenced = isFenced ?? true
      if (!this.#isFenced) this.#unfenced?.()
      this.#timer = this.#options.clock.after(this.#isFenced ? fencedHeartbeatMs : this.#options.heartbeatMs, () =>
        this.#heartbeat(),
      )
    })
  }
}
