import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { ErrorCode } from '../../src/base/error-code.ts'
import { zeroUuid } from '../../src/base/uuid.ts'
import { startBroker, type TestBroker } from '../../src/testing/index.ts'
import { api } from './api.ts'
import { RawClient } from './raw-client.ts'
import { append, batchOf, createTopic, fetch, produce, valuesOf } from './requests.ts'

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

const topicType = 2
const brokerType = 4
const set = 0
const remove = 1
const appendTo = 2
const subtract = 3

async function describe(resourceType: number, resourceName: string, configurationKeys: string[] | null, version = 4) {
  const { results } = await client.call(api.describeConfigs, version, {
    resources: [{ resourceType, resourceName, configurationKeys }],
  })
  assert.equal(results[0].errorCode, ErrorCode.none, String(results[0].errorMessage))
  return new Map(results[0].configs.map(config => [config.name, config]))
}

async function alter(
  resourceType: number,
  resourceName: string,
  configs: readonly { name: string; configOperation: number; value: string | null }[],
) {
  const { responses } = await client.call(api.incrementalAlterConfigs, 1, {
    resources: [{ resourceType, resourceName, configs }],
    validateOnly: false,
  })
  return responses[0].errorCode
}

test('a topic that Metadata creates can be used at once, in every version', async () => {
  for (let version = 0; version <= 13; version++) {
    const name = `auto-${version}`
    const flag = version >= 4 ? { allowAutoTopicCreation: true } : {}
    const { topics } = await client.call(api.metadata, version, { topics: [{ name }], ...flag })
    assert.equal(topics[0].errorCode, ErrorCode.none)
    assert.equal(topics[0].partitions[0].leaderId, 1)
    assert.equal(await append(client, { topic: name }, ['first']), 0)
  }
})

test('a topic that was deleted is told to be gone once before Metadata creates it anew', async () => {
  const ask = async (...names: string[]) => {
    const topics = names.map(name => ({ name }))
    return (await client.call(api.metadata, 12, { topics, allowAutoTopicCreation: true })).topics
  }
  for (const topic of ['gone-1', 'gone-2']) await createTopic(client, topic)
  await client.call(api.deleteTopics, 5, { topicNames: ['gone-1', 'gone-2'], timeoutMs: 10_000 })
  const unknown = ErrorCode.unknownTopicOrPartition
  assert.deepEqual(
    (await ask('gone-1', 'gone-2')).map(topic => topic.errorCode),
    [unknown, unknown],
  )
  for (const topic of await ask('gone-1', 'gone-2'))
    assert.deepEqual([topic.errorCode, topic.partitions[0].leaderId], [ErrorCode.none, 1])
})

test('Metadata creates nothing without leave to, and no topic of an illegal name', async () => {
  const ask = async (name: string, allowAutoTopicCreation: boolean) =>
    (await client.call(api.metadata, 12, { topics: [{ name }], allowAutoTopicCreation })).topics[0].errorCode
  assert.equal(await ask('never', false), ErrorCode.unknownTopicOrPartition)
  assert.equal(await ask('never', false), ErrorCode.unknownTopicOrPartition)
  for (const name of ['', '.', '..', 'a b', 'a/b', 'ü', 'x'.repeat(250)]) {
    assert.equal(await ask(name, true), ErrorCode.invalidTopicException, name)
  }
  assert.equal(await ask('x'.repeat(249), true), ErrorCode.none)
})

test('topics are created once however many clients ask at the same moment', async () => {
  const clients = await Promise.all(Array.from({ length: 10 }, () => RawClient.connect({ port: broker.port })))
  const names = Array.from({ length: 5 }, (_, index) => ({ name: `crowd-${index}` }))
  const answers = await Promise.all(clients.map(one => one.call(api.metadata, 12, { topics: names })))
  const ids = answers.map(({ topics }) => topics.map(topic => topic.topicId).join())
  assert.equal(new Set(ids).size, 1)
  for (const { topics } of answers) for (const { errorCode } of topics) assert.equal(errorCode, ErrorCode.none)
  for (const one of clients) one.close()
})

