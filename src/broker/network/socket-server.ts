import { AssertionFailure } from '../../base/assert.ts'
import type { Clock, Timer } from '../../io/clock.ts'
import type { LogSink } from '../../io/log-sink.ts'
import type { Connection, Endpoint, Listener, Network } from '../../io/network.ts'
import type { ApiHandler } from '../api-handler.ts'
import type { MemoryBudget } from '../memory-budget.ts'
import type { BrokerMetrics } from '../metrics/broker-metrics.ts'
import { AnswerMemory } from './answer-memory.ts'
import { ClientConnection, type ConnectionHost } from './client-connection.ts'
import { ConnectionGate } from './connection-gate.ts'
import { ConnectionRate } from './connection-rate.ts'
import { RateLimitedLog } from './rate-limited-log.ts'
import type { Request } from './request.ts'
import { RequestTurns } from './request-turns.ts'

const sweepMs = 1000

export interface SocketServerOptions {
  readonly clock: Clock
  readonly network: Network
  readonly log: LogSink
  readonly budget: MemoryBudget
  readonly metrics: BrokerMetrics
  readonly apiName: (apiKey: number) => string
  /** `socket.request.max.bytes` */
  readonly maxRequestBytes: number
  /** `connections.max.idle.ms` */
  readonly maxIdleMs: number
  /** `millrace.frame.timeout.ms` */
  readonly frameTimeoutMs: number
  /** `millrace.slow.reader.timeout.ms`: how long answers may wait for a client that does not read them. */
  readonly slowReaderTimeoutMs: number
  /** `max.connections`; it may change. */
  readonly maxConnections: () => number
  /** `listener.name.NAME.max.connections`; it may change. */
  readonly maxConnectionsOfListener: (listenerName: string) => number
  /** `max.connections.per.ip` with its overrides; they may change. */
  readonly maxConnectionsOf: (address: string) => number
  /** What `max.connection.creation.rate` says now: of the broker, undefined where a listener is exempt; of the listener alone. */
  readonly creationRates: (listenerName: string) => { readonly broker: number | undefined; readonly listener: number }
  /** `socket.listen.backlog.size`; the system's own choice when not given. */
  readonly backlog: number | undefined
  /** An invariant is broken. */
  readonly failed: (error: Error) => void
}

/** All listeners of one broker, and the connections that came by them. */
export class SocketServer {
  readonly #options: SocketServerOptions
  readonly #answers: AnswerMemory
  readonly #turns: RequestTurns
  readonly #listeners: { readonly name: string; readonly listener: Listener }[] = []
  readonly #connections = new Set<ClientConnection>()
  /** Those whose clients have ended their side, and have not read all that they were answered. */
  readonly #lingering = new Set<ClientConnection>()
  readonly #creationRate = new ConnectionRate()
  /** By the name of the listener. */
  readonly #gates = new Map<string, ConnectionGate>()
  readonly #byAddress = new Map<string, number>()
  readonly #byListener = new Map<string, number>()
  readonly #refusals: RateLimitedLog
  #sweep: Timer | undefined
  /** By API key. Until they are there, connections are taken and nothing is read from them. */
  #handlers: ReadonlyMap<number, ApiHandler> | undefined
  /** Connections will be looked through for those that do not read. */
  #isShedding = false
  #isClosing = false

