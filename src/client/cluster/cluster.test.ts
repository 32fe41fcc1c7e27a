import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ErrorCode } from '../../base/error-code.ts'
import { World } from '../../simulator/io/world.ts'
import { clientConfig } from '../client-options.ts'
import { FakeCluster } from '../fixtures/fake-cluster.ts'
import { MillraceError } from '../millrace-error.ts'
import { metadataApi } from './api-messages.ts'
import { Cluster } from './cluster.ts'

async function clusterWorld(nodes = 1, options: object = {}) {
  const world = new World({ seed: 3 })
  const fake = new FakeCluster(world, nodes)
  await world.finish(fake.start())
  const io = world.addNode('client').start()
  const cluster = new Cluster(io, clientConfig({ bootstrapServers: fake.bootstrapServers, ...options }))
  return { world, fake, cluster, finish: <T>(promise: Promise<T>) => world.finish(promise, { withinMs: 300_000 }) }
}

test('what is not watched is not asked for, and what many want is asked for once', async () => {
  const { world, fake, cluster, finish } = await clusterWorld()
  fake.addTopic('t', 1)
  fake.addTopic('u', 1)
  cluster.watch('t', { create: false })
  await finish(Promise.all([1, 2, 3].map(() => cluster.topic('t', 5000))))
  assert.equal(fake.asked('Metadata').length, 1)
  assert.deepEqual(
    cluster.metadata.topics.map(({ name }) => name),
    ['t'],
  )
  for (let i = 0; i < 100; i++) cluster.requestRefresh()
  await world.advance(1000)
  assert.equal(fake.asked('Metadata').length, 2)
})

test('metadata gets old', async () => {
  const { world, fake, cluster, finish } = await clusterWorld(1, { metadataMaxAgeMs: 10_000 })
  await finish(cluster.refresh(5000))
  const asked = fake.asked('Metadata').length
  await world.advance(35_000)
  assert.equal(fake.asked('Metadata').length - asked, 3)
})

test('who only says nothing is not waited for: another bootstrap server is asked', async () => {
  const { world, fake, cluster, finish } = await clusterWorld(4)
  for (const nodeId of [1, 2, 3]) fake.node(nodeId).host.crash('power')
  await finish(cluster.refresh(10_000))
  assert.ok(world.nowMs < 4000, `${world.nowMs}`)
})

test('a broker that hangs after it was connected holds up metadata for a second at most', async () => {
  const { world, fake, cluster, finish } = await clusterWorld(3)
  await finish(cluster.refresh(5000))
  const busy = fake.asked('Metadata')[0].nodeId
  fake.mischief = ({ api, nodeId }) => (api === 'Metadata' && nodeId === busy ? { type: 'silence' } : undefined)
  const before = world.nowMs
  await finish(cluster.refresh(10_000))
  assert.ok(world.nowMs - before < 1500, `${world.nowMs - before}`)
})

test('where no broker answers, the error names all servers and what to look at', async () => {
  const { fake, cluster, finish } = await clusterWorld(2)
  for (const { host } of fake.nodes) host.crash('kill')
  await assert.rejects(finish(cluster.refresh(3000)), (error: MillraceError) => {
    assert.equal(error.code, 'TIMED_OUT')
    assert.match(
      error.message,
      /no broker of broker-1:9092, broker-2:9092 .* cannot connect to broker-\d:9092.*advertised.listeners/,
    )
    return error.retriable
  })
})

test('brokers that come back are found again', async () => {
  const { world, fake, cluster, finish } = await clusterWorld(1)
  await finish(cluster.refresh(3000))
  fake.node(1).host.crash('kill')
  cluster.requestRefresh()
  await world.advance(20_000)
  const refreshed = cluster.refresh(10_000)
  await finish(fake.startNode(1))
  const before = world.nowMs
  await finish(refreshed)
  assert.ok(world.nowMs - before < 2500, `${world.nowMs - before}`)
})

test('a dead broker is dialled ever more slowly', async () => {
  const { world, fake, cluster, finish } = await clusterWorld(1)
  fake.node(1).host.crash('kill')
  void cluster.refresh(200_000).catch(() => undefined)
  const before = world.trace.events
  await world.advance(100_000)
  // A second between attempts, and a few events for each.
  assert.ok(world.trace.events - before < 1500, `${world.trace.events - before}`)
  await finish(fake.startNode(1))
})

test('a topic that may not be seen fails at once, one that is missing after its time', async () => {
  const { world, fake, cluster, finish } = await clusterWorld()
  cluster.watch('t', { create: false })
  await assert.rejects(finish(cluster.topic('t', 2000)), { code: 'UNKNOWN_TOPIC_OR_PARTITION' })
  assert.ok(world.nowMs >= 2000)
  const topics = [{ errorCode: ErrorCode.topicAuthorizationFailed, name: 't', partitions: [] }]
  fake.mischief = ({ api }) => {
    if (api !== 'Metadata') return undefined
    return { type: 'answer', body: { brokers: [fake.endpointOf(1)], controllerId: 1, topics } }
  }
  await finish(cluster.refresh(5000))
  const before = world.nowMs
  await assert.rejects(finish(cluster.topic('t', 9000)), { code: 'TOPIC_AUTHORIZATION_FAILED' })
  assert.ok(world.nowMs - before < 100)
})

