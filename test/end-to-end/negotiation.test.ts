import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { ErrorCode } from '../../src/base/error-code.ts'
import { apiOf } from '../../src/protocol/apis.ts'
import { decode } from '../../src/protocol/codec.ts'
import { apiVersionsResponse } from '../../src/protocol/messages/api-versions.ts'
import { Reader } from '../../src/protocol/reader.ts'
import { hex } from '../../src/records/hex.ts'
import { startBroker, type TestBroker } from '../../src/testing/index.ts'
import { api } from './api.ts'
import { LogLines } from './log-lines.ts'
import { frameOf, RawClient } from './raw-client.ts'
import { batchOf, createTopic, fetch, produceBody } from './requests.ts'

let broker: TestBroker
const log = new LogLines()

before(async () => {
  broker = await startBroker({ log })
})

after(() => broker.close())

async function connect(clientId?: string): Promise<RawClient> {
  return await RawClient.connect({ port: broker.port, clientId })
}

/** The broker closes the connection without an answer and says why. */
async function isRefused(at: { readonly port: number; readonly log: LogLines }, frame: Buffer, reason: string) {
  using client = await RawClient.connect({ port: at.port })
  client.socket.write(framed(frame))
  assert.equal(await client.frame(), undefined)
  await client.closed()
  await at.log.logged(new RegExp(`127\\.0\\.0\\.1.*: ${reason}|: ${reason}.*127\\.0\\.0\\.1`))
  at.log.clear()
}

function framed(bytes: Buffer): Buffer {
  const size = Buffer.alloc(4)
  size.writeInt32BE(bytes.length)
  return Buffer.concat([size, bytes])
}

function header(apiKey: number, apiVersion: number, correlationId = 7): Buffer {
  const bytes = Buffer.alloc(10)
  bytes.writeInt16BE(apiKey, 0)
  bytes.writeInt16BE(apiVersion, 2)
  bytes.writeInt32BE(correlationId, 4)
  bytes.writeInt16BE(-1, 8)
  return bytes
}

const software = { clientSoftwareName: 'raw', clientSoftwareVersion: '1.0' }

test('an ApiVersions version above ours is answered in version 0 with our range, and the connection goes on', async () => {
  for (const version of [6, 99, 0x7fff]) {
    using client = await connect()
    client.socket.write(framed(Buffer.concat([header(18, version), hex('00 ff ff ff')])))
    const reader = new Reader((await client.frame())!)
    assert.equal(reader.int32(), 7)
    const answer = decode(apiVersionsResponse, 0, reader)
    assert.equal(reader.left, 0)
    assert.equal(answer.errorCode, ErrorCode.unsupportedVersion)
    assert.deepEqual(answer.apiKeys, [{ apiKey: 18, minVersion: 0, maxVersion: 5 }])
    const next = await client.call(api.apiVersions, answer.apiKeys[0].maxVersion, software)
    assert.equal(next.errorCode, ErrorCode.none)
  }
})

test('an ApiVersions answer has the old header in every version', async () => {
  using client = await connect()
  for (let version = 0; version <= 5; version++) {
    const id = client.send(api.apiVersions.request, version, version >= 3 ? software : {})
    const frame = (await client.frame())!
    assert.equal(frame.readInt32BE(0), id)
    // The error code follows at once: no tagged section stands between.
    assert.equal(frame.readInt16BE(4), 0)
  }
})

test('names and versions of client software that break the rule are refused, and the connection goes on', async () => {
  using client = await connect()
  const bad = ['', '-raw', 'raw-', 'r aw', 'r_aw', 'rаw', '.']
  for (const clientSoftwareName of bad) {
    const { errorCode, apiKeys } = await client.call(api.apiVersions, 3, { ...software, clientSoftwareName })
    assert.equal(errorCode, ErrorCode.invalidRequest, clientSoftwareName)
    assert.deepEqual(apiKeys, [])
  }
  const { errorCode } = await client.call(api.apiVersions, 3, { ...software, clientSoftwareVersion: '1.0 beta' })
  assert.equal(errorCode, ErrorCode.invalidRequest)
  for (const clientSoftwareName of ['a', 'a1', 'confluent-kafka-javascript', '1.b-c']) {
    assert.equal((await client.call(api.apiVersions, 3, { ...software, clientSoftwareName })).errorCode, ErrorCode.none)
  }
})

test('a client that means another node or cluster is told to start over (version 5)', async () => {
  using client = await connect()
  const ask = async (clusterId: string | null, nodeId: number) =>
    (await client.call(api.apiVersions, 5, { ...software, clusterId, nodeId })).errorCode
  assert.equal(await ask(null, -1), ErrorCode.none)
  assert.equal(await ask(broker.clusterId, 1), ErrorCode.none)
  assert.equal(await ask(broker.clusterId, 2), ErrorCode.rebootstrapRequired)
  assert.equal(await ask('another', 1), ErrorCode.rebootstrapRequired)
  assert.equal(await ask(broker.clusterId, -1), ErrorCode.invalidRequest)
  assert.equal(await ask(null, 1), ErrorCode.invalidRequest)
})

test('features whose lowest level is 0 are told only to clients that can read that', async () => {
  using client = await connect()
  const three = await client.call(api.apiVersions, 3, software)
  const four = await client.call(api.apiVersions, 4, software)
  assert.ok(three.supportedFeatures.every(feature => feature.minVersion > 0))
  assert.deepEqual(
    four.supportedFeatures.filter(feature => feature.minVersion > 0),
    three.supportedFeatures,
  )
  for (const { finalizedFeatures, finalizedFeaturesEpoch } of [three, four]) {
    const level = finalizedFeatures.find(feature => feature.name === 'metadata.version')
    assert.deepEqual(level, { name: 'metadata.version', minVersionLevel: 33, maxVersionLevel: 33 })
    assert.ok(finalizedFeaturesEpoch >= 0)
  }
})

