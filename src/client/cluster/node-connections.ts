import { Backoff } from '../../base/backoff.ts'
import { type BrokerChannel, connectChannel } from '../../channel/broker-channel.ts'
import { ChannelError } from '../../channel/channel-error.ts'
import type { ChannelOptions } from '../../channel/channel-options.ts'
import type { Endpoint } from '../../io/network.ts'
import { Writer } from '../../protocol/writer.ts'
import type { ClientIo } from '../client-io.ts'
import type { ClientConfig } from '../client-options.ts'
import { closedError, MillraceError } from '../millrace-error.ts'
import { type Closing, sleep, within } from './waiting.ts'

/** Requests of one connection that are on the wire or wait for that; more are refused and tried again. */
const maxInFlight = 10
const maxWaiting = 1000

export interface ConnectionHooks {
  /** undefined: not known yet. */
  readonly clusterId: () => string | undefined
  /** A connection could not be made, or has broken. */
  readonly failed: () => void
  /** At the address of a node is another one. */
  readonly wrongNode: () => void
}

/** One connection to one node, for one purpose, and what became of earlier ones. */
interface Lane {
  readonly endpoint: Endpoint
  channel: BrokerChannel | undefined
  connecting: Promise<BrokerChannel> | undefined
  /** In a row, since the last success. */
  failures: number
  /** What the last of them was. */
  lastFailure: unknown
  retryAtMs: number
}

/**
 * Connections to the nodes of a cluster. A broker works on one request of a connection at a time, so whatever waits there
 * (a fetch for records, a join for other members) has a connection of its own: its *lane*.
 */
export class NodeConnections {
  readonly #io: ClientIo
  readonly #config: ClientConfig
  readonly #backoff: Backoff
  readonly #writer = new Writer()
  readonly #lanes = new Map<string, Lane>()
  readonly #closing: Closing
  readonly #hooks: ConnectionHooks

  constructor(io: ClientIo, config: ClientConfig, closing: Closing, hooks: ConnectionHooks) {
    this.#io = io
    this.#config = config
    this.#backoff = new Backoff(io.random, { firstMs: config.reconnectBackoffMs, maxMs: config.reconnectBackoffMaxMs })
    this.#closing = closing
    this.#hooks = hooks
    closing.onClose(() => this.#closeAll())
  }

  /** Whether a request could be sent at once. */
  isConnected(nodeId: number, lane: string): boolean {
    return this.#lanes.get(keyOf(nodeId, lane))?.channel?.isOpen === true
  }

  /** Whether the last attempt to connect failed. */
  isFailing(nodeId: number, lane: string): boolean {
    return (this.#lanes.get(keyOf(nodeId, lane))?.failures ?? 0) > 0
  }

  /** An open channel; waits for a backoff that is under way, but never longer than `timeoutMs`. */
  async channelTo(nodeId: number, endpoint: Endpoint, laneName: string, timeoutMs: number): Promise<BrokerChannel> {
    if (this.#closing.isClosed) throw closedError('client')
    const key = keyOf(nodeId, laneName)
    let at = this.#lanes.get(key)
    if (at !== undefined && (at.endpoint.host !== endpoint.host || at.endpoint.port !== endpoint.port)) {
      at.channel?.close('the broker has a new address')
      at = undefined
    }
    if (at === undefined) {
      at = {
        ...{ endpoint, channel: undefined, connecting: undefined },
        ...{ failures: 0, lastFailure: undefined, retryAtMs: Number.NEGATIVE_INFINITY },
      }
      this.#lanes.set(key, at)
    }
    if (at.channel?.isOpen) return at.channel
    at.connecting ??= this.#connect(nodeId, key, at)
    const lane = at
    return within(this.#io.clock, timeoutMs, this.#unlessClosed(at.connecting), () => tooLate(nodeId, lane, timeoutMs))
  }

  /** Connecting to a host that says nothing takes its time, but nobody waits for it any more. */
  #unlessClosed<T>(connecting: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const forget = this.#closing.onClose(() => reject(closedError('client')))
      connecting.then(
        channel => {
          forget()
          resolve(channel)
        },
        error => {
          forget()
          reject(error)
        },
      )
    })
  }

  /** Closes one lane of all nodes, for a producer or consumer that has ended. */
  closeLane(lane: string): void {
    for (const [key, { channel }] of [...this.#lanes]) {
      if (!key.endsWith(`/${lane}`)) continue
      channel?.close()
      this.#lanes.delete(key)
    }
  }

  async #connect(nodeId: number, key: string, lane: Lane): Promise<BrokerChannel> {
    const { clock, network } = this.#io
    try {
      const waitMs = lane.retryAtMs - clock.now().monotonicMs
      if (waitMs > 0) await sleep(clock, waitMs, this.#closing)
      if (this.#closing.isClosed) throw closedError('client')
      const channel = await connectChannel({
        clock,
        network,
        writer: this.#writer,
        endpoint: lane.endpoint,
        clientId: this.#config.clientId,
        software: { name: 'millrace', version: softwareVersion },
        connectTimeoutMs: this.#config.connectTimeoutMs,
        requestTimeoutMs: this.#config.requestTimeoutMs,
        maxResponseBytes: this.#config.maxResponseBytes,
        maxInFlight,
        maxWaiting,
        idleMs: this.#config.connectionIdleMs,
        owner: this.#closing,
        ...this.#expect(nodeId),
        closed: () => this.#channelEnded(lane),
      })
      lane.failures = 0
      lane.lastFailure = undefined
      lane.channel = channel
      // The lane may have been closed, or the broker have moved, meanwhile.
      if (this.#closing.isClosed || this.#lanes.get(key) !== lane) channel.close()
      return channel
    } catch (error) {
      if (this.#closing.isClosed) throw closedError('client')
      lane.failures++
      lane.lastFailure = error
      lane.retryAtMs = clock.now().monotonicMs + this.#backoff.delayMs(lane.failures)
      if (error instanceof ChannelError && error.code === 'wrongNode') this.#hooks.wrongNode()
      else this.#hooks.failed()
      throw error
    } finally {
      lane.connecting = undefined
    }
  }

  /** Nobody knows who a bootstrap server is. */
  #expect(nodeId: number): Pick<ChannelOptions, 'expected'> {
    const clusterId = this.#hooks.clusterId()
    return nodeId < 0 || clusterId === undefined ? {} : { expected: { clusterId, nodeId } }
  }

  #channelEnded(lane: Lane): void {
    lane.channel = undefined
    if (!this.#closing.isClosed) this.#hooks.failed()
  }

  #closeAll(): void {
    for (const { channel } of this.#lanes.values()) channel?.close()
    this.#lanes.clear()
  }
}

/** Whoever waits for the next try knows what has become of the last. */
function tooLate(nodeId: number, { endpoint, lastFailure }: Lane, timeoutMs: number): MillraceError {
  // Bootstrap servers have numbers below 0, which nobody else knows of.
  const who = `broker ${nodeId < 0 ? '' : `${nodeId} `}at ${endpoint.host}:${endpoint.port}`
  const before = lastFailure instanceof Error ? `; before that: ${lastFailure.message}` : ''
  const text = `${who} could not be reached within ${Math.ceil(timeoutMs)} ms${before}`
  return new MillraceError('CONNECTION_FAILED', text, { retriable: true, cause: lastFailure })
}

const softwareVersion = '0.1.0'

function keyOf(nodeId: number, lane: string): string {
  return `${nodeId}/${lane}`
}
