import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, test } from 'node:test'
import { apis } from '../../src/protocol/apis.ts'
import { startBroker, type TestBroker } from '../../src/testing/index.ts'
import { api } from './api.ts'
import { RawClient } from './raw-client.ts'
import { makeWorld, typicalRequests, type World } from './typical-requests.ts'

let broker: TestBroker
let client: RawClient
let world: World
let advertised: readonly { readonly apiKey: number; readonly minVersion: number; readonly maxVersion: number }[]

before(async () => {
  broker = await startBroker({ overrides: { 'offsets.topic.num.partitions': '2' } })
  client = await RawClient.connect({ port: broker.port })
  world = await makeWorld(client, broker.port)
  advertised = (await client.call(api.apiVersions, 0, {})).apiKeys
})

after(async () => {
  client.close()
  await broker.close()
})

test('what is advertised is what is tested, in the versions of Kafka 4.4', () => {
  const tested = typicalRequests.map(({ call }) => call.request.key).sort((a, b) => a - b)
  assert.deepEqual(
    advertised.map(one => one.apiKey),
    tested,
  )
  for (const { apiKey, minVersion, maxVersion } of advertised) {
    const kafka = apis.find(one => one.key === apiKey)!
    // Produce says 0, since librdkafka takes that for a sign of old age otherwise; its bodies begin with 3.
    assert.deepEqual([apiKey, minVersion, maxVersion], [apiKey, apiKey === 0 ? 0 : kafka.minVersion, kafka.maxVersion])
  }
})

test('the documentation lists the same APIs and versions', () => {
  const table = readFileSync('docs/kafka-compatibility.md', 'utf8')
  const documented = [...table.matchAll(/^\| (\w+) \| (\d+)(?:–(\d+))? \|/gm)].map(([, name, from, to]) => {
    return `${name} ${from}–${to ?? from}`
  })
  const served = typicalRequests.map(({ name, call }) => {
    const { maxVersion } = advertised.find(one => one.apiKey === call.request.key)!
    return `${name} ${call.request.minVersion}–${maxVersion}`
  })
  assert.deepEqual(documented.sort(), served.sort())
})

for (const { name, call, body, check } of typicalRequests) {
  test(`${name} is answered in every version`, async () => {
    const { maxVersion } = advertised.find(one => one.apiKey === call.request.key)!
    for (let version = call.request.minVersion; version <= maxVersion; version++) {
      const answer = await client.call(call, version, (await body(version, world)) as never)
      try {
        check(answer, version, world)
      } catch (error) {
        throw new Error(`${name} version ${version}: ${JSON.stringify(answer, plain)}`, { cause: error })
      }
    }
  })
}

function plain(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value
}
