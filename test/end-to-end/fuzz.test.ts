import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { ErrorCode } from '../../src/base/error-code.ts'
import { apiMessages } from '../../src/protocol/all-messages.ts'
import { ApiKey, apiOf } from '../../src/protocol/apis.ts'
import { decode } from '../../src/protocol/codec.ts'
import { decodeResponseHeader } from '../../src/protocol/frames.ts'
import { type FuzzFrame, randomRequestFrame, withSize } from '../../src/protocol/fuzz.ts'
import { Reader } from '../../src/protocol/reader.ts'
import { decodeBatchHeader } from '../../src/records/batch-header.ts'
import { fuzzBatch } from '../../src/records/fuzz.ts'
import { SeededRandom } from '../../src/records/seeded-random.ts'
import { startBroker, type TestBroker } from '../../src/testing/index.ts'
import { api } from './api.ts'
import { fuzzSeeds, named } from './fuzz-seeds.ts'
import { LogLines } from './log-lines.ts'
import { RawClient } from './raw-client.ts'
import { append, createTopic, fetch, type Place, produce, recordsOf } from './requests.ts'
import { SteadyProducer } from './steady-producer.ts'

/** See fuzz-seeds.ts for how to run others. */
const cases = 600

/** The time of the records, the same in every run: a seed makes the same bytes again. */
const batchesMs = 1_700_000_000_000

/** No frame names it, not even when the client id in its header is read as something else. */
const steadyTopic = 'left-alone'

let broker: TestBroker
let served: number[]
const log = new LogLines()

before(async () => {
  const overrides = { 'offsets.topic.num.partitions': '1', 'millrace.frame.timeout.ms': '5000' }
  broker = await startBroker({ topics: { bad: 2, [steadyTopic]: 2 }, overrides, log })
  using client = await RawClient.connect({ port: broker.port })
  await client.call(api.findCoordinator, 0, { key: 'g' })
  served = (await client.call(api.apiVersions, 0, {})).apiKeys.map(one => one.apiKey)
})

after(() => broker.close())

test('every frame, however damaged, is answered or ends its connection, and no handler fails', async () => {
  using steady = await RawClient.connect({ port: broker.port })
  const producer = new SteadyProducer(steady, { topic: steadyTopic })
  for (const seed of fuzzSeeds(cases)) {
    const random = new SeededRandom(seed)
    const apiKeys = random.below(10) === 0 ? undefined : served
    const frame = randomRequestFrame(random, apiKeys)
    const about = `seed ${seed}: ${apiOf(frame.apiKey)?.name} version ${frame.apiVersion}, damage ${frame.damage}`
    await named(about, tryFrame(frame, withSize(frame.bytes, random)))
  }
  const { failures } = producer.experience()
  await producer.stop()
  assert.deepEqual(failures, [])
})

async function tryFrame(frame: FuzzFrame, bytes: Buffer): Promise<void> {
  using client = await RawClient.connect({ port: broker.port })
  client.socket.write(bytes)
  // Most are done at once; those that wait (for more bytes, for other members) are left to.
  const answer = await Promise.race([client.frame(), pause(frame.damage === 'none' ? 20 : 5)])
  const isValid = frame.damage === 'none' && bytes.readInt32BE(0) === frame.bytes.length
  if (answer instanceof Buffer && isValid) checkAnswer(frame, answer)
  client.socket.end()
  assert.deepEqual(log.errors, [])
}

function checkAnswer({ apiKey, apiVersion, correlationId }: FuzzFrame, answer: Buffer): void {
  const { response } = apiMessages.find(one => one.request.key === apiKey)!
  const reader = new Reader(answer)
  assert.equal(decodeResponseHeader(reader, apiKey, apiVersion), correlationId)
  decode(response, apiVersion, reader)
  assert.equal(reader.left, 0)
}

async function pause(ms: number): Promise<undefined> {
  await new Promise(resolve => setTimeout(resolve, ms))
}

test('every batch, however damaged, is stored so that it can be read, or is refused', async () => {
  using client = await RawClient.connect({ port: broker.port })
  // Old records stay: what is sent again after its batch has expired is answered with an offset that nobody can read.
  const place = await createTopic(client, 'batches', { configs: { 'retention.ms': '-1' } })
  let end = 0
  for (const seed of fuzzSeeds(cases)) {
    const random = new SeededRandom(seed)
    const { bytes, changes } = fuzzBatch(random, batchesMs)
    const version = 3 + random.below(10)
    end = await named(`seed ${seed}: ${changes.join(', ')}`, tryBatch(client, place, bytes, { version, end }))
  }
  await append(client, place, ['still here'])
})

/** Answers where the log ends now. */
async function tryBatch(
  client: RawClient,
  place: Place,
  bytes: Buffer,
  { version, end }: { version: number; end: number },
): Promise<number> {
  const { errorCode, baseOffset } = await produce(client, place, bytes, { version }).finally(() => {
    assert.deepEqual(log.errors, []) // also what ended the connection
  })
  if (errorCode !== ErrorCode.none) {
    assert.ok(errorCode > 0, `error ${errorCode}`)
    return end
  }
  const { records, highWatermark, errorCode: readError } = await fetch(client, place, { offset: baseOffset })
  assert.equal(readError, ErrorCode.none)
  assert.ok(highWatermark > baseOffset)
  if (baseOffset < end) return end // a batch that was there before
  // What a record of an uncompressed batch says of its offset is not checked, as in Kafka; the batch's own is ours.
  assert.equal(decodeBatchHeader(records!).baseOffset, baseOffset)
  assert.ok(recordsOf(records).length > 0)
  return highWatermark
}

test('APIs that are not served end the connection, whatever their bodies', async () => {
  const others = Object.values(ApiKey).filter(key => !served.includes(key) && apiOf(key) !== undefined)
  const random = new SeededRandom(1)
  for (const key of others) {
    using client = await RawClient.connect({ port: broker.port })
    client.socket.write(withSize(randomRequestFrame(random, [key]).bytes))
    assert.equal(await client.frame(), undefined, String(key))
  }
})
