import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ErrorCode } from '../base/error-code.ts'
import type { Io } from '../io/io.ts'
import type { Connection } from '../io/network.ts'
import { ApiKey, apis } from '../protocol/apis.ts'
import { decodeRequestHeader, encodeResponse, type RequestHeader } from '../protocol/frames.ts'
import { apiVersionsResponse } from '../protocol/messages/api-versions.ts'
import { metadataRequest, metadataResponse } from '../protocol/messages/metadata.ts'
import { produceRequest, produceResponse } from '../protocol/messages/produce.ts'
import { Reader } from '../protocol/reader.ts'
import { Writer } from '../protocol/writer.ts'
import { World } from '../simulator/io/world.ts'
import { type BrokerChannel, connectChannel } from './broker-channel.ts'
import type { ChannelError } from './channel-error.ts'
import type { ChannelOptions, Requester } from './channel-options.ts'
import { FrameReader } from './frame-reader.ts'
import { heapFrameMemory } from './heap-frame-memory.ts'

const metadataApi = { request: metadataRequest, response: metadataResponse }
const produceApi = { request: produceRequest, response: produceResponse }

type Handler = (header: RequestHeader, connection: Connection) => void

/** A world with a peer that does with each request whatever the test says, and a client that may connect to it. */
class PeerWorld {
  readonly world = new World({ seed: 7 })
  readonly server = this.world.addNode('server')
  readonly clientIo: Io = this.world.addNode('client').start()
  readonly headers: RequestHeader[] = []
  connections = 0
  handler: Handler = answerWell
  /** Versions of ApiVersions that the peer knows. */
  maxApiVersions = 5

  async start(): Promise<this> {
    const io = this.server.start()
    const accept = (connection: Connection) => this.#serve(connection)
    await this.world.finish(io.network.listen({ host: '0.0.0.0', port: 9092 }, { accept }))
    return this
  }

  connect(options: Partial<ChannelOptions> = {}): Promise<BrokerChannel> {
    const { clock, network } = this.clientIo
    return this.world.finish(
      connectChannel({
        clock,
        network,
        writer: new Writer(),
        endpoint: { host: 'server', port: 9092 },
        clientId: 'test',
        software: { name: 'test', version: '1' },
        connectTimeoutMs: 5000,
        requestTimeoutMs: 1000,
        maxResponseBytes: 100_000,
        maxInFlight: 3,
        maxWaiting: 5,
        idleMs: 60_000,
        ...options,
      }),
    )
  }

  #serve(connection: Connection): void {
    this.connections++
    const reader = new FrameReader({
      maxFrameBytes: 1_000_000,
      memory: heapFrameMemory,
      frame: bytes => {
        const header = decodeRequestHeader(new Reader(bytes))
        this.headers.push(header)
        this.handler(header, connection)
        return 'taken'
      },
      failed: () => connection.destroy(),
      pause: () => connection.pause(),
      resume: () => connection.resume(),
    })
    const received = (bytes: Buffer) => reader.received(bytes)
    connection.start({ target: () => reader.target(), received, closed: () => reader.end() })
  }
}

const ranges = apis.map(({ key: apiKey, minVersion, maxVersion }) => ({ apiKey, minVersion, maxVersion }))

function answerWell(header: RequestHeader, connection: Connection, throttleTimeMs = 0): void {
  if (header.apiKey === ApiKey.apiVersions) return answerApiVersions(header, connection)
  const body = { brokers: [], topics: [], clusterId: `answer ${header.correlationId}`, throttleTimeMs }
  connection.send(encodeResponse(new Writer(), header, metadataResponse, body).parts as Buffer[])
}

function answerApiVersions(header: RequestHeader, connection: Connection, apiKeys = ranges): void {
  const body = { errorCode: ErrorCode.none, apiKeys }
  connection.send(encodeResponse(new Writer(), header, apiVersionsResponse, body).parts as Buffer[])
}

function rejects(promise: Promise<unknown>, code: ChannelError['code'], text: RegExp): Promise<void> {
  return assert.rejects(promise, (error: ChannelError) => error.code === code && text.test(error.message))
}

/** How each ended, once all have. */
function outcomes(peer: PeerWorld, requests: Promise<unknown>[]): Promise<{ status: string; reason: ChannelError }[]> {
  return peer.world.finish(Promise.allSettled(requests)) as Promise<{ status: string; reason: ChannelError }[]>
}

const ask = (channel: Requester, timeoutMs?: number) => channel.request(metadataApi, { topics: [] }, { timeoutMs })

test('versions are agreed on, then requests are answered in their order', async () => {
  const peer = await new PeerWorld().start()
  const channel = await peer.connect()
  const answers = await peer.world.finish(Promise.all([ask(channel), ask(channel), ask(channel)]))
  assert.deepEqual(
    answers.map(({ clusterId }) => clusterId),
    ['answer 2', 'answer 3', 'answer 4'],
  )
  assert.deepEqual(
    peer.headers.map(({ apiKey, apiVersion }) => [apiKey, apiVersion]),
    [[18, 5], ...Array.from({ length: 3 }, () => [3, 13])],
  )
  assert.equal(channel.unansweredCount, 0)
})

