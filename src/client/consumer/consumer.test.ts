import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ErrorCode } from '../../base/error-code.ts'
import type { Client } from '../client.ts'
import type { FakeCluster, Mischief } from '../fixtures/fake-cluster.ts'
import { FakeGroup } from '../fixtures/fake-group.ts'
import { first, partition, readerWorld } from '../fixtures/reader-world.ts'
import { sampleBatch } from '../fixtures/sample-batch.ts'
import type { MillraceError } from '../millrace-error.ts'
import type { Consumer } from './consumer.ts'

/** Offsets that come out within so much time. */
async function offsetsWithin(
  consumer: Consumer,
  finish: <T>(p: Promise<T>) => Promise<T>,
  ms: number,
): Promise<number[]> {
  const offsets: number[] = []
  const poll = async () => {
    const batches = await consumer.poll({ timeoutMs: ms })
    for (const { records } of batches) offsets.push(...records.map(({ offset }) => offset))
    return batches.length > 0
  }
  while (await finish(poll()));
  return offsets
}

const failure = (promise: Promise<unknown>) =>
  promise.then(
    () => assert.fail('it should have failed'),
    (error: MillraceError) => error,
  )

function fetchAnswer(data: object): Mischief {
  const partitions = [{ partitionIndex: 0, highWatermark: -1, records: Buffer.alloc(0), ...data }]
  const responses = [{ topicId: 'AAAAAAAAAAAAAAAAAAAAAQ', partitions }]
  return { type: 'answer', body: { sessionId: 1, responses } }
}

test('records come in order, once, with everything that belongs to them', async () => {
  const { consumer, finish } = await readerWorld([[0, 1, 2], [3]])
  consumer.assign([partition])
  const [batch] = await finish(consumer.poll())
  assert.deepEqual(
    batch.records.map(({ offset, timestamp, key, value }) => [offset, timestamp, key, value?.toString()]),
    [0, 1, 2, 3].map(offset => [offset, BigInt(1000 + offset), null, `${offset}`]),
  )
  assert.deepEqual([batch.topic, batch.partition, batch.nextOffset, batch.lag], ['orders', 0, 4, 0])
  assert.deepEqual([consumer.position(partition), consumer.lag(partition)], [4, 0])
  assert.deepEqual(await finish(consumer.poll({ timeoutMs: 100 })), [])
})

test('reading begins where the assignment says', async () => {
  for (const [offset, expected] of [
    [2, [2, 3]],
    ['earliest', [0, 1, 2, 3]],
    ['latest', []],
    [{ timestamp: 5n }, []],
  ] as const) {
    const { consumer, finish } = await readerWorld([
      [0, 1],
      [2, 3],
    ])
    consumer.assign([{ ...partition, offset }])
    assert.deepEqual(await offsetsWithin(consumer, finish, 1500), expected)
  }
})

test('an idle reader asks about twice a second, and gets what comes at once', async () => {
  const { consumer, cluster, world, finish, append } = await readerWorld([])
  consumer.assign([partition])
  await finish(consumer.poll({ timeoutMs: 1000 }))
  const before = cluster.asked('Fetch').length
  await world.advance(10_000)
  const asked = cluster.asked('Fetch').length - before
  assert.ok(asked >= 18 && asked <= 21, `${asked}`)
  const start = world.nowMs
  const poll = consumer.poll({ timeoutMs: 5000 })
  append([0])
  assert.equal((await finish(poll)).length, 1)
  assert.ok(world.nowMs - start < 30)
})

test('a fetch after the first says only what has changed', async () => {
  const { consumer, cluster, finish } = await readerWorld([[0], [1]])
  cluster.growTopic('orders', 3)
  consumer.assign([0, 1, 2].map(number => ({ topic: 'orders', partition: number })))
  await offsetsWithin(consumer, finish, 2000)
  const fetches = cluster.asked('Fetch').map(({ body }) => body)
  const inSession = fetches.filter(({ sessionEpoch }) => sessionEpoch > 0)
  assert.ok(inSession.length > 3)
  assert.deepEqual(inSession.at(-1)?.topics, [])
})

