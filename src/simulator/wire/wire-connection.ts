import type { Clock } from '../../io/clock.ts'
import type { Connection, Endpoint, Network, Receiver } from '../../io/network.ts'
import { ApiKey } from '../../protocol/apis.ts'
import { decode } from '../../protocol/codec.ts'
import {
  decodeApiVersionsResponse,
  decodeResponseHeader,
  encodeRequest,
  peekCorrelationId,
} from '../../protocol/frames.ts'
import { Reader } from '../../protocol/reader.ts'
import type { Fields, Infer, Input, Message } from '../../protocol/schema.ts'
import { Writer } from '../../protocol/writer.ts'

/** Both messages of an API. */
export interface Api<Q extends Fields, R extends Fields> {
  readonly request: Message<Q>
  readonly response: Message<R>
}

/** How an exchange ended that brought no answer. Whether the broker has carried it out is unknown. */
export type Lost = { readonly type: 'lost'; readonly reason: string }
export type Answered<R> = { readonly type: 'answered'; readonly version: number; readonly answer: R }

interface Pending {
  readonly correlationId: number
  readonly message: Message
  readonly response: Message
  readonly version: number
  readonly settle: (result: Answered<unknown> | Lost) => void
  readonly timer: { cancel(): void } | undefined
}

/** Told of what no broker may do. */
export type Complain = (text: string) => void

/**
 * A bare connection to a broker: frames out, frames in, and a complaint when they are not the answers, in their order
 * (I58). Knows nothing of retries, leaders or sessions.
 */
export class WireConnection implements Receiver {
  readonly #connection: Connection
  readonly #clock: Clock
  readonly #complain: Complain
  readonly #writer = new Writer()
  readonly #clientId: string
  #pending: Pending[] = []
  #bytes: Buffer = Buffer.alloc(0)
  #correlationId: number
  #isOpen = true

  private constructor(connection: Connection, clock: Clock, options: WireOptions) {
    this.#connection = connection
    this.#clock = clock
    this.#complain = options.complain
    this.#clientId = options.clientId
    this.#correlationId = options.firstCorrelationId
    connection.start(this)
  }

  /** Rejects with `NetworkError`. */
  static async open(io: { network: Network; clock: Clock }, options: WireOptions): Promise<WireConnection> {
    const connection = await io.network.connect(options.endpoint, { timeoutMs: options.connectTimeoutMs })
    return new WireConnection(connection, io.clock, options)
  }

  get isOpen(): boolean {
    return this.#isOpen
  }

  get unansweredCount(): number {
    return this.#pending.length
  }

  /** Never rejects. After a timeout the connection is closed: answers come in order, so no later one could be told apart. */
  request<Q extends Fields, R extends Fields>(
    api: Api<Q, R>,
    version: number,
    body: Input<Message<Q>>,
    options: { readonly timeoutMs: number; readonly expectsAnswer?: boolean },
  ): Promise<Answered<Infer<Message<R>>> | Lost> {
    return new Promise(resolve => {
      if (!this.#isOpen) {
        resolve({ type: 'lost', reason: 'the connection is closed' })
        return
      }
      this.#correlationId = (this.#correlationId + 1) & 0x7fff_ffff
      const correlationId = this.#correlationId
      const header = { apiVersion: version, correlationId, clientId: this.#clientId }
      const { parts } = encodeRequest(this.#writer, header, api.request, body)
      const expectsAnswer = options.expectsAnswer !== false
      const settle = resolve as Pending['settle']
      if (expectsAnswer) {
        const timer = this.#clock.after(options.timeoutMs, () => this.close('no answer in time'))
        const { request: message, response } = api as unknown as Api<Fields, Fields>
        this.#pending.push({ correlationId, message, response, version, settle, timer })
      }
      this.#connection.send(parts as Buffer[], error => {
        if (expectsAnswer) return
        settle(
          error === undefined
            ? { type: 'answered', version, answer: undefined }
            : { type: 'lost', reason: error.message },
        )
      })
    })
  }

  close(reason: string): void {
    if (!this.#isOpen) return
    this.#connection.destroy()
    this.#end(reason)
  }

  target(): Buffer | undefined {
    return undefined
  }

  received(bytes: Buffer): void {
    if (!this.#isOpen) return
    this.#bytes = Buffer.concat([this.#bytes, bytes])
    while (this.#isOpen && this.#bytes.length >= 4) {
      const length = this.#bytes.readInt32BE()
      if (this.#bytes.length < 4 + length) return
      const frame = Buffer.from(this.#bytes.subarray(4, 4 + length))
      this.#bytes = this.#bytes.subarray(4 + length)
      this.#frame(frame)
    }
  }

  closed(error: Error | undefined): void {
    this.#end(error?.message ?? 'the broker closed the connection')
  }

  #frame(frame: Buffer): void {
    const pending = this.#pending.shift()
    const correlationId = peekCorrelationId(frame)
    if (pending === undefined || correlationId !== pending.correlationId) {
      const expected = pending === undefined ? 'none' : `${pending.correlationId} (${pending.message.name})`
      this.#complain(`an answer with correlation id ${correlationId} where ${expected} was due`)
      this.close('answers out of order')
      pending?.settle({ type: 'lost', reason: 'answers out of order' })
      return
    }
    pending.timer?.cancel()
    pending.settle(this.#decode(pending, frame))
  }

  #decode({ message, response, version }: Pending, frame: Buffer): Answered<unknown> | Lost {
    try {
      const reader = new Reader(frame)
      decodeResponseHeader(reader, message.key, version)
      const isVersions = message.key === ApiKey.apiVersions
      const answer = isVersions ? decodeApiVersionsResponse(reader, version) : decode(response, version, reader)
      if (reader.position !== reader.end) throw new Error(`${reader.end - reader.position} bytes are left over`)
      return { type: 'answered', version, answer }
    } catch (error) {
      this.#complain(`an answer to ${message.name} version ${version} that cannot be read: ${String(error)}`)
      this.close('unreadable answer')
      return { type: 'lost', reason: 'unreadable answer' }
    }
  }

  #end(reason: string): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    for (const pending of this.#pending.splice(0)) {
      pending.timer?.cancel()
      pending.settle({ type: 'lost', reason })
    }
  }
}

export interface WireOptions {
  readonly endpoint: Endpoint
  readonly connectTimeoutMs: number
  readonly clientId: string
  readonly firstCorrelationId: number
  readonly complain: Complain
}
