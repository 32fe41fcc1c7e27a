import { Backoff } from '../../base/backoff.ts'
import { ErrorCode } from '../../base/error-code.ts'
import type { BrokerChannel } from '../../channel/broker-channel.ts'
import { ChannelError } from '../../channel/channel-error.ts'
import type { Api, Body, RequestOptions } from '../../channel/channel-options.ts'
import type { Endpoint } from '../../io/network.ts'
import type { ApiKey } from '../../protocol/apis.ts'
import type { Fields, Infer, Message } from '../../protocol/schema.ts'
import type { ClientIo } from '../client-io.ts'
import { type ClientConfig, longestMs } from '../client-options.ts'
import { brokerError, closedError, MillraceError, toMillraceError } from '../millrace-error.ts'
import { metadataApi } from './api-messages.ts'
import { type Broker, type LeaderHint, MetadataCache, type PartitionState, type TopicState } from './metadata-cache.ts'
import { MetadataRefresher } from './metadata-refresher.ts'
import { NodeConnections } from './node-connections.ts'
import { Closing, firstToSucceed, sleep, within } from './waiting.ts'

/** Bootstrap servers are nodes of their own until the cluster has told who they are; their ids count down from here. */
const firstBootstrapId = -2
/** A broker that does not answer to Metadata for so long has the next one asked too. */
const metadataPatienceMs = 1000

/** How much longer than it was told an attempt may take to say why it failed. */
const attemptGraceMs = 100

export interface CallOptions extends RequestOptions {
  /** The connection to use: see `NodeConnections`. `general` unless given. */
  readonly lane?: string
}

/** How somebody is interested in a topic. */
export interface TopicWatch {
  /** Ask brokers to create it when it is missing, if they do such things. */
  readonly create: boolean
}

/**
 * What a client knows of a cluster, and its way to each node. Producers, consumers and the admin of one client share it.
 */
export class Cluster {
  readonly io: ClientIo
  readonly config: ClientConfig
  readonly metadata = new MetadataCache()
  readonly closing = new Closing()
  readonly #nodes: NodeConnections
  readonly #refresher: MetadataRefresher
  readonly #retryBackoff: Backoff
  /** Who is interested in which topic. */
  readonly #watches = new Map<string, Set<TopicWatch>>()
  #allTopicsWatches = 0
  readonly #listeners = new Set<() => void>()
  #lanes = 0