test('a broker that has forgotten the session is told everything again, and nothing is skipped', async () => {
  const { consumer, cluster, finish, append } = await readerWorld([[0], [1]])
  consumer.assign([partition])
  assert.deepEqual(await offsetsWithin(consumer, finish, 700), [0, 1])
  cluster.mischief = first('Fetch', {
    type: 'answer',
    body: { errorCode: ErrorCode.fetchSessionIdNotFound, responses: [] },
  })
  append([2])
  assert.deepEqual(await offsetsWithin(consumer, finish, 700), [2])
})

test('a committed offset in a gap that compaction left is passed, up to the end', async () => {
  const { consumer, cluster, finish } = await readerWorld([], { groupId: 'g' })
  cluster.log('orders').put(sampleBatch([0, 2, 5], {}, 10))
  const group = new FakeGroup()
  group.offsets.set('orders-0', { offset: 7, leaderEpoch: 0 })
  cluster.groups.set('g', group)
  consumer.assign([partition])
  assert.deepEqual(await offsetsWithin(consumer, finish, 1000), [])
  assert.deepEqual([consumer.position(partition), consumer.lag(partition)], [10, 0])
  await finish(consumer.commit())
  assert.equal(group.offsets.get('orders-0')?.offset, 10)
})

test('a committed offset that was deleted makes the policy decide, by what the leader says', async () => {
  for (const [offsetReset, expected] of [
    ['earliest', [8, 9]],
    ['latest', []],
  ] as const) {
    const { consumer, cluster, finish } = await readerWorld(
      [
        [0, 1, 2, 3, 4, 5, 6, 7],
        [8, 9],
      ],
      { groupId: 'g', offsetReset },
    )
    const group = new FakeGroup()
    group.offsets.set('orders-0', { offset: 5, leaderEpoch: 0 })
    cluster.groups.set('g', group)
    cluster.log('orders').logStartOffset = 8
    // The log start in the answer is -1, as with old brokers: it must not be taken for an offset.
    consumer.assign([partition])
    assert.deepEqual(await offsetsWithin(consumer, finish, 2000), expected)
    assert.equal(consumer.position(partition), 10)
  }
})

test('errors never make the policy decide: a coordinator that is loading is waited for', async () => {
  const { consumer, cluster, finish } = await readerWorld([[0, 1, 2, 3]], { groupId: 'g', offsetReset: 'latest' })
  const group = new FakeGroup()
  group.offsets.set('orders-0', { offset: 2, leaderEpoch: 0 })
  cluster.groups.set('g', group)
  const failing = (errorCode: ErrorCode): Mischief => ({
    type: 'answer',
    body: { groups: [{ groupId: 'g', topics: [], errorCode }] },
  })
  const codes = [
    ErrorCode.coordinatorLoadInProgress,
    ErrorCode.notCoordinator,
    ErrorCode.unstableOffsetCommit,
    ErrorCode.unknownServerError,
  ]
  cluster.mischief = first('OffsetFetch', ...codes.map(failing), { type: 'close' })
  consumer.assign([partition])
  assert.deepEqual(await offsetsWithin(consumer, finish, 8000), [2, 3])
})

test('without an offset and with reset none the application is told, and can seek', async () => {
  const { consumer, finish } = await readerWorld([[0, 1]], { groupId: 'g', offsetReset: 'none' })
  consumer.assign([partition])
  const error = await finish(failure(consumer.poll()))
  assert.equal(error.code, 'NO_OFFSET')
  assert.match(error.message, /orders-0: no offset is committed, and offsetReset is none; seek/)
  consumer.seek(partition, 1)
  assert.deepEqual(await offsetsWithin(consumer, finish, 300), [1])
  consumer.seek(partition, 77)
  assert.match((await finish(failure(consumer.poll()))).message, /offset 77 is gone/)
})

test('seeking drops what was fetched ahead, and what was handed out before is stale', async () => {
  const { consumer, finish } = await readerWorld(
    [
      [0, 1, 2, 3],
      [4, 5],
    ],
    { maxRecords: 2 },
  )
  consumer.assign([partition])
  const [batch] = await finish(consumer.poll())
  assert.equal(batch.isStale, false)
  consumer.seek(partition, 4)
  assert.equal(batch.isStale, true)
  assert.deepEqual(await offsetsWithin(consumer, finish, 300), [4, 5])
  consumer.seek(partition, 'earliest')
  assert.equal(consumer.position(partition), undefined, 'it is being looked up')
  assert.deepEqual(await offsetsWithin(consumer, finish, 300), [0, 1, 2, 3, 4, 5])
  assert.throws(() => consumer.seek(partition, -1), { code: 'INVALID_ARGUMENT' })
  assert.throws(() => consumer.seek({ topic: 'orders', partition: 9 }, 0), { code: 'NOT_ASSIGNED' })
})

