import assert from 'node:assert/strict'
import { test } from 'node:test'
import { allSucceeded, createClient, type MillraceError } from '../../src/client/index.ts'
import { eventually, options, withTopic } from './cluster.ts'

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

test('nobody there is an error that says where, and closing ends at once', options, async () => {
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
