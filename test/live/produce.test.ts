import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { MillraceError } from '../../src/client/index.ts'
import { options, withTopic } from './cluster.ts'

test('acks 0, 1 and all are written', options, async t => {
  const { client, topic } = await withTopic(t, 1)
  for (const acks of [0, 1, 'all'] as const) {
    const producer = client.producer({ acks })
    const { offset } = await producer.send({ topic, value: `${acks}` })
    assert.equal(offset >= 0, acks !== 0)
    await producer.close()
  }
  const consumer = client.consumer()
  consumer.assign([{ topic, partition: 0, offset: 'earliest' }])
  const values: string[] = []
  while (values.length < 3) {
    for (const batch of await consumer.poll()) for (const { value } of batch) values.push(String(value))
  }
  assert.deepEqual(values.sort(), ['0', '1', 'all'])
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