test('a paused partition hands out nothing, the others go on', async () => {
  const { consumer, cluster, finish } = await readerWorld([[0]])
  cluster.growTopic('orders', 2)
  cluster.log('orders', 1).put(sampleBatch([0]))
  consumer.assign([partition, { topic: 'orders', partition: 1 }])
  consumer.pause([partition])
  const seen: number[] = []
  for (let i = 0; i < 3; i++) {
    for (const batch of await finish(consumer.poll({ timeoutMs: 300 }))) seen.push(batch.partition)
  }
  assert.deepEqual(seen, [1])
  consumer.resume([partition])
  assert.deepEqual(
    (await finish(consumer.poll())).map(batch => batch.partition),
    [0],
  )
})

test('a leader that is killed is left for the new one, and nothing is skipped', async () => {
  const { consumer, cluster, world, finish, append } = await readerWorld([[0]], {}, { nodes: 3 })
  consumer.assign([partition])
  assert.deepEqual(await offsetsWithin(consumer, finish, 600), [0])
  cluster.node(1).host.crash('kill')
  cluster.moveLeader('orders', 0, 2)
  append([1], 1)
  const before = world.nowMs
  const [batch] = await finish(consumer.poll({ timeoutMs: 60_000 }))
  assert.equal(batch.records[0].offset, 1)
  assert.ok(world.nowMs - before < 1500, `${world.nowMs - before}`)
})

test('a leader that says nothing any more is left for the new one within seconds', async () => {
  const { consumer, cluster, world, finish, append } = await readerWorld([[0]], {}, { nodes: 3 })
  consumer.assign([partition])
  assert.deepEqual(await offsetsWithin(consumer, finish, 600), [0])
  cluster.node(1).host.crash('power')
  cluster.moveLeader('orders', 0, 2)
  append([1], 1)
  const before = world.nowMs
  assert.equal((await finish(consumer.poll({ timeoutMs: 60_000 }))).length, 1)
  assert.ok(world.nowMs - before < 15_000, `${world.nowMs - before}`)
})

for (const hasRead of [true, false]) {
  test(`a fetch that hangs at an old leader is not waited for, ${hasRead ? 'in the middle' : 'at the start'}`, async () => {
    const { consumer, cluster, client, world, finish, append } = await readerWorld([[0]], {}, { nodes: 2 })
    const hang = () => {
      cluster.mischief = ({ api, nodeId }) => (api === 'Fetch' && nodeId === 1 ? { type: 'silence' } : undefined)
    }
    if (!hasRead) hang()
    consumer.assign([{ ...partition, offset: 0 }])
    assert.equal((await offsetsWithin(consumer, finish, 600)).length, hasRead ? 1 : 0)
    hang()
    await world.advance(1000)
    cluster.moveLeader('orders', 0, 2)
    append([1], 1)
    // Somebody else has the metadata refreshed.
    await finish(client.producer().send({ topic: 'orders', value: 'x' }))
    const before = world.nowMs
    assert.equal((await finish(consumer.poll({ timeoutMs: 60_000 }))).length, 1)
    assert.ok(world.nowMs - before < 1000, `${world.nowMs - before}`)
  })
}

test('a log that was cut behind the position is read again from where it parts', async () => {
  const { consumer, cluster, finish, append } = await readerWorld([
    [0, 1],
    [2, 3],
  ])
  consumer.assign([partition])
  assert.deepEqual(await offsetsWithin(consumer, finish, 600), [0, 1, 2, 3])
  cluster.log('orders').truncate(2)
  cluster.moveLeader('orders', 0, 1)
  append([2, 3, 4], 1)
  assert.deepEqual(await offsetsWithin(consumer, finish, 1500), [2, 3, 4])
})

test('of a cut log that was only read ahead, the application sees the new records', async () => {
  const { consumer, cluster, finish, append } = await readerWorld(
    [
      [0, 1],
      [2, 3],
    ],
    { maxRecords: 2, offsetReset: 'none' },
  )
  consumer.assign([{ ...partition, offset: 0 }])
  const [batch] = await finish(consumer.poll())
  assert.equal(batch.nextOffset, 2)
  cluster.log('orders').truncate(2)
  cluster.moveLeader('orders', 0, 1)
  append([2, 4], 1)
  consumer.pause([partition])
  await finish(consumer.poll({ timeoutMs: 1500 }))
  consumer.resume([partition])
  assert.deepEqual(await offsetsWithin(consumer, finish, 1000), [2, 4])
})

