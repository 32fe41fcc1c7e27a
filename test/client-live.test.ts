/**
 * The client against a running cluster: Apache Kafka, Millrace, or anything else that speaks the protocol.
 *
 *   MILLRACE_TEST_BOOTSTRAP=127.0.0.1:9092 node --test test/client-live.test.ts
 *
 * It creates topics and groups of its own, and deletes them.
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  allSucceeded,
  type Client,
  type Consumer,
  createClient,
  type MillraceError,
  type ProducerRecord,
} from '../src/client/index.ts'

const bootstrapServers = process.env.MILLRACE_TEST_BOOTSTRAP
const options = {
  skip: bootstrapServers ? false : 'set MILLRACE_TEST_BOOTSTRAP=host:port to run it against a cluster',
  timeout: 60_000,
}

/** A client with a topic of its own; both are gone when the test is over. */
async function withTopic(t: TestContext, partitions = 4, configs: Record<string, string> = {}) {
  const client = createClient({ bootstrapServers: bootstrapServers! })
  const admin = client.admin()
  const topic = `live-${process.pid}-${Math.trunc(performance.now())}-${partitions}`
  allSucceeded(await admin.createTopics([{ name: topic, partitions, replicationFactor: 1, configs }]))
  t.after(async () => {
    await admin.deleteTopics([topic])
    await client.close()
  })
  const all = Array.from({ length: partitions }, (_, partition) => ({ topic, partition }))
  return { client, admin, topic, all }
}

/** All that is there, by partition. */
async function readAll(client: Client, topic: string, partitions: number, isolationLevel?: 'readCommitted') {
  const consumer = client.consumer({ isolationLevel })
  consumer.assign(
    Array.from({ length: partitions }, (_, partition) => ({ topic, partition, offset: 'earliest' as const })),
  )
  const values: string[][] = Array.from({ length: partitions }, () => [])
  for (let batches = await consumer.poll({ timeoutMs: 3000 }); batches.length > 0; ) {
    for (const batch of batches) for (const { value } of batch) values[batch.partition].push(String(value))
    batches = await consumer.poll({ timeoutMs: 1000 })
  }
  await consumer.close()
  return values
}

/** Brokers hear of changes a moment after the controller has made them. */
async function eventually(check: () => Promise<void>): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      return await check()
    } catch (error) {
      if (tries === 50) throw error
    }
    await sleep(100)
  }
}

for (const compression of ['none', 'gzip', 'snappy', 'lz4', 'zstd'] as const) {
  test(`${compression}: what is produced is consumed, byte for byte and in order`, options, async t => {
    const { client, topic, all } = await withTopic(t)
    const producer = client.producer({ compression })
    const records: ProducerRecord[] = Array.from({ length: 3000 }, (_, i) => ({
      topic,
      key: i % 10 === 0 ? null : `key ${i % 17}`,
      value: i % 100 === 0 ? null : Buffer.alloc(i % 300, i),
      timestamp: BigInt(1_700_000_000_000 + i),
      headers: [
        { key: 'n', value: `${i}` },
        { key: 'n', value: null },
      ],
    }))
    const sent = await producer.sendMany(records)
    await producer.close()
    const consumer = client.consumer()
    consumer.assign(all.map(one => ({ ...one, offset: 'earliest' as const })))
    let count = 0
    while (count < records.length) {
      for (const batch of await consumer.poll({ timeoutMs: 5000 })) {
        for (const record of batch) {
          const n = Number(record.headers[0].value)
          assert.deepEqual([record.offset, batch.partition], [sent[n].offset, sent[n].partition])
          assert.equal(record.timestamp, records[n].timestamp)
          assert.deepEqual(record.value, records[n].value)
          assert.equal(record.key?.toString(), records[n].key ?? undefined)
          assert.equal(record.headers[1].value, null)
          count++
        }
      }
    }
    await consumer.close()
  })
}

