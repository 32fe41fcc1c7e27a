import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ErrorCode } from '../../base/error-code.ts'
import {
  describeTopicPartitionsRequest,
  describeTopicPartitionsResponse,
} from '../../protocol/messages/describe-topic-partitions.ts'
import { onBrokerHost } from '../fixture.test.ts'

const describeApi = { request: describeTopicPartitionsRequest, response: describeTopicPartitionsResponse }

test('a full page ends before the next topic, be there one of that name or not', () =>
  onBrokerHost({}, async host => {
    await host.start()
    await host.createTopic('b', 2)
    const topics = ['a', 'b', 'c', 'd'].map(name => ({ name }))
    const pageOf = async (responsePartitionLimit: number) => {
      const page = await host.ask(describeApi, { topics, responsePartitionLimit, cursor: null })
      const { nextCursor } = page
      const next = nextCursor === null ? null : [nextCursor.topicName, nextCursor.partitionIndex]
      return { said: page.topics.map(({ name, errorCode }) => [name, errorCode]), next }
    }
    const unknown = ErrorCode.unknownTopicOrPartition
    const first = [
      ['a', unknown],
      ['b', ErrorCode.none],
    ]
    assert.deepEqual(await pageOf(1), { said: first, next: ['b', 1] })
    assert.deepEqual(await pageOf(2), { said: first, next: ['c', 0] })
    assert.deepEqual(await pageOf(3), { said: [...first, ['c', unknown], ['d', unknown]], next: null })
    await host.close()
  }))
