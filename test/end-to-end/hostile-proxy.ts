import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { apiMessages } from '../../src/protocol/all-messages.ts'
import { ApiKey } from '../../src/protocol/apis.ts'
import { decodeRequestHeader, encodeResponse } from '../../src/protocol/frames.ts'
import { damage, withSize } from '../../src/protocol/fuzz.ts'
import { randomValue } from '../../src/protocol/random-value.ts'
import { Reader } from '../../src/protocol/reader.ts'
import { Writer } from '../../src/protocol/writer.ts'
import type { SeededRandom } from '../../src/records/seeded-random.ts'

/** Their answers have addresses. Nobody is to be connected to that a flipped bit has named. */
const tellsAddresses: ReadonlySet<number> = new Set([
  ...[ApiKey.produce, ApiKey.fetch, ApiKey.metadata, ApiKey.findCoordinator, ApiKey.describeCluster],
])

/** Stands before a broker and damages a part of its answers. */
export class HostileProxy implements AsyncDisposable {
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  readonly #brokerPort: number
  /** Of the answers; undefined: hands all on as they are. */
  random: SeededRandom | undefined
  damagedCount = 0

  static async start({ port, brokerPort }: { port: number; brokerPort: number }): Promise<HostileProxy> {
    const proxy = new HostileProxy(brokerPort)
    proxy.#server.listen(port, '127.0.0.1')
    await once(proxy.#server, 'listening')
    return proxy
  }

  private constructor(brokerPort: number) {
    this.#brokerPort = brokerPort
    this.#server = createServer(client => this.#accept(client))
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
    const broker = connect({ port: this.#brokerPort, host: '127.0.0.1' })
    const asked = new Map<number, { readonly apiKey: number; readonly apiVersion: number }>()
    for (const [socket, other] of [
      [client, broker],
      [broker, client],
    ] as const) {
      this.#sockets.add(socket)
      socket.on('error', () => {})
      socket.once('close', () => {
        this.#sockets.delete(socket)
        other.destroy()
      })
    }
    eachFrame(client, frame => {
      const { apiKey, apiVersion, correlationId } = decodeRequestHeader(new Reader(frame))
      asked.set(correlationId, { apiKey, apiVersion })
      broker.write(withSize(frame))
    })
    eachFrame(broker, frame => {
      const correlationId = frame.readInt32BE(0)
      const { apiKey, apiVersion } = asked.get(correlationId)!
      if (this.random === undefined || this.random.below(4) > 0) client.write(withSize(frame))
      else client.write(this.#damaged(frame, { apiKey, apiVersion, correlationId }, this.random))
    })
  }

  #damaged(
    frame: Buffer,
    about: { readonly apiKey: number; readonly apiVersion: number; readonly correlationId: number },
    random: SeededRandom,
  ): Buffer {
    this.damagedCount++
    if (!tellsAddresses.has(about.apiKey)) {
      if (random.below(2) === 0) return withSize(damage(frame, random).bytes, random)
      const { response } = apiMessages.find(one => one.request.key === about.apiKey)!
      const value = randomValue(response, about.apiVersion, random)
      const writer = new Writer({ chunkBytes: 1024, copiesAll: true })
      return encodeResponse(writer, about, response, value as never).parts[0] as Buffer
    }
    for (;;) {
      const { bytes, damage: kind } = damage(frame, random)
      if (kind === 'truncated' || kind === 'extended' || kind === 'noise') return withSize(bytes, random)
    }
  }
}

/** Whole frames without their lengths. */
function eachFrame(socket: Socket, take: (frame: Buffer) => void): void {
  let received = Buffer.alloc(0)
  socket.on('data', (bytes: Buffer) => {
    received = Buffer.concat([received, bytes])
    while (received.length >= 4 && received.length >= 4 + received.readInt32BE(0)) {
      const end = 4 + received.readInt32BE(0)
      take(received.subarray(4, end))
      received = received.subarray(end)
    }
  })
}