test('with reset none a cut log is the application’s matter', async () => {
  const { consumer, cluster, finish, append } = await readerWorld(
    [
      [0, 1],
      [2, 3],
    ],
    { offsetReset: 'none' },
  )
  consumer.assign([{ ...partition, offset: 0 }])
  assert.deepEqual(await offsetsWithin(consumer, finish, 600), [0, 1, 2, 3])
  cluster.log('orders').truncate(2)
  cluster.moveLeader('orders', 0, 1)
  append([2], 1)
  const error = await finish(failure(consumer.poll({ timeoutMs: 20_000 })))
  assert.equal(error.code, 'LOG_TRUNCATED')
})

test('a batch with a wrong checksum is reported, again and again, until it is passed', async () => {
  const { consumer, cluster, finish } = await readerWorld([[0], [1], [2]])
  cluster.log('orders').batches[1].bytes[65] ^= 1
  consumer.assign([partition])
  assert.equal((await finish(consumer.poll()))[0].nextOffset, 1)
  const error = await finish(failure(consumer.poll()))
  assert.deepEqual([error.code, error.errorCode], ['CORRUPT_MESSAGE', ErrorCode.corruptMessage])
  assert.match(
    error.message,
    /orders-0: the batch at offset 1 cannot be read: the CRC of the batch is wrong. Seek past it/,
  )
  consumer.seek(partition, 2)
  assert.deepEqual(await offsetsWithin(consumer, finish, 300), [2])
})

test('records in front of a batch that cannot be unpacked come first; it is never passed over', async () => {
  const { consumer, cluster, finish } = await readerWorld([[0]], { checkCrcs: false })
  const broken = sampleBatch([1, 2], { codec: 1 })
  broken.fill(0xff, 61)
  const tooMany = sampleBatch([3])
  tooMany.writeInt32BE(5, 57)
  for (const batch of [broken, tooMany, sampleBatch([4])]) cluster.log('orders').put(batch)
  consumer.assign([partition])
  assert.equal((await finish(consumer.poll()))[0].nextOffset, 1)
  for (let i = 0; i < 2; i++) {
    const error = await finish(failure(consumer.poll({ timeoutMs: 10_000 })))
    assert.match(error.message, /orders-0: the batch at offset 1 cannot be read/)
  }
  consumer.seek(partition, 3)
  assert.equal((await finish(consumer.poll()))[0].nextOffset, 4, 'the record that is there')
  assert.match((await finish(failure(consumer.poll()))).message, /the records of the batch are malformed/)
  consumer.seek(partition, 4)
  assert.deepEqual(await offsetsWithin(consumer, finish, 300), [4])
})

test('a fault in one partition does not take records of another', async () => {
  const { consumer, cluster, finish } = await readerWorld([[0]], { checkCrcs: false })
  cluster.growTopic('orders', 2)
  const broken = sampleBatch([0], { codec: 1 })
  broken.fill(0xff, 61)
  cluster.log('orders', 1).put(broken)
  consumer.assign([partition, { topic: 'orders', partition: 1 }])
  const seen: string[] = []
  for (let i = 0; i < 4; i++) {
    const outcome = await finish(consumer.poll({ timeoutMs: 600 }).catch((error: MillraceError) => error.code))
    if (typeof outcome === 'string') seen.push(outcome)
    else for (const batch of outcome) seen.push(`records of ${batch.partition}`)
  }
  assert.deepEqual(seen.sort(), ['CORRUPT_MESSAGE', 'records of 0'])
})

test('a consumer that was stopped goes on when it is asked to', async () => {
  const { consumer, finish } = await readerWorld([[0]])
  consumer.assign([partition])
  consumer.stop()
  assert.equal((await finish(consumer.poll())).length, 1)
})

