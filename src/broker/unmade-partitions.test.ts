import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ErrorCode } from '../base/error-code.ts'
import { MetadataDelta } from '../core/metadata/metadata-delta.ts'
import { MetadataStore } from '../core/metadata/metadata-store.ts'
import { listOffsetsRequest, listOffsetsResponse } from '../protocol/messages/list-offsets.ts'
import {
  offsetForLeaderEpochRequest,
  offsetForLeaderEpochResponse,
} from '../protocol/messages/offset-for-leader-epoch.ts'
import { type BrokerHost, onBrokerHost } from './fixture.test.ts'

const listOffsetsApi = { request: listOffsetsRequest, response: listOffsetsResponse }
const offsetForLeaderEpochApi = { request: offsetForLeaderEpochRequest, response: offsetForLeaderEpochResponse }

/** A topic's partitions whose files the disk refuses to make, this often. */
async function createRefused(host: BrokerHost, times: number, partitions = 2): Promise<void> {
  host.node.disk.faults.failNext('open', 'tooManyOpenFiles', { pathEnd: '00000000000000000000.log', times })
  await host.createTopic('topic', partitions)
}

describe('a partition whose log cannot be made', () => {
  test('answers KAFKA_STORAGE_ERROR to all, and is made as soon as the directory can be written', () =>
    onBrokerHost({}, async host => {
      await host.start()
      await createRefused(host, 1)
      const code = ErrorCode.kafkaStorageError
      assert.equal((await host.produce('topic', 0)).errorCode, code)
      assert.equal((await host.fetch('topic', 0)).errorCode, code)
      const offsets = await host.ask(
        listOffsetsApi,
        { replicaId: -1, topics: [{ name: 'topic', partitions: [{ partitionIndex: 0, timestamp: -1n }] }] },
        7,
      )
      assert.equal(offsets.topics[0].partitions[0].errorCode, code)
      const epochs = await host.ask(offsetForLeaderEpochApi, {
        topics: [{ topic: 'topic', partitions: [{ partition: 0, leaderEpoch: 0 }] }],
      })
      assert.equal(epochs.topics[0].partitions[0].errorCode, code)

      await host.world.sleep(3000)
      for (const index of [0, 1]) {
        const { errorCode, baseOffset } = await host.produce('topic', index)
        assert.deepEqual([errorCode, baseOffset], [ErrorCode.none, 0])
      }
      assert.equal((await host.fetch('topic', 0)).errorCode, ErrorCode.none)
      await host.close()
    }))

  test('is told of in one line when that fails and in one when it has succeeded', () =>
    onBrokerHost({}, async host => {
      await host.start()
      await createRefused(host, 4, 3)
      await host.world.sleep(60_000)
      assert.deepEqual([host.linesWith('cannot be opened').length, host.linesWith('opened at last').length], [1, 1])
      assert.match(host.linesWith('cannot be opened')[0], /topic-0, topic-1, topic-2/)
      await host.close()
    }))

  test('is made in another directory when its own has failed with nothing of it', () =>
    onBrokerHost({ logDirs: ['/data', '/more'] }, async host => {
      await host.start()
      await host.createTopic('first')
      host.node.disk.faults.failNext('makeDirectory', 'io', { pathEnd: '/more/topic-0' })
      await host.createTopic('topic')
      await host.world.sleep(3000)
      assert.equal((await host.produce('topic')).errorCode, ErrorCode.none)
      assert.deepEqual(directoriesOf(host, 'topic-0'), ['/data'])
      await host.close()
    }))

  test('stays where it was begun, also when that directory has failed: the next start opens it there', () =>
    onBrokerHost({ logDirs: ['/data', '/more'] }, async host => {
      await host.start()
      await host.createTopic('first')
      host.node.disk.faults.failNext('open', 'io', { pathEnd: '/more/topic-0/00000000000000000000.log' })
      await host.createTopic('topic')
      await host.world.sleep(100_000)
      assert.equal((await host.produce('topic')).errorCode, ErrorCode.kafkaStorageError)
      assert.equal(host.linesWith('cannot be opened').length, 1)
      await host.close()
      await host.start()
      assert.equal((await host.produce('topic')).errorCode, ErrorCode.none)
      assert.deepEqual(directoriesOf(host, 'topic-0'), ['/more'])
      await host.close()
    }))

  test('is forgotten with its topic, and another topic of its name is made', () =>
    onBrokerHost({ logDirs: ['/data', '/more'] }, async host => {
      await host.start()
      await host.createTopic('first')
      host.node.disk.faults.failNext('open', 'noSpace', { pathEnd: '/more/topic-0/00000000000000000000.log' })
      await host.createTopic('topic')
      assert.equal((await host.produce('topic')).errorCode, ErrorCode.kafkaStorageError)
      await host.deleteTopic('topic')
      assert.equal((await host.produce('topic')).errorCode, ErrorCode.unknownTopicOrPartition)
      await host.world.sleep(60_000)
      assert.equal([...host.broker.logs.logs].length, 1)
      await host.createTopic('topic')
      assert.equal((await host.produce('topic')).errorCode, ErrorCode.none)
      await host.close()
    }))

  test('for want of descriptors is made when there are some again, and that is looked for in silence', () =>
    onBrokerHost({}, async host => {
      await host.start()
      await host.createTopic('first')
      await host.produce('first')
      const { faults } = host.node.disk
      faults.maxOpenFiles = host.node.disk.openFiles
      await host.createTopic('topic')
      await host.world.sleep(60_000)
      assert.equal((await host.produce('topic')).errorCode, ErrorCode.kafkaStorageError)
      assert.equal(host.linesWith('cannot be opened').length, 1)
      assert.equal(host.linesWith('cannot open more files').length, 1)
      faults.maxOpenFiles = 1000
      await host.world.sleep(2000)
      assert.equal((await host.produce('topic')).errorCode, ErrorCode.none)
      await host.close()
    }))

  test('is made where it was begun when it has belonged to another broker meanwhile', () =>
    onBrokerHost({ logDirs: ['/data', '/more'] }, async host => {
      await host.start()
      await host.createTopic('first')
      host.node.disk.faults.failNext('open', 'noSpace', { pathEnd: '/more/topic-0/00000000000000000000.log' })
      await host.createTopic('topic')
      reassign(host, 'topic', [7])
      assert.equal((await host.produce('topic')).errorCode, ErrorCode.unknownTopicOrPartition)
      await host.createTopic('second')
      await host.createTopic('third')
      reassign(host, 'topic', [host.broker.nodeId])
      await host.world.sleep(3000)
      assert.deepEqual(directoriesOf(host, 'topic-0'), ['/more'])
      await host.broker.close()
      host.crash('kill')
      await host.start()
      assert.equal((await host.produce('topic')).errorCode, ErrorCode.none)
      await host.close()
    }))

  test('is not made anew elsewhere while it may lie in what could not be read, also after it belonged to another broker', () =>
    onBrokerHost({ logDirs: ['/data', '/more'] }, async host => {
      await host.start()
      for (const topic of ['first', 'topic']) await host.createTopic(topic)
      assert.deepEqual(directoriesOf(host, 'topic-0'), ['/more'])
      await host.close()
      host.node.disk.faults.failNext('read', 'io', { pathEnd: '/more/topic-0/partition.metadata' })
      await host.start()
      for (const replicas of [[7], [host.broker.nodeId]]) reassign(host, 'topic', replicas)
      await host.world.sleep(3000)
      assert.equal((await host.produce('topic')).errorCode, ErrorCode.kafkaStorageError)
      assert.deepEqual(directoriesOf(host, 'topic-0'), ['/more'])
      await host.close()
    }))

  test('is not even tried once the broker stops, nor is any other: the next start has them', () =>
    onBrokerHost({}, async host => {
      await host.start()
      const { partitions, logs, metadata } = host.broker
      partitions.closeAll()
      host.node.disk.faults.failNext('open', 'noSpace', { pathEnd: 'first-0/00000000000000000000.log' })
      for (const name of ['first', 'second']) {
        const topic = { name, numPartitions: 1, replicationFactor: 1, assignments: [], configs: [] }
        const request = { topics: [topic], timeoutMs: 5000, validateOnly: false }
        const reply = await metadata.submit({ type: 'createTopics', request })
        assert.ok(reply.type === 'createTopics')
        assert.equal(reply.response.topics[0].errorCode, ErrorCode.none)
      }
      await host.world.sleep(60_000)
      assert.deepEqual([...logs.logs], [])
      assert.equal(host.linesWith('cannot be opened').length, 0)
      host.node.disk.faults.forgetOrdered()
      await host.close()
      await host.start()
      for (const topic of ['first', 'second']) assert.equal((await host.produce(topic)).errorCode, ErrorCode.none)
      await host.close()
    }))

  test('is made where it was begun, although another directory has room', () =>
    onBrokerHost({ logDirs: ['/data', '/more'] }, async host => {
      await host.start()
      await createRefused(host, 1, 1)
      await host.world.sleep(3000)
      assert.equal((await host.produce('topic', 0)).errorCode, ErrorCode.none)
      assert.deepEqual(directoriesOf(host, 'topic-0'), ['/data'])
      await host.close()
    }))
})