  constructor(io: ClientIo, config: ClientConfig) {
    this.io = io
    this.config = config
    this.#nodes = new NodeConnections(io, config, this.closing, {
      clusterId: () => this.metadata.clusterId,
      failed: () => this.requestRefresh(),
      wrongNode: () => {
        // Addresses have changed hands: only the bootstrap servers are to be trusted.
        this.metadata.forgetBrokers()
        this.requestRefresh()
      },
    })
    const limits = { firstMs: config.retryBackoffMs, maxMs: config.retryBackoffMaxMs }
    this.#retryBackoff = new Backoff(io.random, limits)
    this.#refresher = new MetadataRefresher({
      clock: io.clock,
      backoff: this.#retryBackoff,
      maxAgeMs: config.metadataMaxAgeMs,
      closing: this.closing,
      fetch: () => this.#fetchMetadata(),
    })
  }

  get nowMs(): number {
    return this.io.clock.now().monotonicMs
  }

  /** A name for connections that nobody else uses. */
  newLane(purpose: string): string {
    return `${purpose}-${++this.#lanes}`
  }

  closeLane(lane: string): void {
    this.#nodes.closeLane(lane)
  }

  close(): void {
    this.closing.close()
  }

  /** Calls back after each change of what is known. Returns what ends that. */
  onUpdate(callback: () => void): () => void {
    this.#listeners.add(callback)
    return () => void this.#listeners.delete(callback)
  }

  /** Keeps a topic's state up to date from now on. Returns what ends that. */
  watch(topic: string, watch: TopicWatch): () => void {
    const own = { ...watch }
    const watches = this.#watches.get(topic) ?? new Set()
    this.#watches.set(topic, watches.add(own))
    return () => {
      watches.delete(own)
      if (watches.size === 0 && this.#watches.get(topic) === watches) {
        this.#watches.delete(topic)
        if (this.#allTopicsWatches === 0) this.metadata.forgetTopic(topic)
      }
    }
  }

  /** Keeps all topics up to date from now on, for subscriptions by pattern. Returns what ends that. */
  watchAll(): () => void {
    this.#allTopicsWatches++
    let isOver = false
    return () => {
      if (!isOver) this.#allTopicsWatches--
      isOver = true
    }
  }

  /** There should be newer metadata soon. */
  requestRefresh(): void {
    this.#refresher.request()
  }

  /** Newer metadata, which was asked for after this call. Rejects when there is none within `timeoutMs`. */
  async refresh(timeoutMs: number): Promise<void> {
    await within(this.io.clock, timeoutMs, this.#refresher.update(), () => this.#noMetadata(timeoutMs))
    if (this.closing.isClosed) throw closedError('client')
  }

  /** The topic as it is known, or as it is once it is known and has partitions. Its `errorCode` is `none`. */
  async topic(name: string, timeoutMs: number): Promise<TopicState> {
    const deadlineMs = this.nowMs + timeoutMs
    for (;;) {
      const known = this.metadata.topic(name)
      if (known?.errorCode === ErrorCode.none && known.partitions.length > 0) return known
      if (known !== undefined && isFinal(known.errorCode)) throw brokerError(known.errorCode, `topic ${name}`)
      const leftMs = deadlineMs - this.nowMs
      if (leftMs <= 0) throw brokerError(known?.errorCode ?? ErrorCode.unknownTopicOrPartition, `topic ${name}`)
      await this.#refreshOrReason(leftMs, known)
    }
  }

  async #refreshOrReason(leftMs: number, known: TopicState | undefined): Promise<void> {
    try {
      await this.refresh(leftMs)
    } catch (error) {
      // With an answer about the topic in hand, that answer is the better reason.
      if (known === undefined || this.closing.isClosed) throw error
    }
  }

  /** undefined: not known, or without a leader; newer metadata is then under way. */
  leaderOf(topic: string, partition: number): PartitionState | undefined {
    const state = this.metadata.partition(topic, partition)
    if (state !== undefined && state.leaderId >= 0 && this.metadata.broker(state.leaderId) !== undefined) return state
    this.requestRefresh()
    return undefined
  }

  /** What an answer said of a leader that has moved. Returns whether there is a new one to go to at once. */
  learnLeader(topic: string, partition: number, hint: LeaderHint, brokers: readonly Broker[]): boolean {
    if (hint.leaderId < 0) return false
    const address = brokers.find(({ nodeId }) => nodeId === hint.leaderId)
    if (address !== undefined) this.metadata.learnBroker(address)
    return this.metadata.learnLeader(topic, partition, hint)
  }

  /** Whether a request to the node would leave at once. */
  isConnected(nodeId: number, lane: string): boolean {
    return this.#nodes.isConnected(nodeId, lane)
  }

  /** One request to one node, tried once. Rejects with a `MillraceError`. */
  async send<Q extends Fields, R extends Fields>(
    nodeId: number,
    api: Api<Q, R>,
    body: Body<Q>,
    options: CallOptions = {},
  ): Promise<Infer<Message<R>>> {
    const timeoutMs = options.timeoutMs ?? this.config.requestTimeoutMs
    const endpoint = this.#endpointOf(nodeId)
    if (endpoint === undefined) {
      this.requestRefresh()
      throw new MillraceError('CONNECTION_FAILED', `broker ${nodeId} is not known (any more)`, { retriable: true })
    }
    try {
      const channel = await this.#nodes.channelTo(nodeId, endpoint, options.lane ?? 'general', timeoutMs)
      return await channel.request(api, body, options)
    } catch (error) {
      throw fromChannel(error)
    }
  }

  /** The same to any node: one that is connected, or whichever comes first. */
  sendToAny<Q extends Fields, R extends Fields>(
    api: Api<Q, R>,
    body: Body<Q>,
    options: CallOptions = {},
  ): Promise<Infer<Message<R>>> {
    const candidates = this.#candidates(options.lane ?? 'general')
    const { clock } = this.io
    return firstToSucceed(clock, candidates, metadataPatienceMs, nodeId => this.send(nodeId, api, body, options))
  }

  /** A node that answers, for what any node can tell. */
  anyNode(lane: string): number {
    return this.#candidates(lane)[0]
  }

  /** The version of an API that a node would be spoken to in; undefined when there is none in common. */
  async versionAt(nodeId: number, apiKey: ApiKey, options: CallOptions = {}): Promise<number | undefined> {
    const channel = await this.channelTo(nodeId, options)
    return channel.versionOf(apiKey)
  }

  /** The connection to a node, for what the node says of itself. */
  async channelTo(nodeId: number, options: CallOptions = {}): Promise<BrokerChannel> {
    const endpoint = this.#endpointOf(nodeId)
    if (endpoint === undefined) throw new MillraceError('CONNECTION_FAILED', `broker ${nodeId} is not known`)
    const timeoutMs = options.timeoutMs ?? this.config.requestTimeoutMs
    try {
      return await this.#nodes.channelTo(nodeId, endpoint, options.lane ?? 'general', timeoutMs)
    } catch (error) {
      throw fromChannel(error)
    }
  }

  /**
   * Tries until it succeeds, fails for good, or time is over. The attempt is told how much time is left. `what` names the
   * call in the error. A time that is longer than any request could say is that long.
   */
  async retry<T>(
    what: string,
    givenMs: number,
    attempt: (leftMs: number) => Promise<T>,
    closing: Closing = this.closing,
  ): Promise<T> {
    const timeoutMs = Math.min(givenMs, longestMs - attemptGraceMs)
    const deadlineMs = this.nowMs + timeoutMs
    let last: MillraceError | undefined
    for (let failures = 1; ; failures++) {
      const leftMs = Math.max(1, deadlineMs - this.nowMs)
      let late: MillraceError | undefined
      const makeLate = () => {
        late = tooLate(what, timeoutMs, last)
        return late
      }
      try {
        // An attempt that ends in its own time knows better why.
        return await within(this.io.clock, leftMs + attemptGraceMs, attempt(leftMs), makeLate)
      } catch (thrown) {
        if (thrown === late) throw thrown
        last = toMillraceError(thrown)
        if (closing.isClosed || !last.retriable) throw last
        const delayMs = this.#retryBackoff.delayMs(failures)
        if (this.nowMs + delayMs >= deadlineMs) throw tooLate(what, timeoutMs, last)
        await sleep(this.io.clock, delayMs, closing)
      }
      if (closing.isClosed) throw closedError('client')
    }
  }

  retryDelayMs(failures: number): number {
    return this.#retryBackoff.delayMs(failures)
  }

  #endpointOf(nodeId: number): Endpoint | undefined {
    if (nodeId <= firstBootstrapId) return this.config.bootstrapServers[firstBootstrapId - nodeId]
    return this.metadata.broker(nodeId)
  }

  /** All nodes, the most promising first: connected, not tried, failing; then the bootstrap servers. */
  #candidates(lane: string): number[] {
    const rank = (nodeId: number) => {
      if (this.#nodes.isConnected(nodeId, lane)) return 0
      return this.#nodes.isFailing(nodeId, lane) ? 2 : 1
    }
    const brokers = this.#shuffled(this.metadata.brokers.map(({ nodeId }) => nodeId))
    const bootstrap = this.#shuffled(this.config.bootstrapServers.map((_, index) => firstBootstrapId - index))
    return [...brokers.sort((a, b) => rank(a) - rank(b)), ...bootstrap.sort((a, b) => rank(a) - rank(b))]
  }

  #shuffled(ids: number[]): number[] {
    for (let i = ids.length - 1; i > 0; i--) {
      const j = this.io.random.below(i + 1)
      ;[ids[i], ids[j]] = [ids[j], ids[i]]
    }
    return ids
  }

  /** Returns whether every topic that somebody is interested in is there, or will not be. */
  async #fetchMetadata(): Promise<boolean> {
    if (this.#allTopicsWatches > 0) await this.#fetchTopics(null, false)
    else await this.#fetchTopics([...this.#watches.keys()], false)
    const missing = [...this.#watches].filter(([name, watches]) => {
      const isMissing = this.metadata.topic(name)?.errorCode !== ErrorCode.none
      return isMissing && [...watches].some(({ create }) => create)
    })
    if (missing.length > 0)
      await this.#fetchTopics(
        missing.map(([name]) => name),
        true,
      )
    for (const listener of [...this.#listeners]) listener()
    return [...this.#watches.keys()].every(name => {
      const errorCode = this.metadata.topic(name)?.errorCode
      return errorCode !== undefined && (errorCode === ErrorCode.none || isFinal(errorCode))
    })
  }

  async #fetchTopics(names: readonly string[] | null, create: boolean): Promise<void> {
    const topics = names?.map(name => ({ name })) ?? null
    const answer = await this.sendToAny(
      metadataApi,
      // Version 0 has no null: there no name means all.
      version => ({
        topics: version === 0 ? (topics ?? []) : topics,
        ...(version >= 4 ? { allowAutoTopicCreation: create } : {}),
      }),
      { timeoutMs: Math.min(this.config.requestTimeoutMs, 10_000) },
    )
    if (answer.errorCode === ErrorCode.rebootstrapRequired) {
      this.metadata.forgetBrokers()
      throw brokerError(answer.errorCode, 'the cluster')
    }
    if (answer.errorCode !== ErrorCode.none) throw brokerError(answer.errorCode, 'the cluster')
    this.metadata.update(answer, { hasAll: names === null })
  }

  #noMetadata(timeoutMs: number): MillraceError {
    const { lastError } = this.#refresher
    const why = lastError instanceof Error ? `: ${lastError.message}` : ''
    const servers = this.config.bootstrapServers.map(({ host, port }) => `${host}:${port}`).join(', ')
    const message = `no broker of ${servers} told about the cluster within ${Math.ceil(timeoutMs)} ms${why}. Check bootstrapServers, and that the brokers' advertised.listeners can be reached from here`
    return new MillraceError('TIMED_OUT', message, { retriable: true, cause: lastError })
  }
}

