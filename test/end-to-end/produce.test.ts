import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { ErrorCode } from '../../src/base/error-code.ts'
import { batchSpans, decodeBatchHeader } from '../../src/records/batch-header.ts'
import { Codec } from '../../src/records/compression/codec.ts'
import { SeededRandom } from '../../src/records/seeded-random.ts'
import { startBroker, type TestBroker } from '../../src/testing/index.ts'
import { Patience } from '../compatibility/patience.ts'
import { api } from './api.ts'
import { RawClient } from './raw-client.ts'
import { append, batchOf, createTopic, fetch, type Place, produce, recordsOf, valuesOf } from './requests.ts'

let broker: TestBroker
let client: RawClient

before(async () => {
  broker = await startBroker()
  client = await RawClient.connect({ port: broker.port })
})

after(async () => {
  client.close()
  await broker.close()
})

async function endOf(place: Place, from = client): Promise<number> {
  return (await fetch(from, place, { partitionMaxBytes: 0, maxBytes: 0 })).highWatermark
}

async function newProducerId(from = client): Promise<number> {
  const { errorCode, producerId } = await from.call(api.initProducerId, 4, {
    ...{ transactionalId: null, transactionTimeoutMs: 1000 },
  })
  assert.equal(errorCode, ErrorCode.none)
  return producerId
}

test('a batch is stored with the codec that its producer chose', async () => {
  // Half of it is noise, so that the message stays large when it is packed.
  const noise = new SeededRandom(1)
    .bytes(300_000)
    .toString('latin1')
    .replaceAll(/[^ -~]/g, '?')
  const value = Buffer.from(noise.padEnd(600_000, 'snappy '))
  for (const [name, codec] of Object.entries(Codec)) {
    const place = await createTopic(client, `codec-${name}`)
    const { errorCode } = await produce(client, place, batchOf([value, 'next'], { codec }))
    assert.equal(errorCode, ErrorCode.none, name)
    const { records } = await fetch(client, place)
    assert.equal(decodeBatchHeader(records!).codec, codec, name)
    assert.deepEqual(valuesOf(records), [value.toString(), 'next'])
  }
})

test('zstd needs version 7', async () => {
  const place = await createTopic(client, 'old-zstd')
  const batch = batchOf(['a'], { codec: Codec.zstd })
  assert.equal((await produce(client, place, batch, { version: 6 })).errorCode, ErrorCode.unsupportedCompressionType)
  assert.equal((await produce(client, place, batch, { version: 7 })).errorCode, ErrorCode.none)
})

test('what is larger than max.message.bytes is refused and leaves nothing', async () => {
  const place = await createTopic(client, 'small-messages', { configs: { 'max.message.bytes': '51200' } })
  await append(client, place, ['before'])
  for (const bytes of [51_200, 10 * 1024 * 1024]) {
    const { errorCode, baseOffset } = await produce(client, place, batchOf([Buffer.alloc(bytes)]))
    assert.deepEqual([errorCode, baseOffset], [ErrorCode.messageTooLarge, -1])
  }
  assert.equal(await endOf(place), 1)
  const fits = batchOf([Buffer.alloc(51_200 - batchOf(['']).length - 4)])
  assert.ok(fits.length <= 51_200)
  assert.equal((await produce(client, place, fits)).errorCode, ErrorCode.none)
})

test('a limit that is changed is in force at once', async () => {
  const place = await createTopic(client, 'growing-messages', { configs: { 'max.message.bytes': '1000' } })
  const batch = batchOf([Buffer.alloc(2000)])
  assert.equal((await produce(client, place, batch)).errorCode, ErrorCode.messageTooLarge)
  const configs = [{ name: 'max.message.bytes', configOperation: 0, value: '5000' }]
  await client.call(api.incrementalAlterConfigs, 1, {
    resources: [{ resourceType: 2, resourceName: place.topic, configs }],
    validateOnly: false,
  })
  assert.equal((await produce(client, place, batch)).errorCode, ErrorCode.none)
})

