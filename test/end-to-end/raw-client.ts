import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { decode } from '../../src/protocol/codec.ts'
import { decodeResponseHeader, encodeRequest } from '../../src/protocol/frames.ts'
import { Reader } from '../../src/protocol/reader.ts'
import type { Fields, Infer, Input, Message } from '../../src/protocol/schema.ts'
import { Writer } from '../../src/protocol/writer.ts'
import { withPatience } from '../compatibility/patience.ts'

/** A request with the answer that belongs to it. */
export interface Call<Q extends Fields = Fields, A extends Fields = Fields> {
  readonly request: Message<Q>
  readonly response: Message<A>
}

export interface ConnectOptions {
  readonly port: number
  readonly host?: string
  readonly clientId?: string
}

/** How long an answer may take before a test fails. */
const patienceMs = 20_000

interface Expectation {
  readonly answered: (frame: Buffer | undefined) => void
}

/**
 * One connection that speaks the protocol and does nothing on its own: no negotiation, no retries. Every answer must decode
 * to its last byte and carry the id of its request.
 */
export class RawClient implements Disposable {
  readonly socket: Socket
  readonly clientId: string
  /** What has arrived of the next frames, in pieces, and how much of it makes sense to look at. */
  #pieces: Buffer[] = []
  #receivedBytes = 0
  #neededBytes = 4
  readonly #frames: Buffer[] = []
  readonly #waiting: Expectation[] = []
  #lastCorrelationId = 0
  #isClosed = false
  readonly #closed: Promise<void>

  static async connect({ port, host = '127.0.0.1', clientId = 'raw' }: ConnectOptions): Promise<RawClient> {
    const socket = connect({ port, host, noDelay: true })
    await once(socket, 'connect')
    return new RawClient(socket, clientId)
  }

  private constructor(socket: Socket, clientId: string) {
    this.socket = socket
    this.clientId = clientId
    socket.on('data', (bytes: Buffer) => this.#take(bytes))
    socket.on('error', () => {}) // a reset is a way to close; `close` follows
    this.#closed = new Promise(resolve => socket.once('close', () => resolve()))
    socket.once('close', () => {
      this.#isClosed = true
      for (const { answered } of this.#waiting.splice(0)) answered(undefined)
    })
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  /** Whether an answer has arrived that nobody has taken. */
  get hasFrame(): boolean {
    return this.#frames.length > 0
  }

  /** Sends one request and resolves with its answer. Rejects when the connection ends instead. */
  async call<Q extends Fields, A extends Fields>(
    call: Call<Q, A>,
    version: number,
    body: Input<Message<Q>>,
  ): Promise<Infer<Message<A>>> {
    const correlationId = this.send(call.request, version, body)
    return await this.answer(call.response, version, correlationId)
  }

  /** Sends one request and returns its id; for those that are not answered, or later. */
  send<Q extends Fields>(request: Message<Q>, version: number, body: Input<Message<Q>>): number {
    const correlationId = ++this.#lastCorrelationId
    this.socket.write(frameOf(request, { apiVersion: version, correlationId, clientId: this.clientId }, body))
    return correlationId
  }

  /** The next answer on this connection, which must be the one to that request. */
  async answer<A extends Fields>(
    response: Message<A>,
    version: number,
    correlationId: number,
  ): Promise<Infer<Message<A>>> {
    const frame = await this.frame()
    assert.ok(frame, `the connection was closed instead of answering ${response.name} version ${version}`)
    const reader = new Reader(frame)
    assert.equal(decodeResponseHeader(reader, response.key, version), correlationId)
    const body = decode(response, version, reader)
    assert.equal(reader.left, 0, `bytes are left behind ${response.name} version ${version}`)
    return body
  }

  /** The next answer without its length; undefined when the connection ends instead. */
  async frame(): Promise<Buffer | undefined> {
    const ready = this.#frames.shift()
    if (ready !== undefined || this.#isClosed) return ready
    return await withPatience('an answer', new Promise(answered => this.#waiting.push({ answered })), patienceMs)
  }

  /** Resolves when the broker has closed the connection. */
  async closed(): Promise<void> {
    await withPatience('the connection to be closed', this.#closed, patienceMs)
  }

  close(): void {
    this.socket.destroy()
  }

  [Symbol.dispose](): void {
    this.close()
  }

  #take(bytes: Buffer): void {
    this.#pieces.push(bytes)
    this.#receivedBytes += bytes.length
    while (this.#receivedBytes >= this.#neededBytes) {
      const received = this.#pieces.length === 1 ? this.#pieces[0] : Buffer.concat(this.#pieces)
      const end = 4 + received.readInt32BE(0)
      this.#neededBytes = received.length < end ? end : 4
      const rest = received.length < end ? received : received.subarray(end)
      this.#pieces = rest.length === 0 ? [] : [rest]
      this.#receivedBytes = rest.length
      if (received.length < end) return
      const frame = received.subarray(4, end)
      const next = this.#waiting.shift()
      if (next === undefined) this.#frames.push(frame)
      else next.answered(frame)
    }
  }
}

/** A request as it goes over the wire, its length in front. */
export function frameOf<Q extends Fields>(
  request: Message<Q>,
  header: { readonly apiVersion: number; readonly correlationId: number; readonly clientId: string },
  body: Input<Message<Q>>,
): Buffer {
  const writer = new Writer({ chunkBytes: 512, copiesAll: true })
  return encodeRequest(writer, header, request, body).parts[0] as Buffer
}
