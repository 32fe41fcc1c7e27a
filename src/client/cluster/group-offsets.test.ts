import assert from 'node:assert/strict'
import { test } from 'node:test'
import { World } from '../../simulator/io/world.ts'
import { clientConfig } from '../client-options.ts'
import { FakeCluster } from '../fixtures/fake-cluster.ts'
import { Cluster } from './cluster.ts'
import { commitOffsets, type OffsetToCommit } from './group-offsets.ts'

const committer = { groupId: 'g', generationId: -1, memberId: '', groupInstanceId: null }
const formerId = 'EREREREREREREREREREREQ'

async function commit(offset: OffsetToCommit & { topicId?: string }) {
  const world = new World({ seed: 3 })
  const fake = new FakeCluster(world)
  fake.addTopic('orders', 1)
  await world.finish(fake.start())
  const cluster = new Cluster(
    world.addNode('client').start(),
    clientConfig({ bootstrapServers: fake.bootstrapServers }),
  )
  await world.finish(cluster.refresh(5000))
  assert.equal(cluster.metadata.topic('orders'), undefined)
  await world.finish(commitOffsets(cluster, committer, [offset], { nodeId: 1, lane: 'offsets' }))
  return { request: fake.asked('OffsetCommit')[0], stored: [...(fake.groups.get('g')?.offsets.keys() ?? [])] }
}

test('an offset of a topic that the metadata does not have any more is committed by its id, not for its namesake', async () => {
  const { request, stored } = await commit({ topic: 'orders', partition: 0, offset: 3, topicId: formerId })
  const [topic] = (request.body as { topics: { topicId: string }[] }).topics
  assert.deepEqual([request.version, topic.topicId], [10, formerId])
  assert.equal(stored.includes('orders-0'), false)
})

test('an offset of a topic whose id nobody knows is committed by its name', async () => {
  const { request, stored } = await commit({ topic: 'orders', partition: 0, offset: 3 })
  assert.deepEqual([request.version, stored], [9, ['orders-0']])
})
