import { ErrorCode, errorName } from '../../base/error-code.ts'
import type { Uuid } from '../../base/uuid.ts'
import type { Endpoint } from '../../io/network.ts'
import { apiVersionsRequest, apiVersionsResponse } from '../../protocol/messages/api-versions.ts'
import { metadataRequest, metadataResponse } from '../../protocol/messages/metadata.ts'
import type { Fields, Infer, Input, Message } from '../../protocol/schema.ts'
import type { SeededRandom } from '../io/seeded-random.ts'
import type { SimulatedIo } from '../io/simulated-node.ts'
import { type Answered, type Api, type Complain, type Lost, WireConnection } from './wire-connection.ts'

const apiVersions = { request: apiVersionsRequest, response: apiVersionsResponse }
const metadata = { request: metadataRequest, response: metadataResponse }

export interface WireClientOptions {
  readonly io: SimulatedIo
  readonly random: SeededRandom
  readonly endpoint: Endpoint
  readonly clientId: string
  readonly complain: Complain
  readonly sawTopic: (topic: KnownTopic) => void
}

export interface KnownTopic {
  readonly name: string
  readonly topicId: Uuid
  readonly partitionCount: number
  /** By partition, as it was when the broker was asked. */
  readonly leaderEpochs: readonly number[]
}

/** One request that can be sent. */
export interface Line<Q extends Fields, R extends Fields> {
  readonly version: number
  /** Never rejects. */
  send(
    body: Input<Message<Q>>,
    options: { readonly timeoutMs: number; readonly expectsAnswer?: boolean },
  ): Promise<Answered<Infer<Message<R>>> | Lost>
}

interface Session {
  readonly connection: WireConnection
  readonly versions: ReadonlyMap<number, { readonly min: number; readonly max: number }>
}

/**
 * A client at the level of the protocol, on one connection at a time. Each request goes in a version drawn from those that
 * both sides speak, so that every version meets every fault.
 */
export class WireClient {
  readonly #options: WireClientOptions
  #session: Session | undefined
  #opening: Promise<Session | undefined> | undefined

  constructor(options: WireClientOptions) {
    this.#options = options
  }

  get io(): SimulatedIo {
    return this.#options.io
  }

  get random(): SeededRandom {
    return this.#options.random
  }

  get isConnected(): boolean {
    return this.#session?.connection.isOpen === true
  }

  sleep(ms: number): Promise<void> {
    return new Promise(resolve => void this.io.clock.after(ms, resolve))
  }

  /** `body` is asked for with the version that was drawn. Never rejects. */
  async call<Q extends Fields, R extends Fields>(
    api: Api<Q, R>,
    body: (version: number) => Input<Message<Q>>,
    options: { readonly timeoutMs: number; readonly minVersion?: number },
  ): Promise<Answered<Infer<Message<R>>> | Lost> {
    const line = await this.line(api, options.minVersion)
    return line === undefined ? { type: 'lost', reason: 'no connection' } : line.send(body(line.version), options)
  }

  /** An open connection with a version for one request, to be sent at once; undefined when there is none. */
  async line<Q extends Fields, R extends Fields>(
    api: Api<Q, R>,
    minVersion = 0,
    maxVersion = 99,
  ): Promise<Line<Q, R> | undefined> {
    const session = await this.connect()
    const version = session && this.#draw(session, api.request, { minVersion, maxVersion })
    if (session === undefined || version === undefined) return undefined
    return { version, send: (body, options) => session.connection.request(api, version, body, options) }
  }

  /** Opens a connection if there is none. Undefined when that fails. */
  connect(): Promise<Session | undefined> {
    if (this.isConnected) return Promise.resolve(this.#session)
    this.#opening ??= this.#open().finally(() => {
      this.#opening = undefined
    })
    return this.#opening
  }

  disconnect(reason: string): void {
    this.#session?.connection.close(reason)
    this.#session = undefined
  }

  /** What the broker says of these topics; undefined without an answer. */
  async topics(names: readonly string[]): Promise<readonly KnownTopic[] | undefined> {
    const body = { topics: names.map(name => ({ name })), allowAutoTopicCreation: false }
    const result = await this.call(metadata, () => body, { timeoutMs: 5000, minVersion: 10 })
    if (result.type === 'lost') return undefined
    const known = result.answer.topics
      .filter(topic => topic.errorCode === ErrorCode.none)
      .map(({ name, topicId, partitions }) => {
        const leaderEpochs: number[] = []
        for (const { partitionIndex, leaderEpoch } of partitions) leaderEpochs[partitionIndex] = leaderEpoch
        return { name: name ?? '', topicId, partitionCount: partitions.length, leaderEpochs }
      })
    for (const topic of known) this.#options.sawTopic(topic)
    return known
  }

  #draw(
    session: Session,
    request: Message,
    { minVersion, maxVersion }: { minVersion: number; maxVersion: number },
  ): number | undefined {
    const served = session.versions.get(request.key)
    if (served === undefined) return undefined
    const min = Math.max(served.min, request.minVersion, minVersion)
    const max = Math.min(served.max, request.maxVersion, maxVersion)
    if (min > max) return undefined
    // The newest is what current clients speak, so it is drawn more often.
    return this.random.chance(0.4) ? max : this.random.between(min, max)
  }

  async #open(): Promise<Session | undefined> {
    const { io, random, endpoint, clientId, complain } = this.#options
    try {
      const firstCorrelationId = random.below(2 ** 31)
      const options = { endpoint, connectTimeoutMs: 3000, clientId, firstCorrelationId, complain }
      const connection = await WireConnection.open(io, options)
      const version = random.between(0, apiVersionsRequest.maxVersion)
      const body = version >= 3 ? { clientSoftwareName: 'simulator', clientSoftwareVersion: '1' } : {}
      const result = await connection.request(apiVersions, version, body, { timeoutMs: 3000 })
      if (result.type === 'lost') {
        connection.close('versions unknown')
        return undefined
      }
      if (result.answer.errorCode !== ErrorCode.none)
        complain(`ApiVersions ${version}: ${errorName(result.answer.errorCode)}`)
      const versions = new Map(
        result.answer.apiKeys.map(api => [api.apiKey, { min: api.minVersion, max: api.maxVersion }]),
      )
      this.#session = { connection, versions }
      return this.#session
    } catch {
      return undefined
    }
  }
}
