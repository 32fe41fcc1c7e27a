import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ErrorCode } from '../../src/base/error-code.ts'
import { brokerSettings } from '../../src/config/broker-settings.ts'
import type { Setting } from '../../src/config/setting.ts'
import { allTopicSettings } from '../../src/config/topic-config.ts'
import { startBroker, type TestBroker } from '../../src/testing/index.ts'
import { api } from './api.ts'
import { RawClient } from './raw-client.ts'
import { batchOf, createTopic, produce } from './requests.ts'

const numbers: readonly string[] = ['short', 'int', 'long', 'double']
/** The ends of Java's types, and what lies next to where a number ceases to be exact. */
const ends = [
  '9223372036854775807',
  '9223372036854775806',
  '2147483647',
  '32767',
  '1.7976931348623157E308',
  '4.9E-324',
  '1',
  '0',
  '-1',
  '-9223372036854775808',
]

/** The largest values of a setting that are allowed, and the smallest. */
function extremesOf(setting: Setting): string[] {
  if (!numbers.includes(setting.type)) return []
  const allowed = ends.filter(text => setting.parse(text).type === 'parsed')
  return [...new Set([...allowed.slice(0, 2), ...allowed.slice(-2)])]
}

async function onBroker(body: (client: RawClient, broker: TestBroker) => Promise<void>): Promise<void> {
  const overrides = { 'log.cleaner.backoff.ms': '5', 'log.retention.check.interval.ms': '5' }
  await using broker = await startBroker({ overrides })
  let failure: Error | undefined
  broker.once('failed', reason => {
    failure = reason
  })
  using client = await RawClient.connect({ port: broker.port })
  try {
    await body(client, broker)
  } catch (error) {
    throw failure ?? error
  }
  assert.equal(failure, undefined)
}

/** Each batch begins a segment, all is compacted and retained, some is deleted, and then everything. */
const short = { 'segment.ms': '1', 'cleanup.policy': 'compact,delete', 'min.cleanable.dirty.ratio': '0' }

async function liveThrough(client: RawClient, topic: string, configs: Readonly<Record<string, string>>): Promise<void> {
  await createTopic(client, topic, { configs })
  for (let index = 0; index < 5; index++) {
    const timestamp = Date.now() + 10 * index
    await produce(client, { topic }, batchOf(['v', index === 2 ? null : 'w'], { key: `k${index % 2}`, timestamp }))
  }
  const partitions = [{ partitionIndex: 0, offset: 3 }]
  await client.call(api.deleteRecords, 2, { topics: [{ name: topic, partitions }], timeoutMs: 5000 })
  await client.call(api.deleteTopics, 5, { topicNames: [topic], timeoutMs: 5000 })
}

test('a topic may have any setting at either end of what is allowed', () =>
  onBroker(async client => {
    let count = 0
    for (const [name, setting] of allTopicSettings) {
      for (const value of extremesOf(setting)) {
        // A minimum of compaction's lag that is above the maximum is refused.
        const configs = { ...short, 'max.compaction.lag.ms': '9223372036854775807', [name]: value }
        if (name === 'max.compaction.lag.ms') Object.assign(configs, { 'min.compaction.lag.ms': '0' })
        await liveThrough(client, `topic-${count++}`, configs)
      }
    }
    assert.ok(count > 50)
  }))

test('the broker may have any setting that changes while it runs at either end of what is allowed', () =>
  onBroker(async client => {
    let count = 0
    for (const setting of Object.values(brokerSettings)) {
      if (setting.update === 'read-only') continue
      const resourceName = setting.update === 'per-broker' ? '1' : ''
      const alter = async (configOperation: number, value: string | null) => {
        const configs = [{ name: setting.name, configOperation, value }]
        const resources = [{ resourceType: 4, resourceName, configs }]
        const { responses } = await client.call(api.incrementalAlterConfigs, 1, { resources, validateOnly: false })
        return responses[0].errorCode
      }
      for (const value of extremesOf(setting)) {
        // Some ends are beyond rules across settings.
        if ((await alter(0, value)) !== ErrorCode.none) continue
        await liveThrough(client, `broker-${count++}`, setting.name.includes('roll') ? {} : short)
        assert.equal(await alter(1, null), ErrorCode.none)
      }
    }
    assert.ok(count > 40)
  }))
