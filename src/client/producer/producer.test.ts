import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ErrorCode } from '../../base/error-code.ts'
import { ClientWorld } from '../fixtures/client-world.ts'
import type { FakeRequest, Mischief } from '../fixtures/fake-cluster.ts'
import type { MillraceError } from '../millrace-error.ts'
import type { ProducerOptions } from './producer-options.ts'
import type { ProducerRecord } from './producer-record.ts'
import { SendError } from './send-call.ts'

function records(topic: string, count: number, more: Partial<ProducerRecord> = {}): ProducerRecord[] {
  return Array.from({ length: count }, (_, i) => ({ topic, value: `${i}`, ...more }))
}

/** Does this to the first requests of an API. */
function first(api: string, ...mischiefs: readonly (Mischief | undefined)[]) {
  let seen = 0
  return (request: FakeRequest) => (request.api === api ? mischiefs[seen++] : undefined)
}

/** What a broker answers for the one partition that is in the request. */
function refuse(errorCode: ErrorCode): Mischief {
  const partitionResponses = [{ index: 0, errorCode, baseOffset: -1 }]
  return { type: 'answer', body: { responses: [{ topicId: topicIdOfFirst, name: 'orders', partitionResponses }] } }
}

const topicIdOfFirst = 'AAAAAAAAAAAAAAAAAAAAAQ'

async function ordersWorld(
  options: Parameters<typeof ClientWorld.make>[0] = {},
  producerOptions: ProducerOptions = {},
) {
  const clientWorld = await ClientWorld.make(options)
  clientWorld.cluster.addTopic('orders', 1)
  const { client, cluster, world } = clientWorld
  return {
    client,
    cluster,
    world,
    finish: <T>(promise: Promise<T>) => clientWorld.finish(promise),
    producer: client.producer(producerOptions),
  }
}

const failure = (promise: Promise<unknown>) =>
  promise.then(
    () => assert.fail('it should have failed'),
    (error: MillraceError) => error,
  )

test('a record that is sent is in the log, and its answer says where', async () => {
  const { cluster, finish, producer } = await ordersWorld()
  cluster.growTopic('orders', 2)
  const metadata = await finish(producer.send({ topic: 'orders', partition: 1, value: 'a', timestamp: 5n }))
  assert.deepEqual(metadata, { topic: 'orders', partition: 1, offset: 0, timestamp: 5n })
  assert.deepEqual(cluster.log('orders', 1).values(), ['a'])
})

test('keys, headers and tombstones arrive as they were sent', async () => {
  const { cluster, finish, producer, client } = await ordersWorld()
  const headers = [
    { key: 'h', value: 'one' },
    { key: 'h', value: null },
    { key: 'b', value: new Uint8Array([1, 2]) },
  ]
  await finish(producer.send({ topic: 'orders', key: Buffer.from('k'), value: null, headers }))
  const consumer = client.consumer()
  consumer.assign([{ topic: 'orders', partition: 0, offset: 'earliest' }])
  const [batch] = await finish(consumer.poll())
  assert.equal(batch.records[0].value, null)
  assert.equal(batch.records[0].key?.toString(), 'k')
  assert.deepEqual(
    batch.records[0].headers.map(({ key, value }) => [key, value?.toString('hex')]),
    [
      ['h', '6f6e65'],
      ['h', undefined],
      ['b', '0102'],
    ],
  )
  assert.equal(cluster.asked('Produce').length, 1)
})

test('records of one call travel together, and each answer has its own offset', async () => {
  const { cluster, finish, producer } = await ordersWorld()
  const results = await finish(producer.sendMany(records('orders', 50)))
  assert.deepEqual(
    results.map(({ offset }) => offset),
    Array.from({ length: 50 }, (_, i) => i),
  )
  assert.equal(cluster.asked('Produce').length, 1)
})