test('without auto.create.topics.enable nothing is created, whatever the client says', async () => {
  await using strict = await startBroker({ overrides: { 'auto.create.topics.enable': 'false' } })
  using own = await RawClient.connect({ port: strict.port })
  const { topics } = await own.call(api.metadata, 12, { topics: [{ name: 'no' }], allowAutoTopicCreation: true })
  assert.equal(topics[0].errorCode, ErrorCode.unknownTopicOrPartition)
})

test('topics that were created can be used at once, in any order', async () => {
  const names = Array.from({ length: 10 }, (_, index) => `fresh-${index}`)
  const { topics } = await client.call(api.createTopics, 7, {
    topics: names.map(name => ({ name, numPartitions: 1, replicationFactor: 1, assignments: [], configs: [] })),
  })
  for (const { errorCode } of topics) assert.equal(errorCode, ErrorCode.none)
  for (const name of names.toReversed()) {
    assert.equal((await produce(client, { topic: name }, batchOf(['a']))).errorCode, ErrorCode.none)
    assert.deepEqual(valuesOf((await fetch(client, { topic: name })).records), ['a'])
  }
})

test('Metadata of an unknown topic still has every broker, and the controller among them', async () => {
  for (let version = 0; version <= 13; version++) {
    const flag = version >= 4 ? { allowAutoTopicCreation: false } : {}
    const name = version >= 4 ? 'unknown' : 'a b'
    const { brokers, controllerId, topics } = await client.call(api.metadata, version, { topics: [{ name }], ...flag })
    assert.notEqual(topics[0].errorCode, ErrorCode.none)
    assert.deepEqual(
      brokers.map(({ nodeId, host, port }) => [nodeId, host, port]),
      [[1, 'localhost', broker.port]],
    )
    if (version >= 1) assert.ok(brokers.some(({ nodeId }) => nodeId === controllerId))
  }
  await createTopic(client, 'unknown')
})

test('no topics, null and an empty list mean what they mean in each version', async () => {
  await using own = await startBroker({ topics: { a: 1, b: 1 } })
  using asking = await RawClient.connect({ port: own.port })
  const names = async (version: number, topics: never[] | null) =>
    (await asking.call(api.metadata, version, { topics })).topics.map(topic => topic.name).sort()
  assert.deepEqual(await names(0, []), ['a', 'b'])
  for (let version = 1; version <= 13; version++) {
    assert.deepEqual(await names(version, []), [])
    assert.deepEqual(await names(version, null), ['a', 'b'])
  }
})

test('a topic is asked for by its id, and an unknown id is unknown', async () => {
  const { topic, topicId } = await createTopic(client, 'by-id')
  for (const version of [12, 13]) {
    const { topics } = await client.call(api.metadata, version, {
      topics: [
        { name: null, topicId },
        { name: null, topicId: 'AAECAwQFBgcICQoLDA0ODw' },
      ],
    })
    assert.deepEqual(
      topics.map(({ name, errorCode }) => [name, errorCode]),
      [
        [topic, ErrorCode.none],
        [null, ErrorCode.unknownTopicId],
      ],
    )
  }
})

test('CreateTopics tells every setting in force, from version 5 on', async () => {
  const create = async (version: number, validateOnly: boolean) =>
    await client.call(api.createTopics, version, {
      topics: [
        {
          ...{ name: `told-${version}`, numPartitions: -1, replicationFactor: -1, assignments: [] },
          configs: [{ name: 'retention.ms', value: '1000' }],
        },
      ],
      validateOnly,
    })
  const { topics } = await create(7, false)
  const told = new Map(topics[0].configs?.map(config => [config.name, config.value]))
  const described = await describe(topicType, 'told-7', null)
  assert.deepEqual(
    [...told].sort(),
    [...described.values()].map(({ name, value }): [string, string | null] => [name, value]).sort(),
  )
  assert.ok(told.size > 25)
  assert.equal(told.get('retention.ms'), '1000')
  assert.equal(topics[0].numPartitions, 1)
  assert.deepEqual((await create(4, false)).topics[0].configs, [])
  const validated = await create(5, true)
  assert.equal(validated.topics[0].topicId, zeroUuid)
  assert.equal(validated.topics[0].configs?.length, told.size)
})

