import { ErrorCode } from '../../base/error-code.ts'
import { initProducerIdRequest, initProducerIdResponse } from '../../protocol/messages/init-producer-id.ts'
import type { Cluster } from '../cluster/cluster.ts'
import { type Closing, sleep } from '../cluster/waiting.ts'
import { brokerError, MillraceError, toMillraceError } from '../millrace-error.ts'
import type { ProducerIdentity } from './partition-queue.ts'

const initProducerIdApi = { request: initProducerIdRequest, response: initProducerIdResponse }
const maxProducerEpoch = 0x7fff

/** Where an idempotent producer gets its id and epoch from. */
export class IdentitySource {
  readonly #cluster: Cluster
  readonly #closing: Closing
  readonly #lane: string
  readonly #changed: () => void
  #identity: ProducerIdentity | undefined
  #isAsking = false
  /** Why there will never be an identity. */
  fatalError: MillraceError | undefined
  /** Why there is none yet; undefined while there is one. */
  lastError: MillraceError | undefined

  constructor(cluster: Cluster, closing: Closing, lane: string, changed: () => void) {
    this.#cluster = cluster
    this.#closing = closing
    this.#lane = lane
    this.#changed = changed
  }

  /** The identity in use; undefined while a broker is being asked for one. */
  get current(): ProducerIdentity | undefined {
    if (this.#identity === undefined) void this.#ask()
    return this.#identity
  }

  /**
   * An identity that is newer than `used`, for sequences that begin anew: that of another partition which has begun anew
   * already, the next epoch, or a new producer id.
   */
  after(used: ProducerIdentity | undefined, needsNewProducerId: boolean): ProducerIdentity | undefined {
    const { current } = this
    if (current === undefined) return undefined
    const isUsed = used !== undefined && current.producerId === used.producerId
    if (isUsed && (needsNewProducerId || current.producerEpoch === maxProducerEpoch)) {
      this.#identity = undefined
      return this.current
    }
    if (current === used) this.#identity = { ...current, producerEpoch: current.producerEpoch + 1 }
    return this.#identity
  }

  async #ask(): Promise<void> {
    if (this.#isAsking || this.fatalError !== undefined) return
    this.#isAsking = true
    for (let failures = 1; this.#identity === undefined && !this.#closing.isClosed; failures++) {
      try {
        this.#identity = await this.#request()
        this.lastError = undefined
      } catch (thrown) {
        const error = toMillraceError(thrown)
        this.lastError = error
        if (!error.retriable) {
          this.fatalError = error
          break
        }
        await sleep(this.#cluster.io.clock, this.#cluster.retryDelayMs(failures), this.#closing)
      }
    }
    this.#isAsking = false
    if (!this.#closing.isClosed) this.#changed()
  }

  async #request(): Promise<ProducerIdentity> {
    const body = { transactionalId: null, transactionTimeoutMs: 0x7fff_ffff }
    const options = { lane: this.#lane }
    const { errorCode, producerId, producerEpoch } = await this.#cluster.sendToAny(initProducerIdApi, body, options)
    if (errorCode !== ErrorCode.none) throw brokerError(errorCode, 'a producer id')
    if (!Number.isSafeInteger(producerId) || producerId < 0 || producerEpoch < 0) {
      const text = `a broker gave producer id ${producerId} in epoch ${producerEpoch}, and no batch can carry those`
      throw new MillraceError('PROTOCOL_BROKEN', text, { retriable: true })
    }
    return { producerId, producerEpoch }
  }
}