test('equal keys go to one partition, records without a key fill one batch', async () => {
  const { cluster, finish, producer } = await ordersWorld()
  cluster.growTopic('orders', 12)
  const keyed = await finish(producer.sendMany(['a', 'kafka', 'a'].map(key => ({ topic: 'orders', key, value: key }))))
  // As Kafka's own partitioner has it for 12 partitions.
  assert.deepEqual(
    keyed.map(({ partition }) => partition),
    [4, 4, 4],
  )
  const [empty] = await finish(producer.sendMany([{ topic: 'orders', key: '', value: '' }]))
  assert.equal(empty.partition, 9)
  const keyless = await finish(producer.sendMany(records('orders', 20)))
  assert.equal(new Set(keyless.map(({ partition }) => partition)).size, 1)
})

for (const compression of ['gzip', 'snappy', 'lz4', 'zstd'] as const) {
  test(`records are packed with ${compression}, large batches off the loop, and still in order`, async () => {
    const { cluster, finish, producer } = await ordersWorld({}, { compression })
    const values = Array.from({ length: 40 }, (_, i) => `${i}`.padEnd(2000, '.'))
    await finish(producer.sendMany(values.map(value => ({ topic: 'orders', value }))))
    const log = cluster.log('orders')
    assert.deepEqual(log.values(), values)
    assert.ok(log.batches.reduce((bytes, one) => bytes + one.bytes.length, 0) < 20_000)
  })
}

test('a lost answer is asked for again, and the record is there once', async () => {
  const { cluster, finish, producer } = await ordersWorld()
  cluster.mischief = first('Produce', { type: 'loseAnswer' }, { type: 'loseAnswer' })
  const { offset } = await finish(producer.send({ topic: 'orders', value: 'a' }))
  assert.equal(offset, 0)
  assert.deepEqual(cluster.log('orders').values(), ['a'])
  assert.equal(cluster.asked('Produce').length, 3)
})

test('batches that were refused once are in the log in the order of the calls', async () => {
  const { cluster, finish, producer } = await ordersWorld({}, { batchBytes: 100, lingerMs: 0 })
  cluster.mischief = first('Produce', undefined, refuse(ErrorCode.notEnoughReplicas), undefined, { type: 'loseAnswer' })
  await finish(Promise.all(records('orders', 40).map(record => producer.send(record))))
  assert.deepEqual(
    cluster.log('orders').values(),
    records('orders', 40).map(({ value }) => value),
  )
})

test('records follow the leader that an answer names, without asking for metadata', async () => {
  const { cluster, world, finish, producer } = await ordersWorld({ nodes: 2 })
  cluster.growTopic('orders', 2)
  await finish(producer.send({ topic: 'orders', partition: 0, value: 'a' }))
  const asked = cluster.asked('Metadata').length
  cluster.moveLeader('orders', 0, 2)
  const partitionResponses = [
    {
      index: 0,
      errorCode: ErrorCode.notLeaderOrFollower,
      baseOffset: -1,
      currentLeader: { leaderId: 2, leaderEpoch: 1 },
    },
  ]
  const responses = [{ topicId: topicIdOfFirst, partitionResponses }]
  cluster.mischief = first('Produce', undefined, {
    type: 'answer',
    body: { responses, nodeEndpoints: [cluster.endpointOf(2)] },
  })
  // The connection stands already.
  await finish(producer.send({ topic: 'orders', partition: 1, value: '' }))
  const before = world.nowMs
  const { offset } = await finish(producer.send({ topic: 'orders', partition: 0, value: 'b' }))
  assert.equal(offset, 1)
  assert.ok(world.nowMs - before < 50, 'there is nothing to wait for')
  assert.equal(cluster.asked('Produce').at(-1)?.nodeId, 2)
  assert.equal(cluster.asked('Metadata').length, asked)
})

test('a leader that dies is left for the new one, although it stays in the metadata', async () => {
  const { cluster, world, finish, producer } = await ordersWorld({ nodes: 3 })
  await finish(producer.send({ topic: 'orders', value: 'a' }))
  cluster.node(1).host.crash('power')
  cluster.moveLeader('orders', 0, 2)
  const before = world.nowMs
  const { offset } = await finish(producer.send({ topic: 'orders', value: 'b' }))
  assert.equal(offset, 1)
  // The dead host says nothing at all: the request has to time out first.
  assert.ok(world.nowMs - before < 45_000)
})