test('one of the last five batches that is sent again is answered as the first time, and stored once', async () => {
  const place = await createTopic(client, 'sent-again')
  const producerId = await newProducerId()
  const batches = Array.from({ length: 6 }, (_, index) =>
    batchOf([`${index}a`, `${index}b`], { producerId, producerEpoch: 0, baseSequence: 2 * index }),
  )
  for (const [index, batch] of batches.entries()) {
    const { errorCode, baseOffset } = await produce(client, place, batch)
    assert.deepEqual([errorCode, baseOffset], [ErrorCode.none, 2 * index])
  }
  for (let index = 1; index < 6; index++) {
    const { errorCode, baseOffset } = await produce(client, place, batches[index])
    assert.deepEqual([errorCode, baseOffset], [ErrorCode.none, 2 * index])
  }
  const forgotten = await produce(client, place, batches[0])
  assert.equal(forgotten.errorCode, ErrorCode.outOfOrderSequenceNumber)
  assert.equal(await endOf(place), 12)
})

test('a batch that is sent again while the first is in flight is stored once', async () => {
  const place = await createTopic(client, 'in-flight')
  const producerId = await newProducerId()
  const batch = batchOf(['a'], { producerId, producerEpoch: 0, baseSequence: 0 })
  using other = await RawClient.connect({ port: broker.port })
  const answers = await Promise.all([client, other, client].map(one => produce(one, place, batch)))
  assert.deepEqual(
    answers.map(({ errorCode, baseOffset }) => [errorCode, baseOffset]),
    [0, 0, 0].map(() => [ErrorCode.none, 0]),
  )
  assert.equal(await endOf(place), 1)
})

test('a gap, an old epoch and a sequence out of turn are refused', async () => {
  const place = await createTopic(client, 'sequences')
  const producerId = await newProducerId()
  const send = async (producerEpoch: number, baseSequence: number) =>
    (await produce(client, place, batchOf(['x'], { producerId, producerEpoch, baseSequence }))).errorCode
  assert.equal(await send(1, 5), ErrorCode.none) // a producer without stored state may begin anywhere
  assert.equal(await send(1, 7), ErrorCode.outOfOrderSequenceNumber)
  assert.equal(await send(1, 6), ErrorCode.none)
  assert.equal(await send(0, 7), ErrorCode.invalidProducerEpoch)
  assert.equal(await send(2, 7), ErrorCode.outOfOrderSequenceNumber) // a new epoch begins with 0
  assert.equal(await send(2, 0), ErrorCode.none)
  assert.equal(await endOf(place), 3)
})

test('sequences go on with 0 after the largest', async () => {
  const place = await createTopic(client, 'wrapping')
  const producerId = await newProducerId()
  const send = async (baseSequence: number, values: string[]) =>
    (await produce(client, place, batchOf(values, { producerId, producerEpoch: 0, baseSequence }))).errorCode
  assert.equal(await send(0x7fff_fffe, ['a', 'b', 'c']), ErrorCode.none)
  assert.equal(await send(1, ['d']), ErrorCode.none)
  assert.equal(await send(0x7fff_fffe, ['a', 'b', 'c']), ErrorCode.none)
  assert.equal(await endOf(place), 4)
})

