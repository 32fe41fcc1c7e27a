import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { decodeRequestHeader, type RequestHeader } from '../src/protocol/frames.ts'
import { Reader } from '../src/protocol/reader.ts'

/** A request that goes by. */
export interface ProxiedRequest {
  readonly header: RequestHeader
  /** Counts the connections. */
  readonly connection: number
}

export interface FrameProxyOptions {
  readonly port: number
  /** Of the broker, as it is when a client connects. */
  readonly brokerPort: () => number
  readonly asked?: (request: ProxiedRequest, body: Buffer) => void
  /** What the client gets for an answer, lengths included; undefined: the connection is lost, and the answer with it. */
  readonly answered: (request: ProxiedRequest, frame: Buffer) => Buffer | undefined
}

/** Stands between clients and a broker that advertises this port, and sees frame by frame what goes by. */
export class FrameProxy implements AsyncDisposable {
  readonly #options: FrameProxyOptions
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  #connections = 0

  static async start(options: FrameProxyOptions): Promise<FrameProxy> {
    const proxy = new FrameProxy(options)
    proxy.#server.listen(options.port, '127.0.0.1')
    await once(proxy.#server, 'listening')
    return proxy
  }

  private constructor(options: FrameProxyOptions) {
    this.#options = options
    this.#server = createServer({ noDelay: true }, client => this.#accept(client))
  }

  /** Ends the connections that there are. */
  reset(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.reset()
    this.#server.close()
    await once(this.#server, 'close')
  }

  #accept(client: Socket): void {
    const { brokerPort, asked, answered } = this.#options
    const broker = connect({ port: brokerPort(), host: '127.0.0.1', noDelay: true })
    const connection = ++this.#connections
    const unanswered = new Map<number, ProxiedRequest>()
    this.#join(client, broker)
    this.#join(broker, client)
    eachFrame(client, frame => {
      const reader = new Reader(frame.subarray(4))
      const request = { header: decodeRequestHeader(reader), connection }
      unanswered.set(request.header.correlationId, request)
      asked?.(request, frame.subarray(4 + reader.position))
      broker.write(frame)
    })
    eachFrame(broker, frame => {
      const correlationId = frame.readInt32BE(4)
      const request = unanswered.get(correlationId)!
      unanswered.delete(correlationId)
      const answer = answered(request, frame)
      if (answer !== undefined) client.write(answer)
      else for (const socket of [client, broker]) socket.destroy()
    })
  }

  /** What is written to `other` before this one ends still arrives. */
  #join(socket: Socket, other: Socket): void {
    this.#sockets.add(socket)
    socket.on('error', () => {})
    socket.once('close', () => {
      this.#sockets.delete(socket)
      other.end()
    })
  }
}

/** Whole frames, their lengths in front. */
function eachFrame(socket: Socket, take: (frame: Buffer) => void): void {
  let received = Buffer.alloc(0)
  socket.on('data', (bytes: Buffer) => {
    received = Buffer.concat([received, bytes])
    while (received.length >= 4 && received.length >= 4 + received.readInt32BE(0)) {
      const end = 4 + received.readInt32BE(0)
      take(received.subarray(0, end))
      received = received.subarray(end)
    }
  })
}