test('a leader whose process was killed is left within a second', async () => {
  const { cluster, world, finish, producer } = await ordersWorld({ nodes: 3 })
  await finish(producer.send({ topic: 'orders', value: 'a' }))
  cluster.node(1).host.crash('kill')
  cluster.moveLeader('orders', 0, 2)
  const before = world.nowMs
  await finish(producer.send({ topic: 'orders', value: 'b' }))
  assert.ok(world.nowMs - before < 1000, `${world.nowMs - before}`)
})

test('without a leader a record is given up after deliveryTimeoutMs, and may be with the one that led before', async () => {
  const { cluster, world, finish, producer } = await ordersWorld({}, { deliveryTimeoutMs: 5000 })
  await finish(producer.send({ topic: 'orders', value: 'a' }))
  cluster.moveLeader('orders', 0, -1)
  cluster.mischief = first('Produce', refuse(ErrorCode.notLeaderOrFollower))
  const before = world.nowMs
  const error = await finish(failure(producer.send({ topic: 'orders', value: 'b' })))
  assert.equal(error.code, 'TIMED_OUT')
  assert.match(error.message, /^1 record for orders-0 was not acknowledged within 5000 ms: .*NOT_LEADER/)
  assert.deepEqual([error.retriable, error.outcomeUnknown], [true, true])
  assert.ok(world.nowMs - before < 5100)
})

test('a record that waited for a producer id in vain says why there is none', async () => {
  const { cluster, finish, producer } = await ordersWorld({}, { deliveryTimeoutMs: 5000 })
  const body = { errorCode: ErrorCode.kafkaStorageError, producerId: -1, producerEpoch: -1 }
  cluster.mischief = request => (request.api === 'InitProducerId' ? { type: 'answer', body } : undefined)
  const error = await finish(failure(producer.send({ topic: 'orders', value: 'a' })))
  assert.match(error.message, /^1 record for orders-0 was not .* 5000 ms: a producer id: KAFKA_STORAGE_ERROR\. A disk/)
  assert.deepEqual([error.code, error.outcomeUnknown], ['TIMED_OUT', false])
})

test('of a record whose answer never came nobody knows, and those behind it are written once', async () => {
  const { cluster, finish, producer } = await ordersWorld({}, { deliveryTimeoutMs: 5000, requestTimeoutMs: 1000 })
  await finish(producer.send({ topic: 'orders', value: 'a' }))
  // It never arrives, again and again, until it is given up.
  let isGivenUp = false
  cluster.mischief = ({ api }) => (api === 'Produce' && !isGivenUp ? { type: 'silence' } : undefined)
  const error = await finish(failure(producer.send({ topic: 'orders', value: 'b' })))
  assert.deepEqual([error.code, error.outcomeUnknown], ['TIMED_OUT', true])
  isGivenUp = true
  await finish(Promise.all(['c', 'd', 'e'].map(value => producer.send({ topic: 'orders', value }))))
  assert.deepEqual(cluster.log('orders').values(), ['a', 'c', 'd', 'e'])
  const [state] = cluster.log('orders').producers.values()
  assert.equal(state.epoch, 1, 'the gap was bridged by another epoch of the same producer')
})

test('a batch that is too large for its topic is split until it fits', async () => {
  const { cluster, finish, producer } = await ordersWorld()
  const { log } = cluster.topics.get('orders')!.partitions[0]
  const append = log.append.bind(log)
  log.append = (bytes, epoch) => (bytes.length > 300 ? { errorCode: ErrorCode.messageTooLarge } : append(bytes, epoch))
  const results = await finish(producer.sendMany(records('orders', 100)))
  assert.deepEqual(
    results.map(({ offset }) => offset),
    Array.from({ length: 100 }, (_, i) => i),
  )
  assert.deepEqual(log.values()[99], '99')
  assert.equal(producer.bufferedBytes, 0)
})