test('what a producer sends again after the broker was started anew is stored once', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'millrace-restart-'))
  const settings = { topics: { orders: 1 }, overrides: { 'log.dirs': directory } }
  const place = { topic: 'orders' }
  let batches: Buffer[]
  {
    await using first = await startBroker(settings)
    using own = await RawClient.connect({ port: first.port })
    const producerId = await newProducerId(own)
    batches = [0, 1, 2].map(index => batchOf([`${index}`], { producerId, producerEpoch: 0, baseSequence: index }))
    for (const batch of batches) assert.equal((await produce(own, place, batch)).errorCode, ErrorCode.none)
  }
  await using again = await startBroker(settings)
  using own = await RawClient.connect({ port: again.port })
  assert.notEqual(await newProducerId(own), decodeBatchHeader(batches[0]).producerId)
  const last = await produce(own, place, batches[2])
  assert.deepEqual([last.errorCode, last.baseOffset], [ErrorCode.none, 2])
  const { producerId } = decodeBatchHeader(batches[0])
  const next = await produce(own, place, batchOf(['3'], { producerId, producerEpoch: 0, baseSequence: 3 }))
  assert.deepEqual([next.errorCode, next.baseOffset], [ErrorCode.none, 3])
  const { records } = await fetch(own, place)
  assert.deepEqual(valuesOf(records), ['0', '1', '2', '3'])
  const epochs = [...batchSpans(records!)].map(({ at }) => decodeBatchHeader(records!, at).partitionLeaderEpoch)
  assert.ok(epochs[3] > epochs[0], 'a new leader has a new epoch, which batches and offsets carry')
  await again.close()
  await rm(directory, { recursive: true })
})

test('a producer that was idle past its expiry goes on with its sequence', async () => {
  const overrides = { 'producer.id.expiration.ms': '100', 'producer.id.expiration.check.interval.ms': '20' }
  await using own = await startBroker({ topics: { orders: 1 }, overrides })
  using idle = await RawClient.connect({ port: own.port })
  const producerId = await newProducerId(idle)
  const place = { topic: 'orders' }
  const send = async (baseSequence: number) =>
    (await produce(idle, place, batchOf(['x'], { producerId, producerEpoch: 0, baseSequence }))).errorCode
  assert.equal(await send(0), ErrorCode.none)
  assert.equal(await send(9), ErrorCode.outOfOrderSequenceNumber)
  using patience = new Patience(10_000)
  let errorCode = await send(5)
  while (errorCode !== ErrorCode.none && !patience.isOver) {
    await new Promise(resolve => setTimeout(resolve, 50))
    errorCode = await send(5)
  }
  assert.equal(errorCode, ErrorCode.none)
})

test('a transaction is refused with a code that no client retries, and says why', async () => {
  const place = await createTopic(client, 'transactional')
  const init = await client.call(api.initProducerId, 5, { transactionalId: 'tx', transactionTimeoutMs: 1000 })
  assert.equal(init.errorCode, ErrorCode.transactionalIdAuthorizationFailed)
  const fields = { producerId: 1, producerEpoch: 0, baseSequence: 0, isTransactional: true }
  const { errorCode, errorMessage } = await produce(client, place, batchOf(['a'], fields), { transactionalId: 'tx' })
  assert.equal(errorCode, ErrorCode.transactionalIdAuthorizationFailed)
  assert.match(errorMessage!, /transactions/)
  for (const version of [1, 3, 4, 6]) {
    const answer = await client.call(
      api.findCoordinator,
      version,
      version >= 4 ? { keyType: 1, coordinatorKeys: ['tx'] } : { keyType: 1, key: 'tx' },
    )
    const found = version >= 4 ? answer.coordinators[0] : answer
    assert.equal(found.errorCode, ErrorCode.transactionalIdAuthorizationFailed)
    assert.match(found.errorMessage!, /transactions/)
  }
  assert.equal(await endOf(place), 0)
})

test('with LogAppendTime every record has the time of the broker', async () => {
  const place = await createTopic(client, 'append-time', { configs: { 'message.timestamp.type': 'LogAppendTime' } })
  const { errorCode, logAppendTimeMs } = await produce(client, place, batchOf(['a', 'b'], { timestamp: 1000 }))
  assert.equal(errorCode, ErrorCode.none)
  assert.ok(Math.abs(logAppendTimeMs - Date.now()) < 60_000)
  const { records } = await fetch(client, place)
  const { maxTimestamp, timestampType } = decodeBatchHeader(records!)
  assert.deepEqual([maxTimestamp, timestampType], [BigInt(logAppendTimeMs), 'LogAppendTime'])
})