test('a broker that answers error 35 in version 0 is asked again on the same connection', async () => {
  const peer = await new PeerWorld().start()
  peer.handler = (header, connection) => {
    if (header.apiKey !== ApiKey.apiVersions || header.apiVersion <= 2) return answerWell(header, connection)
    const apiKeys = [{ apiKey: ApiKey.apiVersions, minVersion: 0, maxVersion: 2 }]
    const body = { errorCode: ErrorCode.unsupportedVersion, apiKeys }
    const inVersion0 = { ...header, apiVersion: 0 }
    connection.send(encodeResponse(new Writer(), inVersion0, apiVersionsResponse, body).parts as Buffer[])
  }
  const channel = await peer.connect()
  assert.equal(channel.versionOf(ApiKey.metadata), 13)
  assert.equal(peer.connections, 1)
  assert.deepEqual(
    peer.headers.map(({ apiVersion }) => apiVersion),
    [5, 2],
  )
})

test('a broker that closes on a new ApiVersions is connected to again', async () => {
  const peer = await new PeerWorld().start()
  peer.handler = (header, connection) => (header.apiVersion > 0 ? connection.destroy() : answerWell(header, connection))
  const channel = await peer.connect()
  assert.ok(channel.isOpen)
  assert.deepEqual(
    peer.headers.map(({ apiVersion }) => apiVersion),
    [5, 3, 0],
  )
  assert.equal(peer.connections, 3)
})

test('a peer that never answers is given up in time', async () => {
  const peer = await new PeerWorld().start()
  peer.handler = () => undefined
  await rejects(peer.connect({ connectTimeoutMs: 300 }), 'timedOut', /server:9092.*ApiVersions/)
  assert.ok(peer.world.nowMs < 400)
})

test('where nobody listens, connecting fails and says where', async () => {
  const peer = new PeerWorld()
  peer.server.start()
  await rejects(peer.connect(), 'connectFailed', /^cannot connect to server:9092: (?!connect to)/)
})

test('an API without a common version is refused before anything is sent', async () => {
  const peer = await new PeerWorld().start()
  peer.handler = (header, connection) => {
    answerApiVersions(header, connection, [{ apiKey: ApiKey.metadata, minVersion: 20, maxVersion: 30 }])
  }
  const channel = await peer.connect()
  await rejects(
    ask(channel),
    'unsupportedVersion',
    /Metadata: the broker serves 20 to 30, this client speaks versions 0 to 13/,
  )
  await rejects(
    channel.request(produceApi, { acks: 1, timeoutMs: 1, topicData: [] }),
    'unsupportedVersion',
    /does not serve/,
  )
  assert.equal(peer.headers.length, 1)
  assert.ok(channel.isOpen)
})

test('what a version cannot say is refused before anything is sent, and the next request goes well', async () => {
  const peer = await new PeerWorld().start()
  const channel = await peer.connect()
  const tooMuch = channel.request(metadataApi, { topics: [{ name: null }] }, { maxVersion: 4 })
  await rejects(tooMuch, 'unsupportedVersion', /Metadata version 4, .* cannot say this/)
  assert.equal((await peer.world.finish(ask(channel))).clusterId, 'answer 3')
})

for (const [name, misbehave, code, pattern] of [
  ['an answer out of turn', wrongCorrelationId, 'malformed', /sent answer 1000 out of turn/],
  ['an answer that is cut short', cutShort, 'malformed', /answer to Metadata version 13 cannot be read/],
  ['an empty frame', bytes('00000000'), 'malformed', /without a correlation id/],
  ['a frame of negative length', bytes('ffffff00'), 'malformed', /negative length/],
  ['a frame that is too large', bytes('7f000000'), 'malformed', /2130706432 bytes, more than 100000/],
  ['an answer of an HTTP server', text('HTTP/1.1 400 Bad Request\r\n'), 'malformed', /Kafka listener/],
  ['the end of the connection', (_, connection) => connection.close(100), 'closed', /closed the connection/],
] satisfies [string, Handler, ChannelError['code'], RegExp][]) {
  test(`${name} ends the channel and all of its requests`, async () => {
    const peer = await new PeerWorld().start()
    let ended: ChannelError | undefined
    const closed = (error: ChannelError) => {
      ended = error
    }
    const channel = await peer.connect({ closed })
    peer.handler = misbehave
    for (const { status, reason } of await outcomes(peer, [ask(channel), ask(channel)])) {
      assert.equal(status, 'rejected')
      assert.equal(reason.code, code)
      assert.match(reason.message, pattern)
    }
    assert.equal(channel.isOpen, false)
    assert.equal(ended?.code, code)
    await rejects(ask(channel), 'closed', pattern)
  })
}

function wrongCorrelationId(header: RequestHeader, connection: Connection): void {
  answerWell({ ...header, correlationId: 1000 }, connection)
}