test('one bad record fails alone; the error says what to do', async () => {
  const { cluster, finish, producer } = await ordersWorld({}, { batchBytes: 1, lingerMs: 0 })
  cluster.mischief = first('Produce', undefined, refuse(ErrorCode.invalidRecord))
  const error = (await finish(failure(producer.sendMany(records('orders', 4))))) as SendError
  assert.ok(error instanceof SendError)
  assert.equal(error.code, 'INVALID_RECORD')
  assert.match(error.message, /1 of 4 records: orders-0: INVALID_RECORD(?!.*key)/)
  assert.deepEqual(
    error.results.map(result => ('offset' in result ? result.offset : result.code)),
    [0, 'INVALID_RECORD', 1, 2],
  )
})

test('records for several topics are sent in one call', async () => {
  const { cluster, finish, producer } = await ordersWorld()
  cluster.addTopic('bills', 1)
  const mixed = ['orders', 'bills', 'orders'].map((topic, i) => ({ topic, value: `${i}` }))
  const results = await finish(producer.sendMany(mixed))
  assert.deepEqual(
    results.map(({ topic, offset }) => [topic, offset]),
    [
      ['orders', 0],
      ['bills', 0],
      ['orders', 1],
    ],
  )
  assert.equal(cluster.asked('Produce').length, 1)
})

test('a topic that is missing is created where brokers do that, and waited for', async () => {
  const { cluster, finish, producer } = await ordersWorld()
  cluster.autoCreatePartitions = 3
  const { offset } = await finish(producer.send({ topic: 'fresh', value: 'a' }))
  assert.equal(offset, 0)
  assert.equal(cluster.topics.get('fresh')?.partitions.length, 3)
})

test('a topic that stays missing fails after deliveryTimeoutMs where that is shorter', async () => {
  const { finish, producer, world } = await ordersWorld({}, { deliveryTimeoutMs: 2000 })
  const before = world.nowMs
  const error = await finish(failure(producer.send({ topic: 'nowhere', value: 'a' })))
  assert.equal(error.code, 'UNKNOWN_TOPIC_OR_PARTITION')
  assert.ok(world.nowMs - before >= 2000 && world.nowMs - before < 3500)
})

test('a topic that stays missing fails after maxBlockMs', async () => {
  const { finish, producer, world } = await ordersWorld({}, { maxBlockMs: 3000 })
  const before = world.nowMs
  const error = await finish(failure(producer.send({ topic: 'nowhere', value: 'a' })))
  assert.equal(error.code, 'UNKNOWN_TOPIC_OR_PARTITION')
  assert.match(error.message, /topic nowhere: .* Create the topic/)
  assert.ok(world.nowMs - before >= 3000 && world.nowMs - before < 4500)
})

test('with acks=0 a record counts as sent when its bytes have left', async () => {
  const { cluster, world, finish, producer } = await ordersWorld({}, { acks: 0 })
  const { offset } = await finish(producer.send({ topic: 'orders', value: 'a' }))
  assert.equal(offset, -1)
  await world.advance(100)
  assert.deepEqual(cluster.log('orders').values(), ['a'])
  assert.equal(cluster.asked('InitProducerId').length, 0)
})

test('without idempotence records stay in order too', async () => {
  const { cluster, finish, producer } = await ordersWorld({}, { idempotent: false, batchBytes: 100, lingerMs: 0 })
  cluster.mischief = first('Produce', undefined, refuse(ErrorCode.notEnoughReplicas))
  await finish(Promise.all(records('orders', 30).map(record => producer.send(record))))
  assert.deepEqual(
    cluster.log('orders').values(),
    records('orders', 30).map(({ value }) => value),
  )
})

test('a producer that may not be idempotent fails at once, with what is missing', async () => {
  const { cluster, finish, producer } = await ordersWorld()
  const body = { errorCode: ErrorCode.clusterAuthorizationFailed, producerId: -1, producerEpoch: -1 }
  cluster.mischief = first('InitProducerId', { type: 'answer', body })
  for (const value of ['a', 'b']) {
    const error = await finish(failure(producer.send({ topic: 'orders', value })))
    assert.equal(error.code, 'CLUSTER_AUTHORIZATION_FAILED')
  }
})

