import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ErrorCode } from '../../base/error-code.ts'
import { ResourceType } from '../../core/metadata/metadata-image.ts'
import {
  incrementalAlterConfigsRequest,
  incrementalAlterConfigsResponse,
} from '../../protocol/messages/incremental-alter-configs.ts'
import { type BrokerHost, onBrokerHost } from '../fixture.test.ts'

const alterConfigsApi = { request: incrementalAlterConfigsRequest, response: incrementalAlterConfigsResponse }

async function set(host: BrokerHost, resourceType: number, names: readonly string[], text: string): Promise<void> {
  const [name, value] = text.split('=')
  const configs = [{ name, configOperation: 0, value }]
  const resources = names.map(resourceName => ({ resourceType, resourceName, configs }))
  const { responses } = await host.ask(alterConfigsApi, { resources, validateOnly: false })
  for (const { errorCode } of responses) assert.equal(errorCode, ErrorCode.none)
}

test('a setting without effect is told when it is set, once, and what all topics share at each start', () =>
  onBrokerHost({}, async host => {
    await host.start()
    const topics = ['a', 'b', 'c', 'd', 'e']
    await host.createTopic('created', 1, { preallocate: 'true' })
    for (const topic of topics) await host.createTopic(topic)
    const told = () => host.linesWith('has no effect')
    const because = 'has no effect: it grows as it is written'
    const expected = [`preallocate, set for topic created, ${because}`]
    assert.deepEqual(told(), expected)
    await set(host, ResourceType.topic, topics, 'preallocate=true')
    expected.push(`preallocate, set for topic a, topic b, topic c and 2 more, ${because}`)
    // What is set is told, not what was set before it.
    await set(host, ResourceType.topic, topics, 'retention.ms=1000')
    await set(host, ResourceType.topic, topics, 'preallocate=false')
    assert.deepEqual(told(), expected)
    await set(host, ResourceType.broker, [''], 'log.preallocate=true')
    await set(host, ResourceType.broker, ['', '1'], 'background.threads=15')
    expected.push(
      `log.preallocate, set for all brokers, ${because}`,
      'background.threads, set for all brokers, this broker, has no effect: one broker is one event loop and sizes its queues and its pool itself',
    )
    assert.deepEqual(told(), expected)
    await host.close()
    await host.start()
    assert.deepEqual(told().slice(expected.length).sort(), expected.slice(2).sort())
    await host.close()
  }))
