import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ErrorCode } from '../../base/error-code.ts'
import { zeroUuid } from '../../base/uuid.ts'
import { withDefaults } from '../../protocol/defaults.ts'
import { type MetadataResponse, metadataResponse } from '../../protocol/messages/metadata.ts'
import { MetadataCache } from './metadata-cache.ts'

const [idA, idB] = ['AAAAAAAAAAAAAAAAAAAAAQ', 'AAAAAAAAAAAAAAAAAAAAAg']
const brokers = [1, 2].map(nodeId => ({ nodeId, host: `b${nodeId}`, port: 9092 }))

/** `leaders`: for each partition its leader and epoch. */
function topic(name: string, topicId: string, leaders: readonly (readonly [number, number])[], errorCode = 0) {
  const partitions = leaders.map(([leaderId, leaderEpoch], partitionIndex) => {
    return { errorCode: 0, partitionIndex, leaderId, leaderEpoch, replicaNodes: [], isrNodes: [] }
  })
  return { errorCode, name, topicId, partitions }
}

function answer(...topics: ReturnType<typeof topic>[]): MetadataResponse {
  return withDefaults(metadataResponse, { throttleTimeMs: 0, brokers, controllerId: 1, topics })
}

const some = { hasAll: false }

test('an older leader epoch of the same topic is not believed, a newer one is', () => {
  const cache = new MetadataCache()
  cache.update(answer(topic('t', idA, [[1, 5]])), some)
  cache.update(answer(topic('t', idA, [[2, 4]])), some)
  assert.deepEqual([cache.partition('t', 0)?.leaderId, cache.partition('t', 0)?.leaderEpoch], [1, 5])
  cache.update(answer(topic('t', idA, [[2, 6]])), some)
  assert.equal(cache.partition('t', 0)?.leaderId, 2)
})

test('a topic that was created anew begins with its own epochs', () => {
  const cache = new MetadataCache()
  cache.update(
    answer(
      topic('t', idA, [
        [1, 5],
        [1, 5],
      ]),
    ),
    some,
  )
  cache.update(answer(topic('t', idB, [[2, 0]])), some)
  assert.deepEqual([cache.partition('t', 0)?.leaderId, cache.topic('t')?.partitions.length], [2, 1])
  assert.deepEqual([cache.nameOf(idA), cache.nameOf(idB)], [undefined, 't'])
})

test('brokers that know no epochs are believed as they come', () => {
  const cache = new MetadataCache()
  cache.update(answer(topic('t', zeroUuid, [[1, -1]])), some)
  cache.update(answer(topic('t', zeroUuid, [[2, -1]])), some)
  assert.equal(cache.partition('t', 0)?.leaderId, 2)
})

test('a broker that is behind takes no partitions away', () => {
  const cache = new MetadataCache()
  cache.update(
    answer(
      topic('t', idA, [
        [1, 0],
        [2, 0],
        [1, 0],
      ]),
    ),
    some,
  )
  cache.update(answer(topic('t', idA, [[1, 0]])), some)
  assert.equal(cache.topic('t')?.partitions.length, 3)
})

test('partitions may come in any order; behind a gap nothing is known', () => {
  const cache = new MetadataCache()
  const mixed = topic('t', idA, [
    [1, 0],
    [2, 0],
    [1, 0],
  ])
  mixed.partitions.reverse()
  cache.update(answer(mixed), some)
  assert.deepEqual(
    cache.topic('t')?.partitions.map(({ leaderId }) => leaderId),
    [1, 2, 1],
  )
  const holed = topic('u', idB, [
    [1, 0],
    [2, 0],
    [1, 0],
  ])
  holed.partitions.splice(1, 1)
  cache.update(answer(holed), some)
  assert.equal(cache.topic('u')?.partitions.length, 1)
})

test('a topic with an error has no partitions, and its error', () => {
  const cache = new MetadataCache()
  cache.update(answer(topic('t', idA, [[1, 0]])), some)
  cache.update(answer(topic('t', zeroUuid, [], ErrorCode.unknownTopicOrPartition)), some)
  assert.deepEqual([cache.topic('t')?.errorCode, cache.topic('t')?.partitions], [3, []])
})

test('topics that an answer about all does not name are gone', () => {
  const cache = new MetadataCache()
  cache.update(answer(topic('t', idA, [[1, 0]]), topic('u', idB, [[1, 0]])), some)
  cache.update(answer(topic('u', idB, [[1, 0]])), some)
  assert.equal(cache.topics.length, 2)
  cache.update(answer(topic('u', idB, [[1, 0]])), { hasAll: true })
  assert.deepEqual(
    cache.topics.map(({ name }) => name),
    ['u'],
  )
})

test('an answer without brokers is of one that is just starting', () => {
  const cache = new MetadataCache()
  cache.update(answer(), some)
  cache.update({ ...answer(), brokers: [] }, some)
  assert.equal(cache.brokers.length, 2)
  cache.update({ ...answer(), brokers: [{ nodeId: 7, host: 'b7', port: 1, rack: null }] }, some)
  assert.deepEqual(
    cache.brokers.map(({ nodeId }) => nodeId),
    [7],
  )
})

test('a hint is news only with a later epoch, and at a broker that is known', () => {
  const cache = new MetadataCache()
  cache.update(answer(topic('t', idA, [[1, 5]])), some)
  assert.equal(cache.learnLeader('t', 0, { leaderId: 2, leaderEpoch: 5 }), false)
  assert.equal(cache.learnLeader('t', 0, { leaderId: 9, leaderEpoch: 6 }), false)
  assert.equal(cache.learnLeader('t', 3, { leaderId: 2, leaderEpoch: 6 }), false)
  assert.equal(cache.learnLeader('u', 0, { leaderId: 2, leaderEpoch: 6 }), false)
  assert.equal(cache.learnLeader('t', 0, { leaderId: 2, leaderEpoch: 6 }), true)
  assert.equal(cache.partition('t', 0)?.leaderId, 2)
  cache.learnBroker({ nodeId: 9, host: 'b9', port: 1, rack: null })
  assert.equal(cache.learnLeader('t', 0, { leaderId: 9, leaderEpoch: 7 }), true)
})