test('an id that no batch can carry is asked for again', async () => {
  const { cluster, finish, producer } = await ordersWorld()
  const bad = [
    { producerId: Number.POSITIVE_INFINITY, producerEpoch: 0 },
    { producerId: -1, producerEpoch: 0 },
    { producerId: 7, producerEpoch: -1 },
  ]
  const answers = bad.map(body => ({ type: 'answer', body: { errorCode: ErrorCode.none, ...body } }) as const)
  cluster.mischief = first('InitProducerId', ...answers)
  await finish(producer.send({ topic: 'orders', value: 'a' }))
  assert.deepEqual([...cluster.log('orders').producers.keys()], [1000])
})

test('a fenced producer goes on with another id', async () => {
  const { cluster, finish, producer } = await ordersWorld()
  await finish(producer.send({ topic: 'orders', value: 'a' }))
  cluster.mischief = first('Produce', refuse(ErrorCode.invalidProducerEpoch))
  await finish(producer.send({ topic: 'orders', value: 'b' }))
  assert.deepEqual(cluster.log('orders').values(), ['a', 'b'])
  assert.deepEqual([...cluster.log('orders').producers.keys()], [1000, 1001])
})

test('brokers without topic ids get names', async () => {
  const { cluster, finish, producer } = await ordersWorld()
  Object.assign(cluster.node(1).maxVersions, { Metadata: 8, Produce: 7, ApiVersions: 2 })
  const { offset } = await finish(producer.send({ topic: 'orders', value: 'a' }))
  assert.equal(offset, 0)
  assert.deepEqual(
    cluster.asked('Produce').map(({ version }) => version),
    [7],
  )
})

test('records wait for room, and go on as it is made', async () => {
  const { cluster, finish, producer } = await ordersWorld({}, { bufferBytes: 5000, batchBytes: 1000 })
  const value = 'x'.repeat(400)
  const sent = Promise.all(Array.from({ length: 100 }, () => producer.send({ topic: 'orders', value })))
  assert.ok(producer.bufferedBytes <= 5000)
  await finish(sent)
  assert.equal(cluster.log('orders').nextOffset, 100)
  assert.equal(producer.bufferedBytes, 0)
})

test('when no room is made, waiting ends', async () => {
  const { cluster, finish, producer } = await ordersWorld({}, { bufferBytes: 1000, maxBlockMs: 2000 })
  await finish(producer.send({ topic: 'orders', value: '' }))
  cluster.mischief = ({ api }) => (api === 'Produce' ? { type: 'silence' } : undefined)
  const stuck = failure(producer.send({ topic: 'orders', value: 'x'.repeat(900) }))
  const error = await finish(failure(producer.send({ topic: 'orders', value: 'x'.repeat(900) })))
  assert.equal(error.code, 'BUFFER_FULL')
  assert.equal(error.outcomeUnknown, false)
  void stuck
})

test('what cannot be a record is refused without touching the others', async () => {
  const { finish, producer } = await ordersWorld()
  const bad: ProducerRecord[] = [
    { topic: 'orders', value: 5 as unknown as string },
    { topic: 'orders', value: '', timestamp: Number.NaN },
    { topic: 'orders', value: '', timestamp: 2n ** 63n },
    { topic: 'orders', value: '', partition: 7 },
    { topic: 'orders', value: '', headers: [{ key: 5 as unknown as string, value: '' }] },
    { topic: 'orders', value: Buffer.alloc(1_100_000) },
  ]
  const error = (await finish(failure(producer.sendMany([...bad, { topic: 'orders', value: 'good' }])))) as SendError
  assert.deepEqual(
    error.results.map(result => ('offset' in result ? result.offset : result.code)),
    [
      'INVALID_ARGUMENT',
      'INVALID_ARGUMENT',
      'INVALID_ARGUMENT',
      'INVALID_ARGUMENT',
      'INVALID_ARGUMENT',
      'MESSAGE_TOO_LARGE',
      0,
    ],
  )
  await assert.rejects(producer.send({ topic: '', value: 'a' }), { code: 'INVALID_ARGUMENT' })
})

