import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { CollectingReceiver } from '../../io/conformance/collecting-receiver.ts'
import { networkConformance } from '../../io/conformance/network-conformance.ts'
import type { Connection } from '../../io/network.ts'
import { World } from './world.ts'

for (const seed of [1, 2, 3])
  networkConformance(`the simulated one (seed ${seed})`, () => {
    const world = new World({ seed })
    const [server, client] = ['server', 'client'].map(name => world.addNode(name))
    const { network, clock, disk } = server!.start()
    disk.makeDirectory('/data')
    const subject = {
      clock,
      server: network,
      client: client!.start().network,
      host: server!.address,
      hostName: 'server',
      disk,
      directory: '/data',
    }
    return { subject, run: body => world.finish(body()), dispose: async () => undefined }
  })

/** A client and a server node with one connection between them. */
async function connectedWorld(seed: number) {
  const world = new World({ seed })
  const [serverNode, clientNode] = [world.addNode('server'), world.addNode('client')]
  const [serverIo, clientIo] = [serverNode.start(), clientNode.start()]
  const accepted = Promise.withResolvers<Connection>()
  const endpoint = { host: 'server', port: 9092 }
  await world.finish(serverIo.network.listen(endpoint, { accept: accepted.resolve }))
  const client = await world.finish(clientIo.network.connect(endpoint, { timeoutMs: 5000 }))
  const server = await world.finish(accepted.promise)
  const [atServer, atClient] = [new CollectingReceiver(), new CollectingReceiver()]
  server.start(atServer)
  client.start(atClient)
  return { world, endpoint, serverNode, clientNode, serverIo, clientIo, server, client, atServer, atClient }
}

type ConnectedWorld = Awaited<ReturnType<typeof connectedWorld>>

async function forSeeds<T>(count: number, body: (setting: ConnectedWorld) => Promise<T>): Promise<T[]> {
  const found: T[] = []
  for (let seed = 0; seed < count; seed++) found.push(await body(await connectedWorld(seed)))
  return found
}

describe('network faults', () => {
  test('a partition stalls connections, and what was sent arrives when it heals', () =>
    forSeeds(10, async ({ world, serverNode, clientNode, client, atServer }) => {
      world.network.partition([serverNode], [clientNode])
      client.send([Buffer.from('late')])
      await world.advance(20_000)
      assert.equal(atServer.receivedBytes, 0)
      world.network.heal()
      assert.equal(String(await world.finish(atServer.take(4))), 'late')
    }).then(() => undefined))

  test('a one-way partition lets the other direction through', () =>
    forSeeds(10, async ({ world, serverNode, clientNode, client, server, atServer, atClient }) => {
      world.network.partition([clientNode], [serverNode], { oneWay: true })
      client.send([Buffer.from('held back')])
      server.send([Buffer.from('through')])
      assert.equal(String(await world.finish(atClient.take(7))), 'through')
      await world.advance(10_000)
      assert.equal(atServer.receivedBytes, 0)
    }).then(() => undefined))

  test('nobody connects through a partition, to a host without power, or where nobody listens', () =>
    forSeeds(10, async ({ world, endpoint, serverNode, clientNode, clientIo }) => {
      const connect = () => world.finish(clientIo.network.connect(endpoint, { timeoutMs: 3000 }))
      world.network.partition([clientNode], [serverNode])
      await assert.rejects(connect(), { code: 'timedOut' })
      world.network.heal()
      serverNode.crash('kill')
      await assert.rejects(connect(), { code: 'refused' })
      serverNode.crash('power')
      await assert.rejects(connect(), { code: 'timedOut' })
      serverNode.start()
      await assert.rejects(connect(), { code: 'refused' })
      const stranger = clientIo.network.connect({ host: 'nowhere', port: 1 }, { timeoutMs: 3000 })
      await assert.rejects(world.finish(stranger), { code: 'failed' })
    }).then(() => undefined))

  test('the peer of a killed process hears of it; what the kernel had taken may still arrive', async () => {
    const ends = await forSeeds(40, async ({ world, serverNode, server, atClient, atServer }) => {
      server.send([Buffer.alloc(3000, 'x')])
      await world.advance(world.random('when').below(3))
      serverNode.crash('kill')
      const error = await world.finish(atClient.ended)
      assert.equal(atServer.ends, 0)
      assert.ok(atClient.receivedBytes <= 3000)
      return error === undefined ? 'end' : (error as { code?: string }).code
    })
    assert.deepEqual([...new Set(ends)].sort(), ['end', 'reset'])
  })

  test('the peer of a host without power hears nothing, until it sends to the restarted host or a minute has passed', () =>
    forSeeds(10, async ({ world, serverNode, client, atClient }) => {
      serverNode.crash('power')
      client.send([Buffer.from('anybody there?')])
      await world.advance(30_000)
      assert.equal(atClient.ends, 0)
      const startMs = world.nowMs
      if (world.random('restart').chance(0.5)) {
        serverNode.start()
        client.send([Buffer.from('anybody there?')])
        assert.equal(((await world.finish(atClient.ended)) as { code?: string }).code, 'reset')
        assert.ok(world.nowMs - startMs < 1000)
      } else assert.equal(((await world.finish(atClient.ended)) as { code?: string }).code, 'timedOut')
    }).then(() => undefined))

  test('a reset is seen by both sides', () =>
    forSeeds(10, async ({ world, serverNode, clientNode, atServer, atClient }) => {
      world.network.reset(serverNode, clientNode)
      for (const end of [atServer, atClient])
        assert.equal(((await world.finish(end.ended)) as { code?: string }).code, 'reset')
    }).then(() => undefined))

  test('a connection that falls silent is noticed after a minute, and others are not touched', () =>
    forSeeds(10, async ({ world, endpoint, serverNode, clientNode, clientIo, client, server, atServer, atClient }) => {
      world.network.fallSilent(serverNode, clientNode)
      client.send([Buffer.from('x')])
      server.send([Buffer.from('x')])
      await world.finish(clientIo.network.connect(endpoint, { timeoutMs: 3000 }))
      await world.advance(60_000)
      assert.equal(atServer.receivedBytes + atClient.receivedBytes + atServer.ends + atClient.ends, 0)
      await world.finish(Promise.all([atServer.ended, atClient.ended]))
    }).then(() => undefined))

  test('pieces may cause a reset', async () => {
    const { world, client, atServer, atClient } = await connectedWorld(1)
    world.network.settings.resetChance = 0.2
    for (let number = 0; number < 100; number++) {
      client.send([Buffer.from('x')])
      await world.advance(1)
    }
    await world.finish(Promise.all([atServer.ended, atClient.ended]))
  })
})

