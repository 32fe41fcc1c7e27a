import dns from 'node:dns'
import net from 'node:net'
import type { LogSink } from '../log-sink.ts'
import type { ListenOptions, Network } from '../network.ts'
import { type Connection, type ConnectOptions, type Endpoint, type Listener, NetworkError } from '../network.ts'
import { toNetworkError } from './network-errors.ts'
import { type ConnectionShared, NodeConnection, SocketReader } from './node-connection.ts'
import { takeHandle } from './socket-handle.ts'

/** Connections that may wait to be accepted: those of a whole fleet that comes back at once. */
const BACKLOG = 1024
/** After this long without a word the kernel asks the peer whether it is still there. */
const KEEP_ALIVE_MS = 60_000

export class NodeNetwork implements Network {
  readonly #shared: ConnectionShared
  readonly #log: LogSink
  #refusals = 0
  #nextReportMs = 0

  constructor(shared: ConnectionShared, log: LogSink) {
    this.#shared = shared
    this.#log = log
  }

  listen(endpoint: Endpoint, options: ListenOptions): Promise<Listener> {
    const socketOptions = { noDelay: true, keepAlive: true, keepAliveInitialDelay: KEEP_ALIVE_MS }
    const server = net.createServer({ ...socketOptions, pauseOnConnect: true, allowHalfOpen: true })
    server.on('connection', socket => this.#shared.turns.call(() => options.accept(this.#accepted(socket))))
    const where = `listen on ${endpoint.host}:${endpoint.port}`
    return new Promise((resolve, reject) => {
      server.once('error', error => reject(toNetworkError(error, where)))
      server.listen(
        { host: endpoint.host, port: endpoint.port, backlog: options.backlog ?? BACKLOG, exclusive: true },
        () => {
          server.removeAllListeners('error')
          server.on('error', error => this.#reportRefusal(error))
          resolve(this.#listener(server, endpoint))
        },
      )
    })
  }

  async connect(endpoint: Endpoint, options: ConnectOptions): Promise<Connection> {
    const deadlineMs = performance.now() + options.timeoutMs
    const where = `connect to ${endpoint.host}:${endpoint.port}`
    let failure = new NetworkError('timedOut', `${where}: no answer within ${options.timeoutMs} ms`)
    const addresses = await this.#resolve(endpoint.host, options.timeoutMs, where)
    for (const [index, address] of addresses.entries()) {
      // Each address may take its share of what is left, the last one all of it.
      const shareMs = (deadlineMs - performance.now()) / (addresses.length - index)
      if (shareMs <= 0) break
      const outcome = await this.#connectTo(address, endpoint.port, shareMs, where)
      if (!(outcome instanceof NetworkError)) return outcome
      failure = outcome
    }
    throw failure
  }

  #accepted(socket: net.Socket): NodeConnection {
    const reader = new SocketReader(this.#shared)
    const handle = reader.onread === undefined ? undefined : takeHandle(socket)
    if (handle === undefined) {
      const plain = new SocketReader({ ...this.#shared, readIntoBuffers: false })
      plain.listen(socket)
      socket.pause()
      return new NodeConnection(socket, plain, this.#shared)
    }
    const own = {
      handle,
      onread: reader.onread,
      pauseOnCreate: true,
      allowHalfOpen: true,
      readable: true,
      writable: true,
    }
    return new NodeConnection(new net.Socket(own as object), reader, this.#shared)
  }

  /** Counted, and named once a second: it comes in floods (too many open files). */
  #reportRefusal(error: Error): void {
    this.#refusals++
    const nowMs = performance.now()
    if (nowMs < this.#nextReportMs) return
    this.#nextReportMs = nowMs + 1000
    this.#log.write('error', `connections could not be accepted: ${error.message}`, { refused: this.#refusals })
    this.#refusals = 0
  }

  #listener(server: net.Server, asked: Endpoint): Listener {
    const bound = server.address() as net.AddressInfo
    return {
      endpoint: { host: asked.host, port: bound.port },
      close: () =>
        new Promise(resolve => {
          // The port is free at once; Node would wait for the connections, which stay.
          server.close()
          this.#shared.turns.next(resolve)
        }),
    }
  }

  async #resolve(host: string, timeoutMs: number, where: string): Promise<string[]> {
    if (net.isIP(host) !== 0) return [host]
    return new Promise((resolve, reject) => {
      const tooLate = () => reject(new NetworkError('timedOut', `${where}: the name was not resolved in time`))
      const timer = setTimeout(tooLate, Math.max(1, timeoutMs))
      dns.lookup(host, { all: true }, (error, addresses) => {
        clearTimeout(timer)
        if (error) reject(toNetworkError(error, where))
        else resolve(addresses.map(({ address }) => address))
      })
    })
  }

  #connectTo(address: string, port: number, timeoutMs: number, where: string): Promise<NodeConnection | NetworkError> {
    const reader = new SocketReader(this.#shared)
    const socket = new net.Socket({ onread: reader.onread, allowHalfOpen: true })
    reader.listen(socket)
    socket.pause()
    return new Promise(resolve => {
      const fail = (error: Error) => {
        clearTimeout(timer)
        socket.destroy()
        resolve(toNetworkError(error, where))
      }
      const tooLate = new NetworkError(
        'timedOut',
        `${where}: no answer from ${address} within ${Math.ceil(timeoutMs)} ms`,
      )
      const timer = setTimeout(() => fail(tooLate), timeoutMs)
      socket.once('error', fail)
      socket.connect({ host: address, port }, () => {
        clearTimeout(timer)
        socket.setNoDelay(true)
        socket.setKeepAlive(true, KEEP_ALIVE_MS)
        const connection = new NodeConnection(socket, reader, this.#shared)
        socket.off('error', fail)
        resolve(connection)
      })
    })
  }
}