test('acks 0, 1 and all are written', options, async t => {
  const { client, topic } = await withTopic(t, 1)
  for (const acks of [0, 1, 'all'] as const) {
    const producer = client.producer({ acks })
    const { offset } = await producer.send({ topic, value: `${acks}` })
    assert.equal(offset >= 0, acks !== 0)
    await producer.close()
  }
  assert.deepEqual((await readAll(client, topic, 1))[0].sort(), ['0', '1', 'all'])
})

test('a batch that the topic does not take is split, a record that it does not take fails', options, async t => {
  const { client, topic } = await withTopic(t, 1, { 'max.message.bytes': '5000' })
  const producer = client.producer()
  const sent = await producer.sendMany(Array.from({ length: 50 }, (_, i) => ({ topic, value: `${i}`.padEnd(1000) })))
  assert.deepEqual(
    sent.map(({ offset }) => offset),
    Array.from({ length: 50 }, (_, i) => i),
  )
  const failed = producer.send({ topic, value: 'x'.repeat(9000) })
  await assert.rejects(failed, (error: MillraceError) => error.code === 'MESSAGE_TOO_LARGE' && !error.outcomeUnknown)
  assert.equal((await producer.send({ topic, value: 'after' })).offset, 50)
  await producer.close()
})

test('a compacted topic wants keys, and says so', options, async t => {
  const { client, topic } = await withTopic(t, 1, { 'cleanup.policy': 'compact' })
  const producer = client.producer()
  const results = await Promise.allSettled([
    producer.send({ topic, value: 'a' }),
    producer.send({ topic, key: 'k', value: 'b' }),
  ])
  assert.equal((results[0] as PromiseRejectedResult).reason.code, 'INVALID_RECORD')
  await producer.close()
})

test('where to read from: offsets, times, the ends', options, async t => {
  const { client, admin, topic } = await withTopic(t, 1)
  const producer = client.producer({ batchBytes: 1, lingerMs: 0 })
  for (let i = 0; i < 10; i++) await producer.send({ topic, value: `${i}`, timestamp: BigInt(1000 * (i + 1)) })
  const partition = { topic, partition: 0 }
  const consumer = client.consumer()
  for (const [offset, expected] of [
    [7, 7],
    ['earliest', 0],
    [{ timestamp: 3500n }, 3],
    [{ timestamp: 3000n }, 2],
  ] as const) {
    consumer.assign([{ ...partition, offset }])
    const [batch] = await consumer.poll({ timeoutMs: 5000, maxRecords: 1 })
    assert.equal(batch.records[0].offset, expected)
  }
  consumer.seek(partition, 'latest')
  const [later] = await Promise.all([
    consumer.poll({ timeoutMs: 5000 }),
    sleep(500).then(() => producer.send({ topic, value: 'new' })),
  ])
  assert.equal(later[0].records[0].offset, 10)
  const [deleted] = allSucceeded(await admin.deleteRecords([{ ...partition, beforeOffset: 4 }]))
  assert.equal(deleted.logStartOffset, 4)
  const behind = client.consumer({ offsetReset: 'earliest' })
  behind.assign([{ ...partition, offset: 1 }])
  assert.equal((await behind.poll({ timeoutMs: 5000 }))[0].records[0].offset, 4)
  const strict = client.consumer({ offsetReset: 'none' })
  strict.assign([{ ...partition, offset: 1 }])
  await assert.rejects(strict.poll({ timeoutMs: 5000 }), { code: 'NO_OFFSET' })
  const found = await admin.listOffsets([
    { ...partition, spec: 'earliest' },
    { ...partition, spec: 'latest' },
    { ...partition, spec: 'maxTimestamp' },
    { ...partition, spec: { timestamp: 10_000n } },
  ])
  assert.deepEqual(
    allSucceeded(found).map(({ offset }) => offset),
    [4, 11, 10, 9],
  )
  await Promise.all([producer, consumer, behind, strict].map(one => one.close()))
})