test('a topic that may not be read is an error, and read once it may', async () => {
  const { consumer, cluster, finish } = await readerWorld([[0]])
  cluster.mischief = first('Fetch', fetchAnswer({ errorCode: ErrorCode.topicAuthorizationFailed }))
  consumer.assign([partition])
  assert.equal((await finish(failure(consumer.poll()))).code, 'TOPIC_AUTHORIZATION_FAILED')
  assert.equal((await finish(consumer.poll({ timeoutMs: 10_000 }))).length, 1)
})

test('a closer replica is read from when the leader says so, and left when it fails', async () => {
  const { consumer, cluster, finish, append } = await readerWorld([[0]], {}, { nodes: 2 })
  const { log } = cluster.topics.get('orders')!.partitions[0]
  cluster.mischief = request => {
    if (request.api !== 'Fetch') return undefined
    if (request.nodeId === 1) return log.nextOffset === 1 ? fetchAnswer({ preferredReadReplica: 2 }) : undefined
    return log.nextOffset === 1
      ? fetchAnswer({ records: log.read(0, 999), highWatermark: 1 })
      : fetchAnswer({ errorCode: ErrorCode.notLeaderOrFollower })
  }
  consumer.assign([partition])
  const [batch] = await finish(consumer.poll())
  assert.equal(batch.records.length, 1)
  assert.deepEqual([...new Set(cluster.asked('Fetch').map(({ nodeId }) => nodeId))], [1, 2])
  append([1])
  assert.deepEqual(await offsetsWithin(consumer, finish, 2000), [1])
})

test('old brokers without sessions, topic ids and epochs are read too', async () => {
  const { consumer, cluster, finish } = await readerWorld([[0, 1]], { groupId: 'g' })
  const old = {
    Metadata: 5,
    Fetch: 4,
    ListOffsets: 1,
    OffsetFetch: 1,
    OffsetCommit: 2,
    FindCoordinator: 0,
    ApiVersions: 0,
  }
  Object.assign(cluster.node(1).maxVersions, old)
  consumer.assign([partition])
  assert.deepEqual(await offsetsWithin(consumer, finish, 1000), [0, 1])
  await finish(consumer.commit())
  assert.deepEqual(await finish(consumer.committed([partition])), [2])
})

test('a topic that was created anew is read from its start', async () => {
  const { consumer, cluster, finish } = await readerWorld([[0, 1, 2]])
  consumer.assign([partition])
  assert.deepEqual(await offsetsWithin(consumer, finish, 600), [0, 1, 2])
  cluster.topics.delete('orders')
  cluster.addTopic('orders', 1)
  cluster.log('orders').put(sampleBatch([0]))
  assert.deepEqual(await offsetsWithin(consumer, finish, 3000), [0])
})

test('a topic that was created anew is read from its start although it has the old offsets too', async () => {
  const { consumer, cluster, finish } = await readerWorld([[0, 1, 2]])
  consumer.assign([partition])
  assert.deepEqual(await offsetsWithin(consumer, finish, 600), [0, 1, 2])
  cluster.topics.delete('orders')
  cluster.addTopic('orders', 1)
  cluster.log('orders').put(sampleBatch([0, 1, 2, 3, 4]))
  assert.deepEqual(await offsetsWithin(consumer, finish, 3000), [0, 1, 2, 3, 4])
})

/** When a leader is next asked where an epoch ends, the topic is another one, and the client knows before it has the answer. */
function createAnewWhenAsked(cluster: FakeCluster, client: Client, offsets: readonly number[]): void {
  cluster.mischief = ({ api }) => {
    if (api !== 'OffsetForLeaderEpoch') return undefined
    cluster.mischief = () => undefined
    cluster.topics.delete('orders')
    cluster.addTopic('orders', 1)
    cluster.log('orders').put(sampleBatch(offsets))
    void client.producer().send({ topic: 'orders', value: 'x' })
    return { type: 'after', ms: 1000 }
  }
}

test('a topic that is created anew after its committed offset was looked up is read from its start', async () => {
  const { consumer, cluster, finish, client } = await readerWorld([[0, 1, 2]], { groupId: 'g', autoCommit: false })
  consumer.subscribe(['orders'])
  assert.deepEqual(await offsetsWithin(consumer, finish, 2000), [0, 1, 2])
  await finish(consumer.commit())
  await finish(consumer.close())
  const next = client.consumer({ groupId: 'g', offsetReset: 'earliest', autoCommit: false })
  createAnewWhenAsked(cluster, client, [0, 1, 2, 3])
  next.subscribe(['orders'])
  assert.deepEqual(await offsetsWithin(next, finish, 20_000), [0, 1, 2, 3, 4])
})