describe('mistakes that the network makes visible', () => {
  test('bytes that are changed before they were sent arrive changed', async () => {
    const arrived = await forSeeds(20, async ({ world, serverNode, clientNode, client, atServer }) => {
      const bytes = Buffer.alloc(2_000_000, 'a')
      world.network.partition([clientNode], [serverNode])
      client.send([bytes])
      await world.advance(100)
      bytes.fill('b')
      world.network.heal()
      return (await world.finish(atServer.take(bytes.length))).includes('b')
    })
    assert.ok(arrived.every(changed => changed))
  })

  test('a view that is kept of the shared buffer holds other bytes afterwards', async () => {
    const world = new World({ seed: 1 })
    const { network } = world.addNode('node').start()
    const kept: Buffer[] = []
    const keeper = { target: () => undefined, received: (bytes: Buffer) => kept.push(bytes), closed: () => undefined }
    const listener = await world.finish(
      network.listen({ host: 'node', port: 0 }, { accept: connection => connection.start(keeper) }),
    )
    const client = await world.finish(network.connect(listener.endpoint, { timeoutMs: 1000 }))
    client.send([Buffer.alloc(100, 'a')])
    await world.advance(1000)
    assert.equal(Buffer.concat(kept).length, 100)
    assert.ok(!Buffer.concat(kept).includes('a'))
  })
})

test('one address can be listened on once, all addresses of a host clash with each', async () => {
  const world = new World({ seed: 1 })
  const { network } = world.addNode('node').start()
  const listen = (host: string, port: number) =>
    world.finish(network.listen({ host, port }, { accept: () => undefined }))
  await listen('127.0.0.1', 9092)
  await listen('node', 9092)
  await assert.rejects(listen('0.0.0.0', 9092), { code: 'addressInUse' })
  await assert.rejects(listen('other', 9092), { code: 'addressNotAvailable' })
  const first = await listen('0.0.0.0', 0)
  assert.notEqual(first.endpoint.port, (await listen('0.0.0.0', 0)).endpoint.port)
})