  constructor(options: SocketServerOptions) {
    this.#options = options
    this.#answers = new AnswerMemory(options.budget, () => this.#turns.roomAgain())
    this.#turns = new RequestTurns({
      nextTurn: callback => options.clock.nextTurn(callback),
      nowMs: () => options.clock.now().monotonicMs,
      isMemoryShort: () => this.#answers.isShort,
      isMemoryUsedUp: () => this.#answers.isUsedUp,
    })
    this.#refusals = new RateLimitedLog(options.clock, options.log)
  }

  get connectionCount(): number {
    return this.#connections.size
  }

  /** What answers that are not sent keep in memory. */
  get unsentAnswerBytes(): number {
    return this.#answers.heldBytes
  }

  get connections(): Iterable<ClientConnection> {
    return this.#connections
  }

  /** Opens one endpoint of a listener. Rejects with `NetworkError`. */
  async listen(listenerName: string, endpoint: Endpoint): Promise<Endpoint> {
    const host: ConnectionHost = {
      clock: this.#options.clock,
      budget: this.#options.budget,
      listenerName,
      maxRequestBytes: this.#options.maxRequestBytes,
      answers: this.#answers,
      turns: this.#turns,
      connectionCount: () => this.#connections.size,
      served: apiKey => this.#handlers?.get(apiKey),
      handle: request => this.#handlers!.get(request.header.apiKey)!.handle(request),
      handlerFailed: (connection, error) => this.#handlerFailed(connection, error),
      warn: (problem, address, kind) => this.#refusals.warn(problem, address, kind),
      requestEnded: request => this.#requestEnded(request),
      answersOverdrawn: () => this.#answersOverdrawn(),
      connectionEnded: (connection, reason) => this.#connectionEnded(connection, reason),
    }
    const gate = this.#gates.get(listenerName) ?? this.#newGate(listenerName)
    this.#gates.set(listenerName, gate)
    const listener = await this.#options.network.listen(endpoint, {
      accept: connection => this.#accept(connection, host, gate),
      backlog: this.#options.backlog,
    })
    this.#listeners.push({ name: listenerName, listener })
    this.#sweep ??= this.#options.clock.after(sweepMs, () => this.#runSweep())
    return listener.endpoint
  }

  /** Requests are read and answered from now on, also those of connections that came before. */
  serve(handlers: ReadonlyMap<number, ApiHandler>): void {
    this.#handlers = handlers
    for (const connection of this.#connections) if (!this.#isHeld(connection)) connection.start()
  }

  /** Closes the endpoints of one listener again. */
  async stopListening(listenerName: string): Promise<void> {
    const open = this.#listeners.filter(one => one.name === listenerName)
    for (const one of open) this.#listeners.splice(this.#listeners.indexOf(one), 1)
    await Promise.all(open.map(one => one.listener.close()))
  }

  /** No connection is taken and no request is read from now on. */
  async stopAccepting(): Promise<void> {
    this.#isClosing = true
    this.#sweep?.cancel()
    this.#refusals.close()
    for (const gate of this.#gates.values()) gate.close()
    await Promise.all(this.#listeners.splice(0).map(one => one.listener.close()))
  }

  /** Ends every connection, sending first what is answered. */
  closeConnections(lingerMs: number): void {
    for (const connection of this.#connections) connection.close(lingerMs)
  }

  #newGate(listenerName: string): ConnectionGate {
    const { clock, creationRates } = this.#options
    const own = new ConnectionRate()
    return new ConnectionGate({
      clock,
      limits: () => {
        const { broker, listener } = creationRates(listenerName)
        const limits = [{ rate: own, perSecond: listener }]
        return broker === undefined ? limits : [...limits, { rate: this.#creationRate, perSecond: broker }]
      },
      admitted: connection => {
        if (this.#handlers !== undefined) connection.start()
      },
    })
  }

  #isHeld(connection: ClientConnection): boolean {
    return this.#gates.get(connection.listenerName)?.holds(connection) === true
  }

  #accept(connection: Connection, host: ConnectionHost, gate: ConnectionGate): void {
    const { metrics } = this.#options
    const address = connection.remoteAddress
    const reached = this.#limitReached(address, host.listenerName)
    if (this.#isClosing || reached !== undefined) {
      metrics.connectionsRefused++
      if (!this.#isClosing) this.#refusals.warn(`connection refused: ${reached} is reached`, address)
      connection.destroy()
      return
    }
    metrics.connectionsCreated++
    count(this.#byAddress, address, 1)
    count(this.#byListener, host.listenerName, 1)
    const client = new ClientConnection(connection, host)
    this.#connections.add(client)
    if (gate.enter(client)) this.#refusals.warn('connection waits: max.connection.creation.rate is reached', address)
  }

  /** The setting that allows no further connection, if there is one. */
  #limitReached(address: string, listenerName: string): string | undefined {
    const { maxConnections, maxConnectionsOfListener, maxConnectionsOf } = this.#options
    if (this.#connections.size >= maxConnections()) return 'max.connections'
    if ((this.#byListener.get(listenerName) ?? 0) >= maxConnectionsOfListener(listenerName)) {
      return `listener.name.${listenerName.toLowerCase()}.max.connections`
    }
    return (this.#byAddress.get(address) ?? 0) >= maxConnectionsOf(address) ? 'max.connections.per.ip' : undefined
  }

  #connectionEnded(connection: ClientConnection, reason: string | undefined): void {
    if (!this.#connections.delete(connection)) return
    if (connection.unsentBytes > 0) this.#lingering.add(connection)
    this.#options.metrics.connectionsClosed++
    count(this.#byAddress, connection.remoteAddress, -1)
    count(this.#byListener, connection.listenerName, -1)
    if (reason !== undefined && !this.#isClosing)
      this.#refusals.warn(`connection closed: ${reason}`, connection.remoteAddress)
  }

  /** One request that cannot be answered ends its connection; a broken invariant ends the broker. */
  #handlerFailed(connection: ClientConnection, error: unknown): void {
    if (error instanceof AssertionFailure) {
      this.#options.failed(error)
      return
    }
    const text = error instanceof Error ? error.message : String(error)
    const stack = error instanceof Error ? error.stack : undefined
    this.#options.log.write('error', `a request of ${connection.remoteAddress} failed: ${text}`, { error: stack })
    connection.destroy('its request could not be answered')
  }

  #requestEnded(request: Request): number {
    const { apiKey, apiVersion } = request.header
    const nowMs = this.#options.clock.now().monotonicMs
    const totalMs = nowMs - request.receivedAt.monotonicMs
    this.#options.metrics.requestEnded(
      this.#options.apiName(apiKey),
      apiVersion,
      request.errorCode,
      totalMs,
      request.body.length,
      request.answerBytes,
    )
    return nowMs
  }

  /** Soon, and not now: one call is one look through all connections. */
  #answersOverdrawn(): void {
    if (this.#isShedding) return
    this.#isShedding = true
    this.#options.clock.nextTurn(() => {
      this.#isShedding = false
      if (!this.#isClosing && this.#answers.isOverdrawn) this.#shedDeaf(true)
    })
  }

  /**
   * Closes those connections that have read nothing of their answers for longest, until half of what unsent answers hold is
   * given up. Whoever reads, however slowly, is none of them.
   */
  #shedDeaf(isOverdrawn: boolean): void {
    const nowMs = this.#options.clock.now().monotonicMs
    const deaf: { connection: ClientConnection; forMs: number }[] = []
    let excessBytes = this.#answers.heldBytes / 2
    for (const connection of [...this.#connections, ...this.#lingering]) {
      if (connection.isEnding) excessBytes -= connection.unsentBytes
      else if (connection.unsentBytes > 0) {
        const forMs = connection.deafForMs(nowMs, isOverdrawn)
        if (forMs !== undefined) deaf.push({ connection, forMs })
      }
    }
    deaf.sort((a, b) => b.forMs - a.forMs)
    for (const { connection } of deaf) {
      if (excessBytes <= 0) return
      excessBytes -= connection.unsentBytes
      connection.destroy('it does not read its answers while others wait for memory (queued.max.request.bytes)')
    }
  }

  /** Once a second: connections that are idle, that stopped in the middle of a frame, or that do not read. */
  #runSweep(): void {
    const { clock, metrics, budget, maxIdleMs, frameTimeoutMs, slowReaderTimeoutMs } = this.#options
    const nowMs = clock.now().monotonicMs
    const isMemoryShort = budget.waitingCount > 0
    for (const connection of this.#lingering) {
      if (connection.unsentBytes === 0) this.#lingering.delete(connection)
      else connection.stalledForMs(nowMs)
    }
    if (isMemoryShort || (this.#turns.largeWaitingCount > 0 && this.#answers.isShort)) this.#shedDeaf(false)
    this.#answers.lookForRoom()
    budget.giveBackUnused()
    for (const connection of this.#connections) {
      const shedReason = isMemoryShort ? connection.shedReason(nowMs) : undefined
      const quietMs = nowMs - connection.lastActiveMs
      if (connection.stalledForMs(nowMs) > slowReaderTimeoutMs) {
        connection.destroy(
          `it has not read its answers for ${slowReaderTimeoutMs} ms (millrace.slow.reader.timeout.ms)`,
        )
      } else if (shedReason !== undefined) connection.destroy(shedReason)
      else if (connection.isInsideFrame && quietMs > frameTimeoutMs) {
        connection.destroy(`a frame stopped arriving for ${frameTimeoutMs} ms (millrace.frame.timeout.ms)`)
      } else if (quietMs > maxIdleMs && maxIdleMs >= 0 && connection.unansweredCount === 0) {
        metrics.expiredConnectionsKilled++
        if (this.#isHeld(connection))
          this.#gates.get(connection.listenerName)!.drop(connection, 'it has waited too long')
        else connection.close(0)
      }
    }
    this.#sweep = clock.after(sweepMs, () => this.#runSweep())
  }
}

function count(counts: Map<string, number>, key: string, change: number): void {
  const left = (counts.get(key) ?? 0) + change
  if (left === 0) counts.delete(key)
  else counts.set(key, left)
}
