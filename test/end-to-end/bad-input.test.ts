import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { ErrorCode } from '../../src/base/error-code.ts'
import { randomRequestFrame, withSize } from '../../src/protocol/fuzz.ts'
import { updateCrc } from '../../src/records/batch.ts'
import { BatchBuilder } from '../../src/records/builder.ts'
import { Codec } from '../../src/records/compression/codec.ts'
import { compressSync } from '../../src/records/compression/compress.ts'
import { fuzzBatch } from '../../src/records/fuzz.ts'
import { hex } from '../../src/records/hex.ts'
import { SeededRandom } from '../../src/records/seeded-random.ts'
import { startBroker } from '../../src/testing/index.ts'
import { MillraceProcess } from '../compatibility/millrace-process.ts'
import { Patience } from '../compatibility/patience.ts'
import { api } from './api.ts'
import { LogLines } from './log-lines.ts'
import { frameOf, RawClient } from './raw-client.ts'
import {
  append,
  batchOf,
  createTopic,
  fetch,
  fetchBody,
  joinBody,
  type Place,
  produce,
  produceBody,
  recordsOf,
  valuesOf,
} from './requests.ts'
import { type Experience, SteadyProducer } from './steady-producer.ts'

const megabyte = 1024 * 1024
/** The broker's memory may reach this: 256 MiB and its budget, which is 64 MiB where queued.max.request.bytes is -1. */
const budgetBytes = 64 * megabyte
const memoryLimit = 256 * megabyte + budgetBytes

const patience = {
  'millrace.frame.timeout.ms': '1000',
  'millrace.slow.reader.timeout.ms': '1000',
  'connections.max.idle.ms': '600000',
}

/** A broker in a process of its own, so that its memory is its own, beside whom a client goes on with its work. */
class Target implements AsyncDisposable {
  readonly broker: MillraceProcess
  readonly port: number
  readonly #directory: string
  readonly #clients: RawClient[] = []
  #steady: SteadyProducer | undefined

  static async start(overrides: Readonly<Record<string, string>> = {}): Promise<Target> {
    const dir = await mkdtemp(join(tmpdir(), 'millrace-target-'))
    const settings = { ...patience, ...overrides }
    return new Target(await MillraceProcess.start({ dir, overrides: settings }), dir)
  }

  private constructor(broker: MillraceProcess, directory: string) {
    this.broker = broker
    this.#directory = directory
    this.port = Number(broker.bootstrap.split(':')[1])
  }

  async client(): Promise<RawClient> {
    const client = await RawClient.connect({ port: this.port })
    this.#clients.push(client)
    return client
  }

  async socket(): Promise<Socket> {
    return (await this.client()).socket
  }

  /** From now on a client produces steadily. */
  async beginSteadyWork(): Promise<SteadyProducer> {
    const client = await this.client()
    this.#steady = new SteadyProducer(client, await createTopic(client, 'steady'))
    return this.#steady
  }

  /** The most memory the broker has had so far. */
  async peakMemory(): Promise<number> {
    const status = await readFile(`/proc/${this.broker.pids[0]}/status`, 'utf8')
    return Number(/VmHWM:\s+(\d+) kB/.exec(status)![1]) * 1024
  }