test('DescribeConfigs gives exactly the settings that are asked for', async () => {
  await createTopic(client, 'asked')
  for (let version = 1; version <= 4; version++) {
    assert.deepEqual([...(await describe(topicType, 'asked', ['retention.ms'], version)).keys()], ['retention.ms'])
    assert.deepEqual(
      [...(await describe(topicType, 'asked', ['segment.bytes', 'no.such.thing'], version)).keys()],
      ['segment.bytes'],
    )
    assert.ok((await describe(topicType, 'asked', null, version)).size > 25)
    assert.ok((await describe(topicType, 'asked', [], version)).size > 25)
  }
  const ofBroker = await describe(brokerType, '1', ['num.partitions', 'log.dirs'])
  assert.equal(ofBroker.get('num.partitions')?.value, '1')
  assert.equal(ofBroker.get('log.dirs')?.value, broker.directory)
})

test('DescribeConfigs gives settings in the order asked for, each once', async () => {
  await createTopic(client, 'ordered')
  const ofTopic = ['segment.bytes', 'cleanup.policy', 'retention.ms']
  const ofBroker = ['default.replication.factor', 'num.partitions']
  const resources = [
    [topicType, 'ordered', ofTopic],
    [topicType, 'ordered', ofTopic.toReversed()],
    [brokerType, '1', ofBroker],
    [brokerType, '1', ofBroker.toReversed()],
    [topicType, 'ordered', ['retention.ms', 'retention.ms']],
  ] as const
  const { results } = await client.call(api.describeConfigs, 4, {
    resources: resources.map(([resourceType, resourceName, keys]) => ({
      resourceType,
      resourceName,
      configurationKeys: [...keys],
    })),
  })
  assert.deepEqual(
    results.map(result => result.configs.map(config => config.name)),
    [ofTopic, ofTopic.toReversed(), ofBroker, ofBroker.toReversed(), ['retention.ms']],
  )
})

test('lists are appended to and subtracted from, and what cannot be does no harm', async () => {
  const { topic } = await createTopic(client, 'lists')
  const policy = async () => (await describe(topicType, topic, ['cleanup.policy'])).get('cleanup.policy')?.value
  const change = (configOperation: number, value: string | null, name = 'cleanup.policy') =>
    alter(topicType, topic, [{ name, configOperation, value }])
  assert.equal(await change(appendTo, 'compact'), ErrorCode.none)
  assert.equal(await policy(), 'delete,compact')
  assert.equal(await change(appendTo, 'compact'), ErrorCode.none)
  assert.equal(await policy(), 'delete,compact')
  assert.equal(await change(subtract, 'delete'), ErrorCode.none)
  assert.equal(await policy(), 'compact')
  assert.equal(await change(appendTo, '1', 'retention.ms'), ErrorCode.invalidConfig)
  assert.equal(await change(subtract, '1', 'retention.ms'), ErrorCode.invalidConfig)
  assert.equal(await change(appendTo, 'nonsense'), ErrorCode.invalidConfig)
  assert.equal(await change(9, 'x'), ErrorCode.invalidRequest)
  assert.equal(await policy(), 'compact')
  assert.equal(await change(remove, null), ErrorCode.none)
  assert.equal(await policy(), 'delete')
  assert.equal(await change(set, 'compact,delete'), ErrorCode.none)
  assert.equal(await policy(), 'compact,delete')
  assert.equal(await append(client, { topic }, ['still served']), 0)
})

