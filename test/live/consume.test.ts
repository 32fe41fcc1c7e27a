import assert from 'node:assert/strict'
import { test } from 'node:test'
import { allSucceeded, type Consumer, type ProducerRecord } from '../../src/client/index.ts'
import { eventually, options, until, withTopic } from './cluster.ts'

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
  })
}

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
  await until('the end to be found', () => consumer.position(partition) === 10)
  await producer.send({ topic, value: 'new' })
  const [later] = await consumer.poll({ timeoutMs: 5000 })
  assert.equal(later.records[0].offset, 10)
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
})

test('a topic that is created anew under a reader is read from its start', options, async t => {
  const { client, admin, topic } = await withTopic(t, 1)
  const producer = client.producer()
  const consumer = client.consumer({ offsetReset: 'earliest' })
  consumer.assign([{ topic, partition: 0, offset: 0 }])
  await producer.sendMany(Array.from({ length: 5 }, (_, i) => ({ topic, value: `old ${i}` })))
  assert.deepEqual(
    await valuesRead(consumer, 5),
    Array.from({ length: 5 }, (_, i) => `old ${i}`),
  )
  allSucceeded(await admin.deleteTopics([topic]))
  await eventually(async () => {
    allSucceeded(await admin.createTopics([{ name: topic, partitions: 1, replicationFactor: 1 }]))
  })
  // More than the old one had: the place where the reader was is there again.
  await producer.sendMany(Array.from({ length: 8 }, (_, i) => ({ topic, value: `new ${i}` })))
  assert.deepEqual(
    await valuesRead(consumer, 8),
    Array.from({ length: 8 }, (_, i) => `new ${i}`),
  )
})

async function valuesRead(consumer: Consumer, count: number): Promise<string[]> {
  const values: string[] = []
  while (values.length < count) {
    for (const batch of await consumer.poll()) for (const { value } of batch) values.push(String(value))
  }
  return values
}
