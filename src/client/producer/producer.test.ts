import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ClientWorld } from '../fixtures/client-world.ts'

test('a record that is sent is in the log, and its answer says where', async () => {
  const { world, cluster, client } = await ClientWorld.make()
  cluster.addTopic('orders', 2)
  const producer = client.producer()
  const metadata = await world.finish(producer.send({ topic: 'orders', partition: 1, value: 'a', timestamp: 5n }))
  assert.deepEqual(metadata, { topic: 'orders', partition: 1, offset: 0, timestamp: 5n })
  assert.deepEqual(cluster.log('orders', 1).values(), ['a'])
})