test('a topic that is deleted and made anew by one change does not keep others from being made before it', () =>
  onBrokerHost({}, async host => {
    await host.start()
    await host.createTopic('topic', 2)
    const { partitions, logs, metadata } = host.broker
    const { image } = metadata
    assert.ok(image instanceof MetadataStore)
    const old = image.topic('topic')!
    const gone = { id: 'AAAAAAAAQACAAAAAAAAAZA', name: 'topic' }
    const anew = { id: 'AAAAAAAAQACAAAAAAAAAZQ', name: 'topic' }
    const other = { id: 'AAAAAAAAQACAAAAAAAAAZg', name: 'other' }
    const delta = new MetadataDelta(image, { isOfRecords: true })
    const make = ({ id, name }: typeof anew, count: number) => {
      delta.addTopic(id, name)
      for (let index = 0; index < count; index++) {
        delta.putPartition({ ...old.partitions[0], topicId: id, partition: index })
      }
    }
    delta.removeTopic(old.id)
    make(gone, 1)
    delta.removeTopic(gone.id)
    make(anew, 3)
    make(other, 2)
    await partitions.prepare(delta)
    const made = () =>
      [gone, anew, other].map(({ id }) => [0, 1, 2].map(index => logs.get(id, index) !== undefined && index))
    const no = [false, false, false]
    assert.deepEqual(made(), [no, [false, false, 2], [0, 1, false]])
    assert.equal(partitions.byName('topic', 0)?.topicId, old.id, 'it is served until then')
    partitions.apply(delta)
    delta.applyTo(image)
    assert.deepEqual(made(), [no, [0, 1, 2], [0, 1, false]])
    assert.equal(partitions.byName('topic', 0)?.topicId, anew.id)
    assert.equal(host.linesWith('cannot be opened').length, 0)
    for (const topic of ['topic', 'other']) assert.equal((await host.produce(topic)).errorCode, ErrorCode.none)
    await host.close()
  }))

/** The metadata gives the partition's replicas to these brokers, as a reassignment does. */
function reassign(host: BrokerHost, topic: string, replicas: readonly number[]): void {
  const { image } = host.broker.metadata
  assert.ok(image instanceof MetadataStore)
  const [before] = image.topic(topic)!.partitions
  const [leader] = replicas
  const { leaderEpoch, partitionEpoch } = before
  const epochs = { leaderEpoch: leaderEpoch + 1, partitionEpoch: partitionEpoch + 1 }
  const delta = new MetadataDelta(image, { isOfRecords: true })
  delta.putPartition({ ...before, replicas, isr: replicas, leader, ...epochs })
  host.broker.partitions.apply(delta)
  delta.applyTo(image)
}

function directoriesOf(host: BrokerHost, name: string): string[] {
  const end = `/${name}/partition.metadata`
  const paths = host.node.disk.files().map(({ path }) => path)
  return paths.filter(path => path.endsWith(end)).map(path => `/${path.slice(0, -end.length).replace(/^\//, '')}`)
}