test('timestamps too far from now are refused, record by record', async () => {
  const configs = { 'message.timestamp.before.max.ms': '60000', 'message.timestamp.after.max.ms': '60000' }
  const place = await createTopic(client, 'time-bounds', { configs })
  const now = Date.now()
  for (const timestamp of [now - 600_000, now + 600_000]) {
    const { errorCode, recordErrors, baseOffset } = await produce(client, place, batchOf(['a', 'b'], { timestamp }))
    assert.deepEqual([errorCode, baseOffset], [ErrorCode.invalidTimestamp, -1])
    assert.deepEqual(
      recordErrors.map(one => one.batchIndex),
      [0, 1],
    )
  }
  assert.equal((await produce(client, place, batchOf(['a'], { timestamp: now }))).errorCode, ErrorCode.none)
})

test('a topic that is compacted refuses records without a key, each by its index', async () => {
  const place = await createTopic(client, 'compacted', { configs: { 'cleanup.policy': 'compact' } })
  for (const version of [3, 7, 8, 9, 13]) {
    const answer = await produce(client, place, batchOf(['a', 'b'], { key: null }), { version })
    const { errorCode, errorMessage, recordErrors } = answer
    assert.equal(errorCode, ErrorCode.invalidRecord)
    if (version >= 8) assert.match(errorMessage ?? '', /2 record errors.*: Compacted topic.* without key/)
    assert.deepEqual(
      recordErrors.map(one => one.batchIndex),
      version >= 8 ? [0, 1] : [],
    )
  }
  assert.equal((await produce(client, place, batchOf(['a']))).errorCode, ErrorCode.none)
})

test('a topic with a codec of its own stores in it what comes in another', async () => {
  const place = await createTopic(client, 'recompressed', { configs: { 'compression.type': 'zstd' } })
  for (const codec of Object.values(Codec)) {
    assert.equal((await produce(client, place, batchOf(['a', 'b'], { codec }))).errorCode, ErrorCode.none)
  }
  const { records } = await fetch(client, place)
  for (const { at } of batchSpans(records!)) assert.equal(decodeBatchHeader(records!, at).codec, Codec.zstd)
  assert.deepEqual(
    recordsOf(records).map(record => record.offset),
    Object.values(Codec).flatMap((_, index) => [2 * index, 2 * index + 1]),
  )
})

test('produces that are sent without waiting are answered in order, and stored in order', async () => {
  const place = await createTopic(client, 'pipelined')
  const ids = Array.from({ length: 50 }, (_, index) =>
    client.send(api.produce.request, 9, {
      ...{ transactionalId: null, acks: -1, timeoutMs: 10_000 },
      topicData: [{ name: place.topic, partitionData: [{ index: 0, records: batchOf([String(index)]) }] }],
    }),
  )
  for (const [index, id] of ids.entries()) {
    const { responses } = await client.answer(api.produce.response, 9, id)
    const { errorCode, baseOffset } = responses[0].partitionResponses[0]
    assert.deepEqual([errorCode, baseOffset], [ErrorCode.none, index])
  }
  const { records } = await fetch(client, place)
  assert.deepEqual(
    valuesOf(records),
    ids.map((_, index) => String(index)),
  )
})

test('each partition of a request stands for itself', async () => {
  const { topic } = await createTopic(client, 'mixed', { partitions: 2 })
  const { responses } = await client.call(api.produce, 9, {
    ...{ acks: 1, timeoutMs: 10_000 },
    topicData: [
      {
        name: topic,
        partitionData: [
          { index: 0, records: batchOf(['fine']) },
          { index: 7, records: batchOf(['nowhere']) },
          { index: 1, records: null },
        ],
      },
      { name: 'no-such-topic', partitionData: [{ index: 0, records: batchOf(['nowhere']) }] },
    ],
  })
  assert.deepEqual(
    responses.map(response => response.partitionResponses.map(one => [one.index, one.errorCode])),
    [
      [
        [0, ErrorCode.none],
        [7, ErrorCode.unknownTopicOrPartition],
        [1, ErrorCode.invalidRecord],
      ],
      [[0, ErrorCode.unknownTopicOrPartition]],
    ],
  )
})