test('Produce is advertised from version 0, and a real version 0 to 2 is refused', async () => {
  using client = await connect()
  const { apiKeys } = await client.call(api.apiVersions, 0, {})
  assert.equal(apiKeys.find(one => one.apiKey === 0)?.minVersion, 0)
  for (const version of [0, 1, 2])
    await isRefused({ port: broker.port, log }, header(0, version), `.*Produce version ${version} is not served`)
})

test('versions that name topics by id come only with a Metadata that gives ids', async () => {
  using client = await connect()
  const { apiKeys } = await client.call(api.apiVersions, 0, {})
  const max = (key: number) => apiKeys.find(one => one.apiKey === key)!.maxVersion
  assert.ok(max(0) >= 13 && max(1) >= 13 && max(8) >= 10 && max(9) >= 10)
  assert.ok(max(3) >= 12)
  const place = await createTopic(client, 'with-id')
  const { topics } = await client.call(api.metadata, 12, { topics: [{ name: 'with-id' }] })
  assert.equal(topics[0].topicId, place.topicId)
})

test('no API is listed that could not be called; one that is not is named in the log, and the removed ones never are', async () => {
  const log = new LogLines()
  await using broker = await startBroker({ log })
  using client = await RawClient.connect({ port: broker.port })
  const { apiKeys } = await client.call(api.apiVersions, 4, software)
  const keys = new Set(apiKeys.map(one => one.apiKey))
  for (const removed of [4, 5, 6, 7]) assert.equal(keys.has(removed), false)
  for (let key = -1; key <= 100; key++) {
    if (keys.has(key)) continue
    const name = apiOf(key)?.name
    await isRefused(
      { port: broker.port, log },
      Buffer.concat([header(key, 0), Buffer.alloc(40)]),
      `.*API key ${key}${name === undefined ? '' : ` \\(${name}\\)`} is not served`,
    )
  }
})

test('versions outside of the advertised range are refused at once, with a line that names API and version', async () => {
  const log = new LogLines()
  await using broker = await startBroker({ log })
  using client = await RawClient.connect({ port: broker.port })
  const { apiKeys } = await client.call(api.apiVersions, 0, {})
  for (const { apiKey, minVersion, maxVersion } of apiKeys) {
    if (apiKey === 18) continue
    // Every older one too: what a Fetch of version 0 gets must not be batches that its client cannot read.
    const older = Array.from({ length: minVersion }, (_, version) => version)
    for (const version of [...older, maxVersion + 1, -1, -0x8000]) {
      await isRefused({ port: broker.port, log }, header(apiKey, version), `.* version ${version} is not served`)
    }
  }
})

test('a negative ApiVersions version is answered as any unknown one', async () => {
  using client = await connect()
  client.socket.write(framed(header(18, -1)))
  const reader = new Reader((await client.frame())!)
  assert.equal(reader.int32(), 7)
  assert.equal(decode(apiVersionsResponse, 0, reader).errorCode, ErrorCode.unsupportedVersion)
})

test('correlation ids come back as they were sent, and answers in the order of requests', async () => {
  using client = await connect()
  const ids = [0, -1, 0x7fffffff, -0x80000000, 5]
  for (const correlationId of ids) {
    client.socket.write(
      frameOf(api.metadata.request, { apiVersion: 12, correlationId, clientId: 'raw' }, { topics: [] }),
    )
  }
  for (const id of ids) assert.equal((await client.frame())!.readInt32BE(0), id)
})

test('a fetch that waits holds back the answers behind it, not before it', async () => {
  using client = await connect()
  await createTopic(client, 'waited-for')
  const topics = [{ topic: 'waited-for', partitions: [{ partition: 0, fetchOffset: 0, partitionMaxBytes: 1000 }] }]
  const first = client.send(api.metadata.request, 12, { topics: [] })
  const second = client.send(api.fetch.request, 12, { maxWaitMs: 100, minBytes: 1, topics })
  const third = client.send(api.metadata.request, 12, { topics: [] })
  for (const id of [first, second, third]) assert.equal((await client.frame())!.readInt32BE(0), id)
})

test('a client without an id is served', async () => {
  using client = await connect()
  client.socket.write(framed(Buffer.concat([header(3, 1), hex('ff ff ff ff')])))
  assert.equal((await client.frame())!.readInt32BE(0), 7)
})

test('fields that a newer client adds as tags are passed over', async () => {
  using client = await connect()
  const unknownTag = hex('01 63 03 616263')
  const body = Buffer.concat([
    hex('02'),
    Buffer.alloc(16),
    hex('08'),
    Buffer.from('with-id'),
    hex('00 00 00'),
    unknownTag,
  ])
  client.socket.write(framed(Buffer.concat([header(3, 12), unknownTag, body])))
  const reader = new Reader((await client.frame())!)
  assert.equal(reader.int32(), 7)
})

test('Produce with acks=0 is not answered, and one that fails ends the connection', async () => {
  using client = await connect()
  await createTopic(client, 'unacknowledged')
  const place = { topic: 'unacknowledged' }
  client.send(api.produce.request, 9, produceBody(place, batchOf(['a']), { acks: 0 }))
  const { highWatermark } = await fetch(client, place, { maxWaitMs: 5000 })
  assert.equal(highWatermark, 1)
  client.send(api.produce.request, 9, produceBody({ topic: 'nowhere' }, batchOf(['a']), { acks: 0 }))
  await client.closed()
  await log.logged(/127\.0\.0\.1: .*acks=0 failed/)
})