for (const assignor of ['range', 'roundrobin', 'sticky', 'cooperative-sticky'] as const) {
  test(`${assignor}: three members share, one leaves, and every record is seen once`, options, async t => {
    const { client, admin, topic, all } = await withTopic(t, 6)
    const groupId = `${topic}-group`
    const seen: string[] = []
    const join = () => {
      const consumer = client.consumer({
        groupId,
        offsetReset: 'earliest',
        assignors: [assignor],
        heartbeatIntervalMs: 300,
        sessionTimeoutMs: 10_000,
      })
      consumer.subscribe([topic])
      const running = consumer.run({
        eachBatch: batch => {
          for (const { value } of batch) seen.push(String(value))
        },
      })
      return { consumer, running }
    }
    const producer = client.producer()
    let next = 0
    const send = async (count: number) => {
      const values = Array.from({ length: count }, () => `${next++}`)
      await producer.sendMany(values.map(value => ({ topic, key: value, value })))
    }
    const shared = async (members: readonly { consumer: Consumer }[]) => {
      const sizes = () => members.map(({ consumer }) => consumer.assignment.length)
      while (sizes().some(size => size !== 6 / members.length)) await sleep(50)
    }
    const members = [join()]
    await shared(members)
    await send(500)
    members.push(join(), join())
    await shared(members)
    const [description] = allSucceeded(await admin.describeGroups([groupId]))
    assert.deepEqual([description.state, description.assignor, description.members.length], ['Stable', assignor, 3])
    assert.equal(description.members.flatMap(({ assignment }) => assignment ?? []).length, 6)
    await send(500)
    await members[0].consumer.close()
    members.shift()
    await shared(members)
    await send(500)
    while (seen.length < next) await sleep(50)
    for (const { consumer, running } of members) {
      await consumer.close()
      await running
    }
    assert.deepEqual(
      seen.map(Number).sort((a, b) => a - b),
      Array.from({ length: next }, (_, i) => i),
    )
    const offsets = await admin.listGroupOffsets(groupId, { partitions: all })
    assert.equal(
      offsets.reduce((sum, { offset }) => sum + offset, 0),
      next,
    )
    assert.equal(allSucceeded(await admin.deleteGroups([groupId])).length, 1)
    await producer.close()
  })
}

test('a static member comes back to what it had, without a rebalance', options, async t => {
  const { client, admin, topic } = await withTopic(t, 2)
  const groupId = `${topic}-static`
  const join = async (groupInstanceId: string) => {
    const consumer = client.consumer({ groupId, groupInstanceId, heartbeatIntervalMs: 300, sessionTimeoutMs: 20_000 })
    consumer.subscribe([topic])
    while (consumer.assignment.length === 0) await consumer.poll({ timeoutMs: 100 })
    return consumer
  }
  const one = await join('one')
  const [{ partition }] = one.assignment
  const two = join('two')
  while (one.assignment.length !== 1) await one.poll({ timeoutMs: 100 })
  const other = await two
  const kept = one.assignment[0].partition
  await one.close()
  const again = await join('one')
  assert.deepEqual(
    again.assignment.map(one => one.partition),
    [kept],
  )
  assert.ok(partition >= 0)
  const removed = await admin.removeMembers(groupId, [{ groupInstanceId: 'one' }, { groupInstanceId: 'nobody' }])
  assert.deepEqual(
    removed.map(({ error }) => error?.code),
    [undefined, 'UNKNOWN_MEMBER_ID'],
  )
  await again.close({ leaveGroup: true })
  await other.close({ leaveGroup: true })
  await admin.deleteGroups([groupId])
})