test('options that cannot be are refused', async () => {
  const { client } = await ordersWorld()
  for (const options of [
    { acks: 1, idempotent: true },
    { acks: 2 },
    { compression: 'brotli' },
    { maxInFlight: 6 },
    { batchBytes: -1 },
    { lingerMs: Number.NaN },
  ]) {
    assert.throws(() => client.producer(options as ProducerOptions), { code: 'INVALID_ARGUMENT' })
  }
})

test('flush sends what waits for company, and ends with the last answer', async () => {
  const { cluster, world, finish, producer } = await ordersWorld({}, { lingerMs: 60_000 })
  void producer.sendMany(records('orders', 5))
  await world.advance(1000)
  assert.equal(cluster.log('orders').nextOffset, 0)
  await finish(producer.flush())
  assert.equal(cluster.log('orders').nextOffset, 5)
  await finish(producer.flush())
})

test('closing sends what is there; afterwards nothing can be sent', async () => {
  const { cluster, finish, producer } = await ordersWorld({}, { lingerMs: 60_000 })
  const sent = producer.sendMany(records('orders', 5))
  await finish(producer.close())
  assert.equal((await sent).length, 5)
  assert.equal(cluster.log('orders').nextOffset, 5)
  await assert.rejects(producer.send({ topic: 'orders', value: 'a' }), { code: 'CLOSED' })
  await finish(producer.close())
})

test('closing ends in time although brokers are away, and nothing is left behind', async () => {
  const { cluster, world, finish, producer, client } = await ordersWorld({ nodes: 2 })
  await finish(producer.send({ topic: 'orders', value: 'a' }))
  for (const { host } of cluster.nodes) host.crash('power')
  const errors = Promise.all([1, 2].map(() => failure(producer.send({ topic: 'orders', value: 'b' }))))
  const before = world.nowMs
  await finish(producer.close({ timeoutMs: 2000 }))
  assert.ok(world.nowMs - before < 2100)
  assert.deepEqual(
    (await errors).map(({ code }) => code),
    ['CLOSED', 'CLOSED'],
  )
  await finish(client.close())
})

test('in any order of faults each record is written once and in order', async () => {
  for (let seed = 1; seed <= 15; seed++) await chaos(seed)
})

async function chaos(seed: number): Promise<void> {
  const { cluster, world, finish, producer } = await ordersWorld(
    { seed, nodes: 3 },
    { batchBytes: 120, requestTimeoutMs: 1000, deliveryTimeoutMs: 600_000 },
  )
  cluster.growTopic('orders', 3)
  const random = world.random('faults')
  let isOver = false
  cluster.mischief = ({ api }) => {
    if (isOver || !random.chance(api === 'Produce' ? 0.3 : 0.05)) return undefined
    const kinds = ['silence', 'close', 'loseAnswer', 'after'] as const
    const type = kinds[random.below(kinds.length)]
    return type === 'after' ? { type, ms: random.below(3000) } : { type }
  }
  const moves = (async () => {
    for (let i = 0; i < 20; i++) {
      await world.sleep(500)
      cluster.moveLeader('orders', random.below(3), 1 + random.below(3))
    }
    isOver = true
  })()
  const values = Array.from({ length: 300 }, (_, i) => `${i}`)
  const sent: Promise<unknown>[] = []
  for (const value of values) {
    sent.push(producer.send({ topic: 'orders', key: `${Number(value) % 7}`, value }))
    if (random.chance(0.1)) await finish(world.sleep(random.below(200)))
  }
  await finish(Promise.all([...sent, moves]))
  const logs = [0, 1, 2].map(partition => cluster.log('orders', partition).values().map(Number))
  for (const log of logs)
    assert.deepEqual(
      log,
      log.toSorted((a, b) => a - b),
      `seed ${seed}: order`,
    )
  assert.deepEqual(
    logs.flat().toSorted((a, b) => a - b),
    values.map(Number),
    `seed ${seed}: once`,
  )
}