test('a cluster that tells to bootstrap anew is believed', async () => {
  const { fake, cluster, finish } = await clusterWorld(2)
  await finish(cluster.refresh(5000))
  let told = 0
  fake.mischief = ({ api }) => {
    if (api !== 'Metadata' || told++ > 0) return undefined
    return { type: 'answer', body: { brokers: [], topics: [], errorCode: ErrorCode.rebootstrapRequired } }
  }
  await finish(cluster.refresh(5000))
  assert.equal(cluster.metadata.brokers.length, 2)
})

test('a broker with a new address is connected to there', async () => {
  const { world, fake, cluster, finish } = await clusterWorld(2)
  await finish(cluster.refresh(5000))
  await finish(cluster.send(1, metadataApi, { topics: [] }, { lane: 'x' }))
  // Node 1 now lives where node 2 does.
  const moved = { ...fake.endpointOf(2), nodeId: 1 }
  cluster.metadata.learnBroker(moved)
  const before = fake.requests.length
  await finish(cluster.send(1, metadataApi, { topics: [] }, { lane: 'x' }))
  assert.ok(fake.requests.slice(before).every(({ nodeId }) => nodeId === 2))
  void world
})

test('where another broker has taken over an address, the cluster is looked for anew', async () => {
  const { fake, cluster, finish } = await clusterWorld(2)
  await finish(cluster.refresh(5000))
  const own = fake.endpointOf(1)
  // The metadata is old: at the address of node 1 is node 2.
  cluster.metadata.learnBroker({ ...fake.endpointOf(2), nodeId: 1 })
  fake.mischief = ({ api, nodeId, body }) => {
    const isWrong = api === 'ApiVersions' && body.nodeId >= 0 && body.nodeId !== nodeId
    return isWrong ? { type: 'answer', body: { errorCode: ErrorCode.rebootstrapRequired, apiKeys: [] } } : undefined
  }
  const sent = cluster.retry('it', 5000, () => cluster.send(1, metadataApi, { topics: [] }, { lane: 'x' }))
  await finish(sent)
  assert.equal(fake.requests.at(-1)?.nodeId, 1)
  assert.equal(cluster.metadata.broker(1)?.host, own.host)
  const expected = fake.asked('ApiVersions').map(({ body }) => [body.clusterId, body.nodeId])
  assert.deepEqual(expected[0], [null, -1], 'nobody knows who a bootstrap server is')
  assert.ok(expected.some(([clusterId, nodeId]) => clusterId === 'fake' && nodeId === 1))
})

test('each lane is a connection of its own', async () => {
  const { world, fake, cluster, finish } = await clusterWorld(1)
  await finish(cluster.refresh(5000))
  let hangs = true
  fake.mischief = ({ api }) => (api === 'Metadata' && hangs ? { type: 'silence' } : undefined)
  const stuck = cluster.send(1, metadataApi, { topics: [] }, { lane: 'a', timeoutMs: 60_000 }).catch(() => 'ended')
  await world.advance(100)
  hangs = false
  await finish(cluster.send(1, metadataApi, { topics: [] }, { lane: 'b', timeoutMs: 1000 }))
  cluster.closeLane('a')
  assert.equal(await finish(stuck), 'ended')
})

test('a call is tried again until time is over, or it fails for good', async () => {
  const { world, cluster, finish } = await clusterWorld()
  let tries = 0
  const passing = new MillraceError('X', 'not yet', { retriable: true })
  const done = cluster.retry('it', 10_000, () => (++tries < 4 ? Promise.reject(passing) : Promise.resolve('done')))
  assert.equal(await finish(done), 'done')
  const before = world.nowMs
  await assert.rejects(finish(cluster.retry('it', 2000, () => Promise.reject(passing))), (error: MillraceError) => {
    assert.match(error.message, /it was not done within 2000 ms: not yet/)
    return error.code === 'TIMED_OUT' && error.cause === passing
  })
  assert.ok(world.nowMs - before <= 2001)
  const stuck = cluster.retry('it', 500, () => (++tries === 5 ? Promise.reject(passing) : new Promise(() => undefined)))
  await assert.rejects(finish(stuck), { code: 'TIMED_OUT', message: 'it was not done within 500 ms: not yet' })
  const final = new MillraceError('Y', 'never')
  await assert.rejects(finish(cluster.retry('it', 9000, () => Promise.reject(final))), final)
})

test('a closed cluster ends what waits, and nothing begins any more', async () => {
  const { world, fake, cluster, finish } = await clusterWorld()
  fake.mischief = () => ({ type: 'silence' })
  const waiting = [cluster.refresh(60_000), cluster.send(-2, metadataApi, { topics: [] })].map(one =>
    one.catch(e => e.code),
  )
  await world.advance(100)
  cluster.close()
  assert.deepEqual(await finish(Promise.all(waiting)), ['CLOSED', 'CLOSED'])
  assert.ok(world.nowMs < 200)
  await assert.rejects(finish(cluster.send(-2, metadataApi, { topics: [] })), { code: 'CLOSED' })
})
