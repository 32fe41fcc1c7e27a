import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { decodeRequestHeader } from '../../src/protocol/frames.ts'
import { Reader } from '../../src/protocol/reader.ts'
import { freePorts } from './free-port.ts'

/** One request that went by. Times are of `performance.now()`. */
export interface Call {
  /** Counts the connections. */
  readonly connection: number
  readonly apiKey: number
  readonly apiVersion: number
  readonly clientId: string
  readonly body: Buffer
  readonly sentAt: number
  answeredAt: number | undefined
}

/** Stands between clients and a broker that advertises the tap's port: hands everything on and remembers the requests. */
export class Tap implements AsyncDisposable {
  readonly port: number
  /** Of the broker. */
  targetPort = 0
  readonly calls: Call[] = []
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  #connections = 0
  #dropping: { readonly apiKey: number; readonly dropped: () => void } | undefined

  static async open(): Promise<Tap> {
    const [port] = await freePorts(1)
    const tap = new Tap(port!)
    tap.#server.listen(tap.port, '127.0.0.1')
    await once(tap.#server, 'listening')
    return tap
  }

  private constructor(port: number) {
    this.port = port
    this.#server = createServer(client => this.#accept(client))
  }

  get bootstrap(): string {
    return `127.0.0.1:${this.port}`
  }

  /** The next answer to such a request is lost, and the connection with it. Resolves when that has happened. */
  dropNextAnswer(apiKey: number): Promise<void> {
    return new Promise(dropped => {
      this.#dropping = { apiKey, dropped }
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    this.#server.close()
    await once(this.#server, 'close')
  }

  #accept(client: Socket): void {
    const broker = connect({ port: this.targetPort, host: '127.0.0.1', noDelay: true })
    client.setNoDelay(true)
    const connection = ++this.#connections
    const unanswered = new Map<number, Call>()
    for (const [socket, other] of [
      [client, broker],
      [broker, client],
    ] as const) {
      this.#sockets.add(socket)
      socket.on('error', () => {})
      socket.once('close', () => {
        this.#sockets.delete(socket)
        other.end()
      })
    }
    eachFrame(client, frame => {
      const reader = new Reader(frame.subarray(4))
      const { apiKey, apiVersion, correlationId, clientId } = decodeRequestHeader(reader)
      const body = Buffer.from(frame.subarray(4 + reader.position))
      const call: Call = {
        ...{ connection, apiKey, apiVersion, clientId: clientId ?? '', body },
        ...{ sentAt: performance.now(), answeredAt: undefined },
      }
      this.calls.push(call)
      unanswered.set(correlationId, call)
      broker.write(frame)
    })
    eachFrame(broker, frame => {
      const call = unanswered.get(frame.readInt32BE(4))
      if (call !== undefined) call.answeredAt = performance.now()
      unanswered.delete(frame.readInt32BE(4))
      if (this.#dropping !== undefined && call?.apiKey === this.#dropping.apiKey) {
        this.#dropping.dropped()
        this.#dropping = undefined
        client.destroy()
        broker.destroy()
      } else client.write(frame)
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