test('an offset of a deleted topic is not committed for the one that was created anew', async () => {
  const { consumer, cluster, finish, client } = await readerWorld([[0, 1, 2]], { groupId: 'g', autoCommit: false })
  consumer.subscribe(['orders'])
  assert.deepEqual(await offsetsWithin(consumer, finish, 2000), [0, 1, 2])
  // As long as a fetch is under way its partition is not left.
  cluster.mischief = ({ api }) => (api === 'Fetch' ? { type: 'after', ms: 10_000 } : undefined)
  assert.deepEqual(await offsetsWithin(consumer, finish, 2000), [])
  cluster.topics.delete('orders')
  cluster.addTopic('orders', 1)
  await finish(client.producer().send({ topic: 'orders', value: 'x' }))
  await finish(consumer.commit())
  assert.deepEqual([...(cluster.groups.get('g')?.offsets ?? [])], [])
})

test('what was fetched of a topic before it was created anew is handed out first', async () => {
  const { consumer, cluster, finish, client } = await readerWorld([[0, 1, 2]], { maxRecords: 1 })
  consumer.assign([partition])
  const [first] = await finish(consumer.poll())
  cluster.topics.delete('orders')
  cluster.addTopic('orders', 1)
  cluster.log('orders').put(sampleBatch([0, 1, 2, 3]))
  await finish(client.producer().send({ topic: 'orders', value: 'x' }))
  assert.deepEqual(
    [first.records[0].offset, ...(await offsetsWithin(consumer, finish, 3000))],
    [0, 1, 2, 0, 1, 2, 3, 4],
  )
})

test('with reset none a topic that was created anew is the application’s matter, and it is told once in a while', async () => {
  const { consumer, cluster, finish, world } = await readerWorld([[0, 1, 2]], { offsetReset: 'none' })
  consumer.assign([{ ...partition, offset: 0 }])
  assert.deepEqual(await offsetsWithin(consumer, finish, 600), [0, 1, 2])
  cluster.topics.delete('orders')
  cluster.addTopic('orders', 1)
  cluster.log('orders').put(sampleBatch([0, 1, 2, 3]))
  await assert.rejects(finish(consumer.poll({ timeoutMs: 3000 })), { code: 'NO_OFFSET' })
  await world.advance(1000)
  assert.deepEqual(await finish(consumer.poll({ timeoutMs: 100 })), [])
  consumer.seek(partition, 2)
  assert.deepEqual(await offsetsWithin(consumer, finish, 3000), [2, 3])
})

for (const [name, options] of [
  ['of one partition', { partitionMaxBytes: 600 }],
  ['of all together', { bufferBytes: 2000 }],
] as const) {
  test(`fetching ahead stops at the bound ${name}, and goes on as records are taken`, async () => {
    const batches = Array.from({ length: 50 }, (_, i) => Array.from({ length: 20 }, (_, j) => i * 20 + j))
    const { consumer, cluster, world, finish } = await readerWorld(batches, options)
    cluster.log('orders').read = limited(cluster.log('orders').read.bind(cluster.log('orders')), 600)
    consumer.assign([{ ...partition, offset: 0 }])
    await world.advance(5000)
    const fetches = cluster.asked('Fetch').length
    await world.advance(5000)
    assert.equal(cluster.asked('Fetch').length, fetches, 'nobody takes them')
    assert.ok(fetches < 6)
    assert.equal((await offsetsWithin(consumer, finish, 700)).length, 1000)
  })
}

function limited(read: (offset: number, maxBytes: number) => Buffer, limit: number): typeof read {
  return offset => read(offset, limit)
}

