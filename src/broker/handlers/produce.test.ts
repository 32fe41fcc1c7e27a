import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ErrorCode } from '../../base/error-code.ts'
import { produceRequest, produceResponse } from '../../protocol/messages/produce.ts'
import { BatchBuilder } from '../../records/builder.ts'
import { findCoordinatorApi } from '../../simulator/wire/requests.ts'
import { onBrokerHost } from '../fixture.test.ts'

const produceApi = { request: produceRequest, response: produceResponse }

function batch(): Buffer {
  const builder = new BatchBuilder()
  builder.append(1000, null, Buffer.from('value'))
  return Buffer.from(builder.finish({}))
}

test('of several things that are wrong with a batch the one is told that Kafka sees first', () =>
  onBrokerHost({ overrides: ['offsets.topic.num.partitions=1'] }, async host => {
    await host.start()
    await host.createTopic('topic')
    await host.ask(findCoordinatorApi, { coordinatorKeys: ['group'] }, 4)
    const errorOf = async (name: string, records: Buffer, acks = -1) => {
      const topicData = [{ name, partitionData: [{ index: 0, records }] }]
      const body = { transactionalId: null, acks, timeoutMs: 5000, topicData }
      const { responses } = await host.ask(produceApi, body, 9)
      return responses[0].partitionResponses[0].errorCode
    }
    const malformed = Buffer.alloc(10)
    assert.equal(await errorOf('nowhere', malformed), ErrorCode.unknownTopicOrPartition)
    assert.equal(await errorOf('nowhere', batch(), 2), ErrorCode.unknownTopicOrPartition)
    assert.equal(await errorOf('topic', malformed, 2), ErrorCode.invalidRecord)
    assert.equal(await errorOf('__consumer_offsets', malformed), ErrorCode.invalidRecord)
    assert.equal(await errorOf('topic', batch(), 2), ErrorCode.invalidRequiredAcks)
    assert.equal(await errorOf('__consumer_offsets', batch(), 2), ErrorCode.invalidRequiredAcks)
    assert.equal(await errorOf('__consumer_offsets', batch()), ErrorCode.invalidTopicException)
    await host.close()
  }))
