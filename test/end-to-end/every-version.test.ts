import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, test } from 'node:test'
import { apis } from '../../src/protocol/apis.ts'
import { isDefault, layoutOf } from '../../src/protocol/layout.ts'
import type { Fields, Message } from '../../src/protocol/schema.ts'
import { startBroker, type TestBroker } from '../../src/testing/index.ts'
import { api } from './api.ts'
import { fullRequests } from './full-requests.ts'
import { RawClient } from './raw-client.ts'
import { makeWorld, typicalRequests, type World } from './typical-requests.ts'

let broker: TestBroker
let client: RawClient
let world: World
let advertised: readonly { readonly apiKey: number; readonly minVersion: number; readonly maxVersion: number }[]

before(async () => {
  broker = await startBroker({ overrides: { 'offsets.topic.num.partitions': '2', 'broker.rack': 'rack-1' } })
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

/** Fields that had something other than their defaults, as `Fetch 12 request topics.partitions.partition`. */
const seen = new Set<string>()

for (const { name, call, from, to, body, check } of [...typicalRequests, ...fullRequests]) {
  test(`${name} is answered in every version${from === to ? '' : ` from ${from} to ${to}`}`, async () => {
    const { maxVersion } = advertised.find(one => one.apiKey === call.request.key)!
    for (let version = from; version <= Math.min(to, maxVersion); version++) {
      const asked = await body(version, world)
      const answer = await client.call(call, version, asked as never)
      see(call.request, version, asked)
      see(call.response, version, answer)
      try {
        check(answer, version, world)
      } catch (error) {
        throw new Error(`${name} version ${version}: ${JSON.stringify(answer, plain)}`, { cause: error })
      }
    }
  })
}

/** What no answer of one broker without transactions and quotas has. */
const neverAnswered: readonly RegExp[] = [
  /throttleTimeMs/,
  /^Produce.*currentLeader|^Fetch.*currentLeader|nodeEndpoints/, // where to go instead: there is nowhere else
  /^Fetch.*abortedTransactions/,
  /^Fetch.*snapshotId/, // of the metadata log
  /^Fetch.*preferredReadReplica/,
  /offlineReplicas|isFenced/,
  /zkMigrationReady/,
  /topicConfigErrorCode|^ListGroups.* errorCode/, // without leave to see them
  /^Metadata.*partitions\.errorCode|^Metadata 13 answer errorCode|^DescribeTopic.*partitions\.errorCode/, // without a leader
  /^OffsetFetch.*errorCode/, // by a coordinator that is not ready: groups.test.ts
  /^FindCoordinator 0 answer errorCode|^DescribeGroups [0-5] answer groups\.errorCode/, // the same
  /^ApiVersions [0-2] answer errorCode|^DescribeCluster 0 answer error/, // the request has nothing that could be wrong
  /^CreateTopics.*configs\.(readOnly|isSensitive)/, // no setting of a topic is
  /^DeleteGroups 3 answer results\.errorMessage/,
  /^UpdateFeatures.*results/, // by a cluster that is not ready
  /^InitProducerId.*producerEpoch/, // only a transactional producer gets another than 0
  /^DescribeCluster.*endpointType/,
]

test('every field of every request and answer had something of its own, in every version', () => {
  const missing: string[] = []
  for (const { call } of typicalRequests) {
    const { maxVersion } = advertised.find(one => one.apiKey === call.request.key)!
    for (let version = call.request.minVersion; version <= maxVersion; version++) {
      for (const path of pathsOf(call.request, version)) if (!seen.has(path)) missing.push(path)
      for (const path of pathsOf(call.response, version)) {
        if (!seen.has(path) && !neverAnswered.some(one => one.test(path))) missing.push(path)
      }
    }
  }
  assert.deepEqual(missing, [])
})

function pathsOf(message: Message, version: number): string[] {
  const paths: string[] = []
  const walk = (fields: Fields, prefix: string) => {
    const { plain, tagged } = layoutOf(fields, version)
    for (const [name, { of }] of [...plain, ...tagged]) {
      paths.push(`${prefix}${name}`)
      if (typeof of === 'object') walk(of, `${prefix}${name}.`)
    }
  }
  walk(message.fields, prefixOf(message, version))
  return paths
}

function see(message: Message, version: number, value: unknown): void {
  const walk = (fields: Fields, struct: Readonly<Record<string, unknown>>, prefix: string) => {
    const { plain, tagged } = layoutOf(fields, version)
    for (const [name, field] of [...plain, ...tagged]) {
      const one = struct[name]
      if (!isDefault(field, one)) seen.add(`${prefix}${name}`)
      if (typeof field.of !== 'object' || one === null || one === undefined) continue
      for (const inner of [one].flat()) walk(field.of, inner as Record<string, unknown>, `${prefix}${name}.`)
    }
  }
  walk(message.fields, value as Record<string, unknown>, prefixOf(message, version))
}

function prefixOf({ name }: Message, version: number): string {
  return `${name.replace(/(Request|Response)$/, ` ${version} `)}${name.endsWith('Request') ? 'request' : 'answer'} `
}

function plain(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value
}