function cutShort(header: RequestHeader, connection: Connection): void {
  const frame = Buffer.from('0000000600000000000000', 'hex')
  frame.writeInt32BE(header.correlationId, 4)
  connection.send([frame.subarray(0, 10)])
}

function bytes(hex: string): Handler {
  return (_, connection) => connection.send([Buffer.from(hex, 'hex')])
}

function text(content: string): Handler {
  return (_, connection) => connection.send([Buffer.from(content)])
}

test('a request without an answer in time ends the channel, and those behind it may have been carried out', async () => {
  const peer = await new PeerWorld().start()
  const channel = await peer.connect()
  peer.handler = () => undefined
  const [first, second] = await outcomes(peer, [ask(channel, 200), ask(channel, 5000)])
  assert.match(first.reason.message, /no answer to Metadata in time/)
  assert.deepEqual([first.reason.code, second.reason.code], ['timedOut', 'timedOut'])
  assert.equal(second.reason.wasNotSent, false)
  assert.ok(peer.world.nowMs < 300)
})

test('requests beyond those in flight wait; those that wait too long were not sent', async () => {
  const peer = await new PeerWorld().start()
  const channel = await peer.connect({ maxInFlight: 1 })
  peer.handler = () => undefined
  const first = ask(channel, 900)
  const [waiting] = await outcomes(peer, [ask(channel, 100)])
  assert.equal(waiting.reason.code, 'busy')
  assert.ok(waiting.reason.wasNotSent)
  assert.ok(channel.isOpen)
  await rejects(peer.world.finish(first), 'timedOut', /Metadata/)
  assert.equal(peer.headers.length, 2)
})

test('more requests than may wait are refused at once', async () => {
  const peer = await new PeerWorld().start()
  const channel = await peer.connect({ maxInFlight: 1, maxWaiting: 1 })
  const accepted = [ask(channel), ask(channel)]
  await rejects(ask(channel), 'busy', /too many/)
  await peer.world.finish(Promise.all(accepted))
})

test('a broker that throttles is left in peace for so long', async () => {
  const peer = await new PeerWorld().start()
  const channel = await peer.connect({ requestTimeoutMs: 10_000 })
  peer.handler = (header, connection) => answerWell(header, connection, 2000)
  await peer.world.finish(ask(channel))
  const before = peer.world.nowMs
  await peer.world.finish(ask(channel))
  assert.ok(peer.world.nowMs - before >= 1990)
})

test('a request that needs no answer ends when its bytes have left', async () => {
  const peer = await new PeerWorld().start()
  const channel = await peer.connect()
  peer.handler = () => undefined
  const body = { acks: 0, timeoutMs: 1, topicData: [] }
  await peer.world.finish(channel.request(produceApi, body, { expectsAnswer: false }))
  assert.equal(channel.unansweredCount, 0)
  await peer.world.advance(2000)
  assert.ok(channel.isOpen)
})

test('an idle connection is closed', async () => {
  const peer = await new PeerWorld().start()
  const channel = await peer.connect({ idleMs: 10_000 })
  await peer.world.advance(6000)
  await peer.world.finish(ask(channel))
  await peer.world.advance(9000)
  assert.ok(channel.isOpen)
  await peer.world.advance(2000)
  assert.equal(channel.isOpen, false)
})

test('bytes of an answer stay as they are while later answers arrive', async () => {
  const peer = await new PeerWorld().start()
  const channel = await peer.connect()
  peer.handler = (header, connection) => {
    const records = Buffer.alloc(50, header.correlationId)
    const responses = [{ topicId: 'AAAAAAAAAAAAAAAAAAAAAQ', partitionResponses: [] }]
    const body = { responses, nodeEndpoints: [{ nodeId: 1, host: records.toString('latin1'), port: 1 }] }
    connection.send(encodeResponse(new Writer(), header, produceResponse, body).parts as Buffer[])
  }
  const body = { acks: 1, timeoutMs: 1, topicData: [] }
  const answers = await peer.world.finish(Promise.all([1, 2, 3].map(() => channel.request(produceApi, body))))
  const hosts = answers.map(answer => answer.nodeEndpoints[0].host.charCodeAt(49))
  assert.deepEqual(hosts, [2, 3, 4])
})

test('nobody sends before authentication is through; when it fails there is no channel', async () => {
  const peer = await new PeerWorld().start()
  const seen: string[] = []
  const authenticate = async (channel: Requester) => {
    seen.push((await ask(channel)).clusterId ?? '')
  }
  await peer.connect({ authenticate })
  assert.deepEqual(seen, ['answer 2'])
  const refuse = () => Promise.reject(new Error('the password is wrong'))
  await rejects(peer.connect({ authenticate: refuse }), 'authenticationFailed', /the password is wrong/)
})

test('closing ends what is under way, and whoever comes later', async () => {
  const peer = await new PeerWorld().start()
  const channel = await peer.connect()
  const request = ask(channel)
  channel.close('enough')
  await rejects(peer.world.finish(request), 'closed', /enough/)
  await rejects(ask(channel), 'closed', /enough/)
})
