import { assert } from '../base/assert.ts'
import type { Timer } from '../io/clock.ts'
import type { Connection, Endpoint, Receiver } from '../io/network.ts'
import { type ApiKey, apiOf } from '../protocol/apis.ts'
import { decode } from '../protocol/codec.ts'
import {
  decodeApiVersionsResponse,
  decodeResponseHeader,
  encodeRequest,
  peekCorrelationId,
} from '../protocol/frames.ts'
import { type ApiVersionsResponse, apiVersionsRequest } from '../protocol/messages/api-versions.ts'
import { ProtocolError } from '../protocol/protocol-error.ts'
import { Reader } from '../protocol/reader.ts'
import type { Fields, Infer, Input, Message } from '../protocol/schema.ts'
import type { Written } from '../protocol/writer.ts'
import { ChannelError } from './channel-error.ts'
import type { Api, Body, ChannelOptions, Requester, RequestOptions } from './channel-options.ts'
import { type FrameError, FrameReader } from './frame-reader.ts'
import { heapFrameMemory } from './heap-frame-memory.ts'
import { highestCommonVersion, Negotiation, type NegotiationStep, type VersionRanges } from './negotiation.ts'
import { type QueuedRequest, RequestQueue } from './request-queue.ts'

interface ChannelRequest extends QueuedRequest {
  readonly name: string
  readonly apiKey: ApiKey
  readonly version: number
  readonly written: Written
  readonly decode: (reader: Reader) => unknown
  readonly resolve: (answer: unknown) => void
  readonly reject: (error: ChannelError) => void
  /** Its bytes are ours again. Until then the request must not end, or the caller might change them. */
  bytesAreFree: boolean
  /** What it will end with once its bytes are free. */
  outcome: { readonly answer: unknown } | ChannelError | undefined
}

const maxCorrelationId = 0x7fff_ffff

/**
 * Connects to a broker, agrees on versions, authenticates. Rejects with a `ChannelError` when that fails or takes longer
 * than `connectTimeoutMs`; when to try again is the caller's matter.
 */
export async function connectChannel(options: ChannelOptions): Promise<BrokerChannel> {
  const { clock, network, endpoint, connectTimeoutMs } = options
  const deadlineMs = clock.now().monotonicMs + connectTimeoutMs
  const negotiation = new Negotiation()
  for (;;) {
    const leftMs = () => Math.max(1, deadlineMs - clock.now().monotonicMs)
    let connection: Connection
    try {
      if (options.owner?.isClosed) throw new Error('nobody wants the connection any more')
      connection = await network.connect(endpoint, { timeoutMs: leftMs() })
    } catch (error) {
      throw new ChannelError('connectFailed', `cannot ${connectText(endpoint, error)}`, error)
    }
    const channel = new BrokerChannel(connection, options)
    const forget = options.owner?.onClose(() => channel.close())
    try {
      if ((await channel.negotiate(negotiation, leftMs)) === 'reconnect') continue
      await channel.authenticate(leftMs)
    } finally {
      forget?.()
    }
    return channel
  }
}

/**
 * One connection to a broker: requests out, answers in, in the same order. It is made by `connectChannel`, and ends with
 * the first thing that goes wrong; all requests then end with a `ChannelError`, and a new channel is needed.
 */
export class BrokerChannel implements Receiver, Requester {
  readonly endpoint: Endpoint
  readonly #options: ChannelOptions
  readonly #connection: Connection
  readonly #reader: FrameReader
  readonly #queue: RequestQueue<ChannelRequest>
  #phase: 'negotiating' | 'authenticating' | 'ready' | 'closed' = 'negotiating'
  #ranges: VersionRanges = new Map()
  #apiVersions: ApiVersionsResponse | undefined
  #correlationId = 0
  #lastActiveMs: number
  /** The broker has asked to be left in peace until then. */
  #throttledUntilMs = Number.NEGATIVE_INFINITY
  #timer: Timer | undefined
  #timerMs = Number.POSITIVE_INFINITY
  #error: ChannelError | undefined