  async logged(pattern: RegExp, forMs = 15_000): Promise<void> {
    using patience = new Patience(forMs)
    while (!pattern.test(this.broker.output())) {
      assert.ok(!patience.isOver, `no line is like ${pattern}:\n${this.broker.output()}`)
      await pause(20)
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#steady?.stop()
    for (const client of this.#clients) client.close()
    await this.broker.stop('SIGKILL')
    await rm(this.#directory, { recursive: true })
  }
}

function pause(ms: number): Promise<void> {
  return new Promise(resolve => setTimeout(resolve, ms))
}

/** Another client has not suffered: none of its requests failed, and none was held up for long. */
function assertUndisturbed(before: Experience, during: Experience): void {
  assert.deepEqual(during.failures, [])
  assert.ok(during.count > 0, 'the other client was served meanwhile')
  // On a busy machine everything is late; LONG_TESTS is for quiet ones.
  const limitMs = process.env.LONG_TESTS ? Math.max(2 * before.p99Ms, 20) : Math.max(10 * before.p99Ms, 500)
  assert.ok(during.p99Ms < limitMs, `p99 was ${during.p99Ms} ms, undisturbed ${before.p99Ms} ms`)
}

const log = new LogLines()
let broker: Awaited<ReturnType<typeof startBroker>>
let place: Required<Place>

before(async () => {
  broker = await startBroker({ log, overrides: patience })
  using client = await RawClient.connect({ port: broker.port })
  place = await createTopic(client, 'bad')
})

after(() => broker.close())

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32BE(value)
  return bytes
}

test('frames of impossible lengths end the connection, and the log says from where and why', async () => {
  for (const [length, reason] of [
    [-1, /127\.0\.0\.1: .*negative length -1/],
    [-0x8000_0000, /127\.0\.0\.1: .*negative length -2147483648/],
    [0x7fff_ffff, /127\.0\.0\.1: .*2147483647 bytes; socket\.request\.max\.bytes allows 104857600/],
    [104_857_601, /127\.0\.0\.1: .*104857601 bytes/],
    [0, /127\.0\.0\.1: .*cannot be read/],
    [7, /127\.0\.0\.1: .*cannot be read/],
  ] as const) {
    using client = await RawClient.connect({ port: broker.port })
    client.socket.write(Buffer.concat([int32(length), Buffer.alloc(Math.min(10, Math.max(0, length)))]))
    await client.closed()
    await log.logged(reason)
    log.clear()
    await pause(1000 * Number(length === 0)) // the next reason is the same, and would only be counted
  }
})

test('what HTTP, TLS and other protocols send ends the connection', async () => {
  for (const bytes of [
    Buffer.from('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n'),
    hex('16030100f8010000f40303'),
    Buffer.from('*1\r\n$4\r\nPING\r\n'),
    Buffer.alloc(1000, 0xff),
    Buffer.alloc(1000),
  ]) {
    using client = await RawClient.connect({ port: broker.port })
    client.socket.write(bytes)
    await client.closed()
  }
})

test('a frame that stops arriving ends the connection, one that the client gives up costs nothing', async () => {
  const frame = frameOf(
    api.produce.request,
    { apiVersion: 9, correlationId: 1, clientId: 'raw' },
    produceBody(place, batchOf(['a'])),
  )
  for (const cut of [1, 3, 4, 5, 20, frame.length - 1]) {
    using gone = await RawClient.connect({ port: broker.port })
    gone.socket.end(frame.subarray(0, cut))
    await gone.closed()
  }
  using stuck = await RawClient.connect({ port: broker.port })
  stuck.socket.write(frame.subarray(0, 20))
  await stuck.closed()
  await log.logged(/127\.0\.0\.1: .*frame stopped arriving for 1000 ms \(millrace\.frame\.timeout\.ms\)/)
  using waits = await RawClient.connect({ port: broker.port })
  // Not even behind a request that waits for long.
  waits.send(api.fetch.request, 12, fetchBody([place], { maxWaitMs: 30_000, offset: 0, minBytes: 1_000_000 }))
  waits.socket.write(frame.subarray(0, 20))
  await waits.closed()
})

test('bodies that cannot be read end the connection, with the name of the request', async () => {
  using client = await RawClient.connect({ port: broker.port })
  const frame = frameOf(api.metadata.request, { apiVersion: 12, correlationId: 1, clientId: 'raw' }, { topics: [] })
  const cut = frame.subarray(0, frame.length - 2)
  cut.writeInt32BE(cut.length - 4)
  client.socket.write(cut)
  await client.closed()
  await log.logged(/127\.0\.0\.1: .*cannot be read/)
})

type Damage = (batch: Buffer) => Buffer

/** Writes a number into the header and makes the CRC right again. */
function patched(at: number, value: number, bytes: 1 | 2 | 4 = 4): Damage {
  return batch => {
    if (bytes === 4) batch.writeInt32BE(value, at)
    else if (bytes === 2) batch.writeInt16BE(value, at)
    else batch.writeInt8(value, at)
    updateCrc(batch, 0)
    return batch
  }
}

/** With Kafka's answers; test/differential has more of them. Of an unknown codec Kafka says UNKNOWN_SERVER_ERROR. */
const damages: readonly [name: string, damage: Damage, errorCode: number][] = [
  ['a wrong CRC', batch => Buffer.from(batch.fill(0x55, 61, 64)), ErrorCode.corruptMessage],
  ['a header that is cut', batch => batch.subarray(0, 40), ErrorCode.invalidRecord],
  ['records that are cut', batch => batch.subarray(0, batch.length - 1), ErrorCode.invalidRecord],
  ['magic 1', patched(16, 1, 1), ErrorCode.invalidRecord],
  ['magic 3', patched(16, 3, 1), ErrorCode.corruptMessage],
  ['a control batch', patched(21, 0x20, 2), ErrorCode.invalidRecord],
  ['fewer records than the header says', patched(57, 5), ErrorCode.invalidRecord],
  ['a count that is negative', patched(57, -1), ErrorCode.invalidRecord],
  ['a codec that does not exist', patched(21, 7, 2), ErrorCode.invalidRecord],
]

test('malformed batches are refused, the connection goes on and nothing is stored', async () => {
  using client = await RawClient.connect({ port: broker.port })
  const end = (await fetch(client, place)).highWatermark
  const answers: [name: string, errorCode: number, baseOffset: number][] = []
  for (const [name, damage] of damages) {
    const { errorCode, baseOffset } = await produce(client, place, damage(batchOf(['one', 'two'])))
    answers.push([name, errorCode, baseOffset])
  }
  assert.deepEqual(
    answers,
    damages.map(([name, , errorCode]) => [name, errorCode, -1]),
  )
  await log.logged(/127\.0\.0\.1: a batch for bad-0 was refused: .*CRC/i)
  assert.equal((await fetch(client, place)).highWatermark, end)
  assert.equal(await append(client, place, ['fine']), end)
})

test('what unpacks to more than is allowed is refused in every codec, and memory stays bounded', async () => {
  await using target = await Target.start()
  const client = await target.client()
  const bombed = await createTopic(client, 'bombed')
  // Made before others are watched: it takes the time of this process, in which they are.
  const bombs = [Codec.gzip, Codec.snappy, Codec.lz4, Codec.zstd].map(codec => bombOf(codec, 130 * megabyte))
  const allowed = [Codec.gzip, Codec.zstd].map(codec => bombOf(codec, 100 * megabyte))
  const steady = await target.beginSteadyWork()
  await pause(500)
  const before = steady.experience()
  for (const bomb of bombs) {
    const { errorCode, errorMessage } = await produce(client, bombed, bomb)
    // What is too large even packed is refused for that.
    assert.equal(errorCode, ErrorCode.messageTooLarge, `${bomb.length} bytes: ${errorMessage}`)
  }
  // Many at once, as large as they may be.
  const others = await Promise.all(Array.from({ length: 16 }, () => target.client()))
  await Promise.all(others.map((one, index) => produce(one, bombed, allowed[index % 2])))
  assertUndisturbed(before, steady.experience())
  const peak = await target.peakMemory()
  assert.ok(peak < memoryLimit, `peak ${Math.round(peak / megabyte)} MiB`)
  await target.logged(/127\.0\.0\.1: a batch for bombed-0 was refused: the batch unpacks to more than millrace\.max/)
})

test('batches that unpack to very many records hold nobody up, whatever the topic wants of them', async () => {
  await using target = await Target.start()
  const client = await target.client()
  const large = { 'max.message.bytes': String(20 * megabyte) }
  const plain = await createTopic(client, 'plain', { configs: large })
  const packing = await createTopic(client, 'packing', { configs: { ...large, 'compression.type': 'gzip' } })
  const codecs = [Codec.gzip, Codec.lz4, Codec.zstd]
  const batches = codecs.map(codec => ({ many: manyRecords(1_000_000, codec), gaps: withGaps(5_000_000, codec) }))
  const steady = await target.beginSteadyWork()
  await pause(500)
  const before = steady.experience()
  for (const { many, gaps } of batches) {
    assert.equal((await produce(client, plain, many)).errorCode, ErrorCode.none)
    assert.equal((await produce(client, packing, many)).errorCode, ErrorCode.none)
    assert.equal((await produce(client, plain, gaps)).errorCode, ErrorCode.invalidRecord)
  }
  assertUndisturbed(before, steady.experience())
  const peak = await target.peakMemory()
  assert.ok(peak < memoryLimit, `peak ${Math.round(peak / megabyte)} MiB`)
})

/** As small as records are, with the same bytes again and again as far as their offsets allow. */
function manyRecords(count: number, codec: number): Buffer {
  const builder = new BatchBuilder(12 * count)
  for (let i = 0; i < count; i++) builder.append(0, null, null)
  return Buffer.from(builder.finish({ codec }))
}

/** Every record says that it is the first. */
function withGaps(count: number, codec: number): Buffer {
  const one = new BatchBuilder()
  one.append(0, null, null)
  const record = Buffer.from(one.records)
  const records = Buffer.alloc(count * record.length)
  for (let i = 0; i < count; i++) record.copy(records, i * record.length)
  const batch = Buffer.from(one.finishCompressed(compressSync(codec, records), { codec }))
  batch.writeInt32BE(count - 1, 23)
  batch.writeInt32BE(count, 57)
  updateCrc(batch, 0)
  return batch
}

test('a batch that is unpacked off the loop is stored as it was sent, also when its client is gone by then', async () => {
  using client = await RawClient.connect({ port: broker.port })
  for (const codec of [Codec.gzip, Codec.zstd]) {
    // So small that it arrives in one piece, and so large that it is not unpacked at once.
    const values = Array.from({ length: 3 }, (_, index) => String(index).repeat(2 * megabyte))
    const small = await createTopic(client, `off-loop-${codec}`)
    const batch = batchOf(values, { codec })
    assert.ok(batch.length < 50_000)
    assert.equal((await produce(client, small, batch)).errorCode, ErrorCode.none)
    // One that arrives in pieces lies in memory that others would take at once.
    const half = Buffer.concat([new SeededRandom(codec).bytes(300_000), Buffer.alloc(megabyte)])
    const large = await createTopic(client, `off-loop-large-${codec}`)
    using gone = await RawClient.connect({ port: broker.port })
    gone.send(api.produce.request, 9, produceBody(large, batchOf([half, half], { codec })))
    gone.socket.end()
    await Promise.all([1, 2, 3].map(() => append(client, place, ['z'.repeat(900_000)])))
    const { highWatermark, records } = await fetch(client, large, { maxWaitMs: 500 })
    assert.ok(highWatermark === 0 || highWatermark === 2)
    assert.equal(recordsOf(records).length, highWatermark)
    assert.deepEqual(valuesOf((await fetch(client, small)).records), values)
  }
})

/** One record of zeros. */
function bombOf(codec: number, bytes: number): Buffer {
  const builder = new BatchBuilder()
  builder.append(Date.now(), null, Buffer.alloc(bytes))
  return Buffer.from(builder.finishCompressed(compressSync(codec, builder.records), { codec }))
}

/** Connected, and silent but for what is sent at once. */
async function crowdOf(target: Target, count: number, asking: Buffer): Promise<Socket[]> {
  const sockets: Socket[] = []
  for (let i = 0; i < count; i++) {
    const socket = connect({ port: target.port, host: '127.0.0.1' })
    socket.on('error', () => {})
    socket.pause()
    socket.write(asking)
    sockets.push(socket)
    // The time of this process is that of the client that is watched, too.
    if (i % 10 === 0) await pause(5)
  }
  return sockets
}

test('thousands that ask for all there is and read nothing hold no more than the budget, and hold nobody up', async () => {
  const isLong = process.env.LONG_TESTS !== undefined
  const [topicCount, clientCount, budget] = isLong ? [1000, 2000, budgetBytes] : [300, 40, 8 * megabyte]
  await using target = await Target.start({
    'millrace.slow.reader.timeout.ms': '60000',
    'queued.max.request.bytes': String(budget),
    'socket.request.max.bytes': String(budget),
  })
  const client = await target.client()
  const names = Array.from({ length: topicCount }, (_, index) => `topic-${index}`)
  for (const name of names) await createTopic(client, name)
  const header = { apiVersion: 12, correlationId: 1, clientId: 'deaf' }
  const metadata = frameOf(api.metadata.request, header, { topics: null })
  const steady = await target.beginSteadyWork()
  await pause(1000)
  const before = steady.experience()
  // More than the kernel takes for each of them.
  const sockets = await crowdOf(target, clientCount, Buffer.concat(Array.from({ length: 400 }, () => metadata)))
  const line = /127\.0\.0\.1: connection closed: it does not read its answers while others wait for memory/
  await target.logged(line, 60_000)
  // Whoever reads gets all of it, though it has to wait for those that do not.
  using reader = await RawClient.connect({ port: target.port })
  const { topics } = await reader.call(api.metadata, 12, { topics: null })
  assert.ok(topics.length >= topicCount)
  const during = steady.experience()
  const peak = await target.peakMemory()
  assert.ok(peak < memoryLimit - budgetBytes + budget, `peak ${Math.round(peak / megabyte)} MiB`)
  assertUndisturbed(before, during)
  for (const socket of sockets) socket.destroy()
})

test('clients that never read their answers are closed, and others do not suffer', async () => {
  await using target = await Target.start()
  const client = await target.client()
  const large = await createTopic(client, 'large')
  for (let i = 0; i < 20; i++) await append(client, large, ['x'.repeat(900_000)])
  const steady = await target.beginSteadyWork()
  await pause(500)
  const before = steady.experience()
  const deaf = await Promise.all(Array.from({ length: 20 }, () => target.client()))
  const asking = frameOf(
    api.fetch.request,
    { apiVersion: 12, correlationId: 1, clientId: 'deaf' },
    fetchBody([large], { partitionMaxBytes: 50_000_000 }),
  )
  const metadata = frameOf(
    api.metadata.request,
    { apiVersion: 12, correlationId: 1, clientId: 'deaf' },
    { topics: null },
  )
  for (const [index, one] of deaf.entries()) {
    one.socket.pause()
    one.socket.write(Buffer.concat(Array.from({ length: 200 }, () => (index % 2 === 0 ? asking : metadata))))
  }
  // Half of them ask for little, which the kernel takes for a while.
  for (const [index, one] of deaf.entries()) {
    if (index % 2 === 0) continue
    for (let round = 0; round < 200; round++)
      one.socket.write(Buffer.concat(Array.from({ length: 100 }, () => metadata)))
  }
  await target.logged(/127\.0\.0\.1.*it has not read its answers for 1000 ms \(millrace\.slow\.reader\.timeout\.ms\)/)
  // Large frames of others still find room: what waits for the deaf is not in the broker's memory.
  assert.equal(await append(client, large, ['y'.repeat(900_000)]), 20)
  assertUndisturbed(before, steady.experience())
  const peak = await target.peakMemory()
  assert.ok(peak < memoryLimit, `peak ${Math.round(peak / megabyte)} MiB`)
})

test('a client that reads slowly but does read is served to the end', async () => {
  using client = await RawClient.connect({ port: broker.port })
  const large = await createTopic(client, 'slowly')
  for (let i = 0; i < 30; i++) await append(client, large, ['x'.repeat(900_000)])
  using slow = await RawClient.connect({ port: broker.port })
  const answering = fetch(slow, large, { partitionMaxBytes: 50_000_000 })
  // Longer in all than the slow reader's time limit, with pauses that are shorter.
  for (let i = 0; i < 10; i++) {
    slow.socket.pause()
    await pause(200)
    slow.socket.resume()
    await pause(5)
  }
  assert.equal((await answering).records?.length, 30 * batchOf(['x'.repeat(900_000)]).length)
})

test('thousands of connections that are idle, half open or stuck in a frame keep nobody from working', async () => {
  await using target = await Target.start()
  const client = await target.client()
  const other = await createTopic(client, 'other')
  const steady = await target.beginSteadyWork()
  await pause(500)
  const before = steady.experience()
  const frame = frameOf(
    api.produce.request,
    { apiVersion: 9, correlationId: 1, clientId: 'half' },
    produceBody(other, batchOf(['x'.repeat(1_000_000)])),
  )
  const joining = frameOf(
    api.joinGroup.request,
    { apiVersion: 3, correlationId: 1, clientId: 'half' },
    joinBody('crowd', { version: 3 }),
  )
  await client.call(api.findCoordinator, 0, { key: 'crowd' })
  const sockets: Socket[] = []
  for (let i = 0; i < 3000; i++) {
    const socket = connect({ port: target.port, host: '127.0.0.1', allowHalfOpen: true })
    socket.on('error', () => {})
    sockets.push(socket)
    if (i % 8 === 0 && i >= 1000)
      socket.write(frame.subarray(0, 200_000)) // has sent some of what it may not send yet
    else if (i % 4 === 1)
      socket.write(frame.subarray(0, 100)) // holds a megabyte, if it may
    else if (i % 4 === 2)
      socket.end(frame.subarray(0, 2)) // has ended its side
    else if (i % 4 === 3 && i < 1000) socket.write(Buffer.concat([joining, joining, Buffer.alloc(200_000)])) // sends on while it waits
    if (i % 100 === 0) await pause(1)
  }
  // Its frame does not arrive in one piece, so it needs memory like those that are stuck. Like any client it comes again when
  // it is turned away for want of memory.
  const began = performance.now()
  for (let offset = -1; offset < 0; ) {
    using producer = await RawClient.connect({ port: target.port })
    offset = await append(producer, other, ['x'.repeat(1_000_000 - 100)]).catch(error => {
      if (performance.now() - began > 60_000) throw error
      return -1
    })
  }
  assertUndisturbed(before, steady.experience())
  const peak = await target.peakMemory()
  assert.ok(peak < memoryLimit, `peak ${Math.round(peak / megabyte)} MiB`)
  await target.logged(/127\.0\.0\.1: connection closed: a frame stopped arriving for 1000 ms/)
  for (const socket of sockets) socket.destroy()
})

test('connections that ask for nothing are closed after their time, those that wait for an answer are not', async () => {
  await using impatient = await startBroker({ topics: { quiet: 1 }, overrides: { 'connections.max.idle.ms': '500' } })
  const connected = Array.from({ length: 20 }, () => RawClient.connect({ port: impatient.port }))
  const [waiting, ...idle] = await Promise.all(connected)
  const answer = fetch(waiting, { topic: 'quiet' }, { maxWaitMs: 4000 })
  await Promise.all(idle.map(one => one.closed()))
  assert.equal((await answer).errorCode, ErrorCode.none)
  waiting.close()
})

test('a storm of bad frames ends nobody but those who send them, and takes no memory', async () => {
  await using target = await Target.start()
  const client = await target.client()
  const hit = await createTopic(client, 'hit')
  const steady = await target.beginSteadyWork()
  await pause(500)
  const before = steady.experience()
  const random = new SeededRandom(3)
  const served = (await client.call(api.apiVersions, 0, {})).apiKeys.map(one => one.apiKey)
  const kinds: readonly (() => Buffer)[] = [
    () => Buffer.concat([int32(-1 - random.below(0x7fff_ffff)), random.bytes(20)]),
    () => Buffer.concat([int32(104_857_601 + random.below(0x7000_0000)), random.bytes(2000)]),
    () => withSize(random.bytes(random.below(300))),
    () => withSize(randomRequestFrame(random, served).bytes, random),
    () => withSize(randomRequestFrame(random).bytes),
    () => produceFrame(hit, damages[random.below(damages.length)][1](batchOf(['one', 'two']))),
    () => produceFrame(hit, fuzzBatch(random, Date.now()).bytes),
  ]
  const rounds = process.env.LONG_TESTS ? 1000 : 150
  await Promise.all(
    Array.from({ length: 20 }, async (_, lane) => {
      for (let round = 0; round < rounds; round++) {
        const socket = connect({ port: target.port, host: '127.0.0.1' })
        socket.on('error', () => {})
        socket.resume()
        const closed = new Promise(resolve => socket.once('close', resolve))
        socket.end(kinds[(lane + round) % kinds.length]())
        await Promise.race([closed, pause(2000)])
        socket.destroy()
      }
    }),
  )
  assertUndisturbed(before, steady.experience())
  const peak = await target.peakMemory()
  assert.ok(peak < memoryLimit, `peak ${Math.round(peak / megabyte)} MiB`)
  await target.logged(/127\.0\.0\.1: connection closed: it sent a frame of negative length/)
  await target.logged(/127\.0\.0\.1: connection closed: it sent a frame of \d+ bytes; socket\.request\.max\.bytes/)
  await target.logged(/127\.0\.0\.1: connection closed: it sent a request that cannot be read/)
  await target.logged(/127\.0\.0\.1: a batch for hit-0 was refused/)
  assert.doesNotMatch(target.broker.output(), /could not be answered|"?error"?:? a request of/i)
})

function produceFrame(place: Required<Place>, batch: Buffer): Buffer {
  const header = { apiVersion: 9, correlationId: 1, clientId: 'raw' }
  return frameOf(api.produce.request, header, produceBody(place, batch))
}

test('one listener may have a limit of its own', async () => {
  const overrides = { 'listener.name.plaintext.max.connections': '2' }
  await using strict = await startBroker({ log, overrides })
  using first = await RawClient.connect({ port: strict.port })
  assert.equal((await first.call(api.apiVersions, 0, {})).errorCode, ErrorCode.none)
  const second = await RawClient.connect({ port: strict.port })
  assert.equal((await second.call(api.apiVersions, 0, {})).errorCode, ErrorCode.none)
  using refused = await RawClient.connect({ port: strict.port })
  await refused.closed()
  await log.logged(/connection refused: listener\.name\.plaintext\.max\.connections is reached/)
  second.close()
  await second.closed()
  // The broker hears of the end a little later than the client does.
  for (;;) {
    using next = await RawClient.connect({ port: strict.port })
    const answer = next.call(api.apiVersions, 0, {}).catch(() => undefined)
    if ((await answer) !== undefined) break
  }
})

test('limits of connections hold, in all and from one address, and can be changed while the broker runs', async () => {
  await using strict = await startBroker({ log, overrides: { 'max.connections.per.ip': '3' } })
  const clients = await Promise.all([1, 2, 3].map(() => RawClient.connect({ port: strict.port })))
  for (const one of clients) assert.equal((await one.call(api.apiVersions, 0, {})).errorCode, ErrorCode.none)
  using refused = await RawClient.connect({ port: strict.port })
  await refused.closed()
  await log.logged(/127\.0\.0\.1: connection refused: max\.connections\.per\.ip is reached/)
  // The other family is another address.
  using other = await RawClient.connect({ port: strict.port, host: '::1' })
  await other.call(api.incrementalAlterConfigs, 1, {
    resources: [
      {
        ...{ resourceType: 4, resourceName: '1' },
        configs: [{ name: 'max.connections.per.ip', configOperation: 0, value: '4' }],
      },
    ],
    validateOnly: false,
  })
  using fourth = await RawClient.connect({ port: strict.port })
  assert.equal((await fourth.call(api.apiVersions, 0, {})).errorCode, ErrorCode.none)
  using fifth = await RawClient.connect({ port: strict.port })
  await fifth.closed()
  for (const one of clients) one.close()
})