test('CreatePartitions answers for each topic, and the new partitions can be used at once', async () => {
  await createTopic(client, 'growing')
  await createTopic(client, 'shrinking', { partitions: 3 })
  const topics = [
    { name: 'growing', count: 3, assignments: null },
    { name: 'shrinking', count: 2, assignments: null },
    { name: 'missing', count: 2, assignments: null },
    { name: 'growing-by-hand', count: 2, assignments: [{ brokerIds: [1] }] },
  ]
  await createTopic(client, 'growing-by-hand')
  for (const validateOnly of [true, false]) {
    const { results } = await client.call(api.createPartitions, 3, { topics, timeoutMs: 10_000, validateOnly })
    assert.deepEqual(
      results.map(({ name, errorCode }) => [name, errorCode]),
      [
        ['growing', ErrorCode.none],
        ['shrinking', ErrorCode.invalidPartitions],
        ['missing', ErrorCode.unknownTopicOrPartition],
        ['growing-by-hand', ErrorCode.none],
      ],
    )
  }
  assert.equal(await append(client, { topic: 'growing', partition: 2 }, ['a']), 0)
  assert.equal(await append(client, { topic: 'growing-by-hand', partition: 1 }, ['a']), 0)
})

test('a topic that is deleted is gone for readers and writers, and its name can be used again at once', async () => {
  for (let round = 0; round < 3; round++) {
    const place = await createTopic(client, 'again', { partitions: 2 })
    assert.equal(await append(client, place, [`round ${round}`]), 0)
    assert.deepEqual(valuesOf((await fetch(client, place, { version: 13 })).records), [`round ${round}`])
    const { responses } = await client.call(api.deleteTopics, 5, { topicNames: [place.topic], timeoutMs: 10_000 })
    assert.equal(responses[0].errorCode, ErrorCode.none)
    assert.equal((await produce(client, place, batchOf(['late']))).errorCode, ErrorCode.unknownTopicOrPartition)
    assert.equal((await produce(client, place, batchOf(['late']), { version: 13 })).errorCode, ErrorCode.unknownTopicId)
    assert.equal((await fetch(client, place)).errorCode, ErrorCode.unknownTopicOrPartition)
  }
})

test('internal topics are marked, and clients do not write to them', async () => {
  await client.call(api.findCoordinator, 4, { coordinatorKeys: ['g'] })
  const { topics } = await client.call(api.metadata, 12, { topics: [{ name: '__consumer_offsets' }] })
  assert.deepEqual([topics[0].errorCode, topics[0].isInternal, topics[0].partitions.length], [0, true, 50])
  const { errorCode } = await produce(client, { topic: '__consumer_offsets' }, batchOf(['a']))
  assert.equal(errorCode, ErrorCode.invalidTopicException)
})

test('while many topics are created others are served', async () => {
  const topics = Array.from({ length: 800 }, (_, index) => {
    return { name: `many-${index}`, numPartitions: 1, replicationFactor: 1, assignments: [], configs: [] }
  })
  using other = await RawClient.connect({ port: broker.port })
  const startMs = performance.now()
  let isCreated = false
  const created = client.call(api.createTopics, 7, { topics, timeoutMs: 60_000 }).then(answer => {
    isCreated = true
    return answer
  })
  let longestMs = 0
  while (!isCreated) {
    const askedMs = performance.now()
    await other.call(api.metadata, 12, { topics: [] })
    longestMs = Math.max(longestMs, performance.now() - askedMs)
  }
  assert.ok((await created).topics.every(({ errorCode }) => errorCode === ErrorCode.none))
  const tookMs = performance.now() - startMs
  assert.ok(longestMs < tookMs / 2, `of ${tookMs} ms another request waited for ${longestMs}`)
  await client.call(api.deleteTopics, 5, { topicNames: topics.map(({ name }) => name), timeoutMs: 60_000 })
})