test('run works on one partition in order, and on several at the same time', async () => {
  const { consumer, cluster, world, finish } = await readerWorld([[0], [1], [2]], { maxRecords: 1, groupId: 'g' })
  cluster.growTopic('orders', 2)
  for (const offset of [0, 1, 2]) cluster.log('orders', 1).put(sampleBatch([offset]))
  consumer.assign([partition, { topic: 'orders', partition: 1 }])
  const log: string[] = []
  const eachBatch = async (batch: { partition: number; nextOffset: number }) => {
    log.push(`${batch.partition} begins ${batch.nextOffset}`)
    await world.sleep(batch.partition === 0 ? 1000 : 100)
    log.push(`${batch.partition} ends ${batch.nextOffset}`)
    if (log.length === 12) consumer.stop()
  }
  await finish(consumer.run({ eachBatch, concurrency: 2 }))
  assert.deepEqual(
    log.filter(line => line.startsWith('0')),
    [1, 2, 3].flatMap(n => [`0 begins ${n}`, `0 ends ${n}`]),
  )
  assert.ok(log.indexOf('1 ends 3') < log.indexOf('0 ends 1'), 'the slow partition holds up nobody')
  await finish(consumer.close())
  assert.deepEqual(
    [0, 1].map(number => cluster.groups.get('g')?.offsets.get(`orders-${number}`)?.offset),
    [3, 3],
  )
})

test('a handler that throws ends run; its batch is not committed, and comes again', async () => {
  const { consumer, cluster, finish } = await readerWorld([[0], [1]], { maxRecords: 1, groupId: 'g' })
  consumer.assign([partition])
  const seen: number[] = []
  const eachBatch = ({ records: [{ offset }] }: { records: readonly { offset: number }[] }) => {
    seen.push(offset)
    if (offset === 1 && seen.length === 2) throw new Error('bad record')
    if (offset === 1) consumer.stop()
  }
  await assert.rejects(finish(consumer.run({ eachBatch })), /bad record/)
  await finish(consumer.run({ eachBatch }))
  assert.deepEqual(seen, [0, 1, 1])
  await finish(consumer.close())
  assert.equal(cluster.groups.get('g')?.offsets.get('orders-0')?.offset, 2)
})

test('iterating ends when the consumer is closed', async () => {
  const { consumer, world, finish } = await readerWorld([[0, 1], [2]], { maxRecords: 2 })
  consumer.assign([partition])
  const offsets: number[] = []
  const reading = (async () => {
    for await (const batch of consumer) for (const { offset } of batch) offsets.push(offset)
  })()
  await world.advance(1000)
  await finish(consumer.close())
  await finish(reading)
  assert.deepEqual(offsets, [0, 1, 2])
  await assert.rejects(consumer.poll(), { code: 'CLOSED' })
})

test('closing ends in time although brokers are away', async () => {
  const { consumer, cluster, world, finish } = await readerWorld([[0]], { groupId: 'g' })
  consumer.assign([partition])
  await finish(consumer.poll())
  await finish(consumer.poll({ timeoutMs: 10 }))
  for (const { host } of cluster.nodes) host.crash('power')
  const before = world.nowMs
  await finish(consumer.close({ timeoutMs: 2000 }))
  assert.ok(world.nowMs - before < 2100)
})

test('closing from inside of a handler ends in time, stopping from there at once', async () => {
  const { consumer, world, finish } = await readerWorld([[0]])
  consumer.assign([partition])
  const running = consumer.run({ eachBatch: () => consumer.close({ timeoutMs: 1000 }) })
  await finish(running)
  assert.ok(world.nowMs < 2500)
  const other = await readerWorld([[0]])
  other.consumer.assign([partition])
  await other.finish(other.consumer.run({ eachBatch: () => other.consumer.stop() }))
  assert.ok(other.world.nowMs < 1000)
})

test('a client that is closed closes what it made, in good order', async () => {
  const { consumer, client, cluster, finish } = await readerWorld([[0, 1]], { groupId: 'g' })
  consumer.assign([partition])
  const running = consumer.run({ eachBatch: () => undefined })
  const producer = client.producer({ lingerMs: 60_000 })
  const sent = producer.send({ topic: 'orders', value: 'x' })
  await finish(client.close())
  await finish(Promise.all([running, sent]))
  assert.equal(cluster.log('orders').nextOffset, 3)
  await assert.rejects(producer.send({ topic: 'orders', value: 'y' }), { code: 'CLOSED' })
  await assert.rejects(client.producer().send({ topic: 'orders', value: 'y' }), { code: 'CLOSED' })
})

test('a client that is destroyed ends everything that is under way', async () => {
  const { consumer, client, world, finish } = await readerWorld([])
  consumer.assign([partition])
  const polled = consumer.poll({ timeoutMs: 60_000 })
  await world.advance(1000)
  client.destroy()
  assert.deepEqual(await finish(polled), [])
  await assert.rejects(consumer.poll(), { code: 'CLOSED' })
})