test('topics and their settings are managed', options, async t => {
  const { admin, topic } = await withTopic(t, 2)
  const again = await admin.createTopics([{ name: topic }, { name: 'no/such' }])
  assert.deepEqual(
    again.map(({ error }) => error?.code),
    ['TOPIC_ALREADY_EXISTS', 'INVALID_TOPIC_EXCEPTION'],
  )
  allSucceeded(await admin.createPartitions([{ topic, count: 3 }]))
  const [less] = await admin.createPartitions([{ topic, count: 1 }])
  assert.equal(less.error?.code, 'INVALID_PARTITIONS')
  await eventually(async () => {
    const described = await admin.describeTopics([topic, `${topic}-none`])
    const found = described.map(one => one.partitions?.length ?? one.error?.code)
    assert.deepEqual(found, [3, 'UNKNOWN_TOPIC_OR_PARTITION'])
  })
  const settings = async (...keys: string[]) => {
    const [{ configs }] = allSucceeded(await admin.describeConfigs([{ type: 'topic', name: topic, keys }]))
    return Object.fromEntries(configs.map(({ name, value, source }) => [name, `${value} ${source}`]))
  }
  const changes = [{ name: 'retention.ms', value: '1234' }] as const
  allSucceeded(await admin.alterConfigs([{ type: 'topic', name: topic, changes }]))
  await eventually(async () => {
    assert.deepEqual(await settings('retention.ms'), { 'retention.ms': '1234 topic' })
  })
  allSucceeded(await admin.replaceConfigs([{ type: 'topic', name: topic, configs: { 'segment.bytes': '1048576' } }]))
  await eventually(async () => {
    const replaced = await settings('retention.ms', 'segment.bytes')
    assert.deepEqual([replaced['retention.ms'].split(' ')[1], replaced['segment.bytes']], ['default', '1048576 topic'])
  })
  const bad = await admin.alterConfigs([
    { type: 'topic', name: topic, changes: [{ name: 'retention.ms', value: 'soon' }] },
  ])
  assert.equal(bad[0].error?.code, 'INVALID_CONFIG')
  const { brokers, clusterId } = await admin.describeCluster()
  assert.ok(brokers.length > 0 && clusterId !== '')
  const { apis } = await admin.describeVersions({ nodeId: brokers[0].nodeId })
  for (const name of ['Produce', 'Fetch', 'Metadata']) {
    assert.ok(apis.find(api => api.name === name)?.usedVersion !== undefined, name)
  }
  await eventually(async () => {
    const listed = await admin.listTopics()
    assert.equal(listed.find(({ name }) => name === topic)?.partitionCount, 3)
  })
})

test('a topic that is created anew under a reader is read from its start', options, async t => {
  const { client, admin, topic } = await withTopic(t, 1)
  const producer = client.producer()
  await producer.sendMany(Array.from({ length: 5 }, (_, i) => ({ topic, value: `old ${i}` })))
  const consumer = client.consumer({ offsetReset: 'earliest' })
  consumer.assign([{ topic, partition: 0, offset: 0 }])
  assert.equal((await consumer.poll({ timeoutMs: 5000 }))[0].records.length, 5)
  allSucceeded(await admin.deleteTopics([topic]))
  while (
    !(await admin.createTopics([{ name: topic, partitions: 1, replicationFactor: 1 }])).every(
      ({ error }) => error === undefined,
    )
  ) {
    await sleep(100)
  }
  await producer.send({ topic, value: 'new' })
  const [batch] = await consumer.poll({ timeoutMs: 20_000 })
  assert.deepEqual(
    batch.records.map(({ offset, value }) => [offset, String(value)]),
    [[0, 'new']],
  )
  await Promise.all([producer.close(), consumer.close()])
})

test('nobody there is an error that says where, and closing ends at once', {
  timeout: 20_000,
  skip: options.skip,
}, async () => {
  const client = createClient({ bootstrapServers: '127.0.0.1:1', apiTimeoutMs: 1000 })
  await assert.rejects(client.admin().describeCluster(), (error: MillraceError) => {
    assert.match(error.message, /127\.0\.0\.1:1.*(refused|ECONNREFUSED)/)
    return error.code === 'TIMED_OUT'
  })
  const producer = client.producer({ maxBlockMs: 500 })
  await assert.rejects(producer.send({ topic: 't', value: 'x' }))
  await producer.close()
  await client.close()
})