  constructor(connection: Connection, options: ChannelOptions) {
    this.endpoint = options.endpoint
    this.#options = options
    this.#connection = connection
    this.#queue = new RequestQueue(options)
    this.#lastActiveMs = this.#nowMs()
    this.#reader = new FrameReader({
      maxFrameBytes: options.maxResponseBytes,
      memory: heapFrameMemory,
      frame: () => this.#frame(),
      failed: (error, length) => this.#fail('malformed', frameFault(error, length, options.maxResponseBytes)),
      pause: () => connection.pause(),
      resume: () => connection.resume(),
    })
    connection.start(this)
  }

  get isOpen(): boolean {
    return this.#phase !== 'closed'
  }

  /** Requests that were sent and are not answered, and those that wait to be sent. */
  get unansweredCount(): number {
    return this.#queue.inFlightCount + this.#queue.waitingCount
  }

  /** What the broker said of itself: its version ranges and features. */
  get apiVersions(): ApiVersionsResponse {
    assert(this.#apiVersions !== undefined, 'a channel is handed out once versions are agreed on')
    return this.#apiVersions
  }

  /** The version in which this API would be spoken; undefined when there is none in common. */
  versionOf(apiKey: ApiKey, maxVersion?: number): number | undefined {
    return highestCommonVersion(this.#ranges, apiKey, maxVersion)
  }

  /**
   * Sends a request in the highest version that both ends speak. Resolves with the answer, whatever error code is in it;
   * rejects with a `ChannelError`. Bytes in the body must not change until then. Buffers in the answer are the caller's.
   */
  request<Q extends Fields, R extends Fields>(
    api: Api<Q, R>,
    body: Body<Q>,
    options: RequestOptions = {},
  ): Promise<Infer<Message<R>>> {
    const { key } = api.request
    const name = apiOf(key)?.name ?? `API ${key}`
    const version = this.versionOf(key, options.maxVersion)
    if (this.#error !== undefined) return Promise.reject(new ChannelError('closed', this.#error.message, this.#error))
    if (version === undefined) return Promise.reject(this.#noCommonVersion(name, key, options.maxVersion))
    const value = typeof body === 'function' ? body(version) : body
    const { response } = api
    return this.#exchange(api.request, version, value, reader => decode(response, version, reader), options) as Promise<
      Infer<Message<R>>
    >
  }

  /** Ends the channel; requests that are not answered end with `closed`. */
  close(reason = 'the client closed the connection'): void {
    this.#end(new ChannelError('closed', reason))
  }

  /** Only for `connectChannel`. */
  async negotiate(negotiation: Negotiation, leftMs: () => number): Promise<'agreed' | 'reconnect'> {
    let step: NegotiationStep = negotiation.start()
    while (step.type === 'ask') {
      const { version } = step
      const { software, expected } = this.#options
      const body = { clientSoftwareName: software.name, clientSoftwareVersion: software.version, ...expected }
      try {
        const read = (reader: Reader) => decodeApiVersionsResponse(reader, version)
        const options = { timeoutMs: leftMs() }
        const answer = await this.#exchange(apiVersionsRequest, version, body, read, options)
        step = negotiation.answered(answer as ApiVersionsResponse)
      } catch (error) {
        if (!(error instanceof ChannelError) || error.code !== 'closed') throw error
        step = negotiation.closed()
        if (step.type === 'failed') throw error
      }
    }
    if (step.type === 'reconnect') return 'reconnect'
    if (step.type === 'failed') throw this.#fail('malformed', step.reason)
    if (step.type === 'wrongNode') {
      const { nodeId, clusterId } = this.#options.expected ?? { nodeId: -1, clusterId: '?' }
      throw this.#fail('wrongNode', `this is not broker ${nodeId} of cluster ${clusterId} (any more)`)
    }
    this.#ranges = step.ranges
    this.#apiVersions = step.answer
    return 'agreed'
  }

  /** Only for `connectChannel`. */
  async authenticate(leftMs: () => number): Promise<void> {
    const { authenticate, clock } = this.#options
    if (authenticate !== undefined) {
      this.#phase = 'authenticating'
      const timer = clock.after(leftMs(), () => this.#fail('timedOut', 'authentication took too long'))
      try {
        await authenticate(this)
      } catch (error) {
        throw this.#fail('authenticationFailed', textOf(error), error)
      } finally {
        timer.cancel()
      }
    }
    if (this.#error !== undefined) throw this.#error
    this.#phase = 'ready'
  }

  target(): Buffer | undefined {
    return this.#reader.target()
  }

  received(bytes: Buffer): void {
    if (this.#phase === 'closed') return
    this.#lastActiveMs = this.#nowMs()
    this.#reader.received(bytes)
  }

  closed(error: Error | undefined): void {
    const why = error === undefined ? 'the broker closed the connection' : `the connection broke: ${error.message}`
    this.#end(new ChannelError('closed', `${this.#where()}: ${why}`, error))
  }

  #exchange<Q extends Fields>(
    message: Message<Q>,
    version: number,
    value: Input<Message<Q>>,
    read: (reader: Reader) => unknown,
    options: RequestOptions,
  ): Promise<unknown> {
    const name = message.name.replace(/Request$/, '')
    const correlationId = this.#nextCorrelationId()
    let written: Written
    try {
      const header = { apiVersion: version, correlationId, clientId: this.#options.clientId }
      written = encodeRequest(this.#options.writer, header, message, value)
    } catch (error) {
      this.#options.writer.abandon()
      if (!(error instanceof ProtocolError)) throw error
      const text = `${name} version ${version}, the highest that the broker speaks, cannot say this: ${error.message}`
      return Promise.reject(new ChannelError('unsupportedVersion', text, error))
    }
    return new Promise((resolve, reject) => {
      const request: ChannelRequest = {
        correlationId,
        deadlineMs: this.#nowMs() + (options.timeoutMs ?? this.#options.requestTimeoutMs),
        expectsAnswer: options.expectsAnswer !== false,
        name,
        apiKey: message.key,
        version,
        written,
        decode: read,
        resolve,
        reject,
        bytesAreFree: false,
        outcome: undefined,
      }
      if (!this.#queue.add(request)) {
        reject(new ChannelError('busy', `${this.#where()}: too many requests wait to be sent`))
        return
      }
      this.#sendWaiting()
      this.#armTimer()
    })
  }

  #nextCorrelationId(): number {
    this.#correlationId = this.#correlationId === maxCorrelationId ? 0 : this.#correlationId + 1
    return this.#correlationId
  }

  #sendWaiting(): void {
    if (this.#phase === 'closed' || this.#nowMs() < this.#throttledUntilMs) return
    for (let request = this.#queue.takeNext(); request !== undefined; request = this.#queue.takeNext()) {
      const sent = request
      this.#lastActiveMs = this.#nowMs()
      this.#connection.send(sent.written.parts as Buffer[], error => this.#sent(sent, error))
    }
  }

  #sent(request: ChannelRequest, error: Error | undefined): void {
    request.bytesAreFree = true
    if (!request.expectsAnswer) {
      const why = `${this.#where()}: the connection broke before ${request.name} had left`
      request.outcome ??= error === undefined ? { answer: undefined } : new ChannelError('closed', why, error)
    }
    settle(request)
  }

  #frame(): 'taken' {
    const { bytes } = this.#reader.keep()
    const correlationId = peekCorrelationId(bytes)
    const request = correlationId === undefined ? undefined : this.#queue.answered(correlationId)
    if (request === undefined) {
      const what = correlationId === undefined ? 'an answer without a correlation id' : `answer ${correlationId}`
      this.#fail('malformed', `it sent ${what} out of turn: is something between here and the broker mixing streams?`)
      return 'taken'
    }
    try {
      const reader = new Reader(bytes)
      decodeResponseHeader(reader, request.apiKey, request.version)
      const answer = request.decode(reader)
      this.#noteThrottle(answer as { throttleTimeMs?: number })
      request.outcome = { answer }
      settle(request)
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error
      const why = `its answer to ${request.name} version ${request.version} cannot be read: ${error.message}`
      request.outcome = this.#fail('malformed', why, error)
      settle(request)
    }
    this.#sendWaiting()
    return 'taken'
  }

  #noteThrottle({ throttleTimeMs }: { throttleTimeMs?: number }): void {
    if (throttleTimeMs === undefined || throttleTimeMs <= 0) return
    this.#throttledUntilMs = this.#nowMs() + throttleTimeMs
    this.#armTimer()
  }

  /** One timer for all that waits: it is set for the earliest, and looks for the next when it goes off. */
  #armTimer(): void {
    if (this.#phase === 'closed') return
    const nowMs = this.#nowMs()
    const idleAtMs = this.#queue.isEmpty ? this.#lastActiveMs + this.#options.idleMs : Number.POSITIVE_INFINITY
    const unthrottledMs = this.#throttledUntilMs > nowMs ? this.#throttledUntilMs : Number.POSITIVE_INFINITY
    const nextMs = Math.min(this.#queue.nextDeadlineMs(), idleAtMs, unthrottledMs)
    if (this.#timerMs <= nextMs) return
    this.#timer?.cancel()
    this.#timerMs = nextMs
    this.#timer = this.#options.clock.after(nextMs - nowMs, () => this.#timerWentOff())
  }

  #timerWentOff(): void {
    this.#timer = undefined
    this.#timerMs = Number.POSITIVE_INFINITY
    const nowMs = this.#nowMs()
    for (const { name, reject } of this.#queue.expireWaiting(nowMs)) {
      reject(new ChannelError('busy', `${this.#where()}: ${name} waited too long for earlier requests`))
    }
    const overdue = this.#queue.overdue(nowMs)
    if (overdue !== undefined) {
      this.#fail('timedOut', `no answer to ${overdue.name} in time`)
      return
    }
    if (this.#queue.isEmpty && nowMs >= this.#lastActiveMs + this.#options.idleMs) {
      this.close(`${this.#where()}: the connection was idle`)
      return
    }
    this.#sendWaiting()
    this.#armTimer()
  }

  #fail(
    code: 'malformed' | 'timedOut' | 'authenticationFailed' | 'wrongNode',
    problem: string,
    cause?: unknown,
  ): ChannelError {
    const error = new ChannelError(code, `${this.#where()}: ${problem}`, cause)
    this.#end(error)
    return error
  }

  #end(error: ChannelError): void {
    if (this.#phase === 'closed') return
    const wasReady = this.#phase === 'ready'
    this.#phase = 'closed'
    this.#error = error
    this.#timer?.cancel()
    this.#reader.end()
    this.#connection.destroy()
    const { sent, unsent } = this.#queue.takeAll()
    for (const request of sent) {
      request.outcome ??= error
      settle(request)
    }
    for (const request of unsent) request.reject(new ChannelError('connectFailed', error.message, error))
    if (wasReady) this.#options.closed?.(error)
  }

  #noCommonVersion(name: string, key: ApiKey, maxVersion: number | undefined): ChannelError {
    const theirs = this.#ranges.get(key)
    const api = apiOf(key)
    const ours = `this client speaks versions ${api?.minVersion} to ${Math.min(api?.maxVersion ?? -1, maxVersion ?? 99)}`
    const what = theirs === undefined ? 'does not serve it' : `serves ${theirs.minVersion} to ${theirs.maxVersion}`
    return new ChannelError(
      'unsupportedVersion',
      `${this.#where()}: no version of ${name}: the broker ${what}, ${ours}`,
    )
  }

  #where(): string {
    return nameOf(this.endpoint)
  }

  #nowMs(): number {
    return this.#options.clock.now().monotonicMs
  }
}

/** Ends a request that has its outcome and whose bytes are no longer in use. */
function settle(request: ChannelRequest): void {
  const { outcome } = request
  if (outcome === undefined || !request.bytesAreFree) return
  if (outcome instanceof ChannelError) request.reject(outcome)
  else request.resolve(outcome.answer)
}

function frameFault(error: FrameError, length: number, maxBytes: number): string {
  if (error === 'negativeLength') return `it sent a frame of negative length ${length}: is this a Kafka listener?`
  return `it sent a frame of ${length} bytes, more than ${maxBytes}: is this a Kafka listener, and without TLS?`
}

function nameOf({ host, port }: Endpoint): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
}

/** Networks begin their texts with where it was that they could not connect to. */
function connectText(endpoint: Endpoint, error: unknown): string {
  const where = `connect to ${nameOf(endpoint)}: `
  const text = textOf(error)
  return text.startsWith(where) ? text : `${where}${text}`
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
