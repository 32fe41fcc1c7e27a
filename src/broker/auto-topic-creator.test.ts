import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ErrorCode } from '../base/error-code.ts'
import { findCoordinatorRequest, findCoordinatorResponse } from '../protocol/messages/find-coordinator.ts'
import { metadataRequest, metadataResponse } from '../protocol/messages/metadata.ts'
import { onBrokerHost } from './fixture.test.ts'

const findCoordinatorApi = { request: findCoordinatorRequest, response: findCoordinatorResponse }
const metadataApi = { request: metadataRequest, response: metadataResponse }

test('a topic that cannot be created is told of once, however often a client asks for it', () =>
  onBrokerHost({}, async host => {
    await host.start()
    host.node.disk.faults.freeBytes = 0
    for (let times = 0; times < 20; times++) {
      await host.ask(metadataApi, { topics: [{ name: 'topic' }], allowAutoTopicCreation: true }, 9)
    }
    assert.equal(host.linesWith('could not be created automatically').length, 1)
    await host.close()
  }))

test("where the groups' topic wants more replicas than there are brokers, the setting is named", () =>
  onBrokerHost({ overrides: ['offsets.topic.replication.factor=3'] }, async host => {
    await host.start()
    await host.ask(findCoordinatorApi, { keyType: 0, coordinatorKeys: ['group'] }, 6)
    const [line] = host.linesWith('could not be created automatically')
    assert.match(String(line), /no group.*offsets\.topic\.replication\.factor/)
    await host.close()
  }))

test('topics that transactions and share groups will keep their state in are not created in passing, with a shape of any topic', () =>
  onBrokerHost({ overrides: ['offsets.topic.num.partitions=3'] }, async host => {
    await host.start()
    const names = ['__transaction_state', '__share_group_state', '__consumer_offsets']
    const topics = names.map(name => ({ name }))
    const answer = await host.ask(metadataApi, { topics, allowAutoTopicCreation: true }, 9)
    assert.deepEqual(
      answer.topics.map(({ name, errorCode, partitions }) => [name, errorCode, partitions.length]),
      [
        ['__transaction_state', ErrorCode.unknownTopicOrPartition, 0],
        ['__share_group_state', ErrorCode.unknownTopicOrPartition, 0],
        ['__consumer_offsets', ErrorCode.none, 3],
      ],
    )
    await host.close()
  }))