/** Errors of a topic that waiting does not cure. */
function isFinal(code: ErrorCode): boolean {
  return code === ErrorCode.topicAuthorizationFailed || code === ErrorCode.invalidTopicException
}

function tooLate(what: string, timeoutMs: number, last?: MillraceError): MillraceError {
  const why = last === undefined ? '' : `: ${last.message}`
  const facts = {
    retriable: true,
    cause: last,
    errorCode: last?.errorCode,
    outcomeUnknown: last?.outcomeUnknown ?? true,
  }
  return new MillraceError('TIMED_OUT', `${what} was not done within ${Math.ceil(timeoutMs)} ms${why}`, facts)
}

function fromChannel(error: unknown): MillraceError {
  if (!(error instanceof ChannelError)) return toMillraceError(error)
  const facts = { cause: error, outcomeUnknown: !error.wasNotSent }
  switch (error.code) {
    case 'connectFailed':
    case 'wrongNode':
    case 'closed':
      return new MillraceError('CONNECTION_FAILED', error.message, { ...facts, retriable: true })
    case 'timedOut':
    case 'busy':
      return new MillraceError('TIMED_OUT', error.message, { ...facts, retriable: true })
    case 'malformed':
      return new MillraceError('PROTOCOL_BROKEN', error.message, { ...facts, retriable: true })
    case 'unsupportedVersion':
      return new MillraceError('UNSUPPORTED_VERSION', error.message, facts)
    case 'authenticationFailed':
      return new MillraceError('AUTHENTICATION_FAILED', error.message, facts)
  }
}
