import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import net from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { CollectingReceiver } from '../conformance/collecting-receiver.ts'
import { networkConformance } from '../conformance/network-conformance.ts'
import type { Connection } from '../network.ts'
import { type NodeIoOptions, nodeIo } from './node-io.ts'

const noLog = { write: () => undefined }

const ways: [string, NodeIoOptions][] = [
  ['the real one', {}],
  ['the real one, without sendfile', { sendfile: false }],
  ['the real one, without native calls', { native: null }],
  ['the real one, on data events', { readIntoBuffers: false }],
]

for (const [name, options] of ways)
  networkConformance(name, () => {
    const directory = mkdtempSync(join(tmpdir(), 'millrace-network-'))
    const { network, clock, disk } = nodeIo({ ...options, log: noLog })
    const client = nodeIo({ ...options, log: noLog }).network
    const subject = { clock, server: network, client, host: '127.0.0.1', hostName: 'localhost', disk, directory }
    return { subject, run: body => body(), dispose: async () => rmSync(directory, { recursive: true }) }
  })

async function connectedPair(host = '127.0.0.1') {
  const io = nodeIo({ log: noLog })
  const accepted = Promise.withResolvers<Connection>()
  const listener = await io.network.listen({ host, port: 0 }, { accept: accepted.resolve })
  const client = await io.network.connect({ host, port: listener.endpoint.port }, { timeoutMs: 1000 })
  const server = await accepted.promise
  const [atServer, atClient] = [new CollectingReceiver(), new CollectingReceiver()]
  server.start(atServer)
  client.start(atClient)
  const end = async () => {
    client.destroy()
    await Promise.all([atServer.ended, atClient.ended, listener.close()])
  }
  return { io, server, client, atServer, atClient, end }
}

test('large frames are read to their place, all but their beginning', async () => {
  const { server, client, atServer, atClient, end } = await connectedPair()
  for (const [from, to] of [
    [client, atServer],
    [server, atClient],
  ] as const) {
    const frame = Buffer.alloc(8_000_000, 7)
    const arrived = to.takeIntoSlab(frame.length)
    await Promise.resolve()
    from.send([frame])
    assert.ok((await arrived).equals(frame))
    assert.ok(to.inPlaceBytes >= frame.length - 256 * 1024)
  }
  await end()
})

test('the sends of one turn leave in one write', async () => {
  const { io, server, atClient, end } = await connectedPair()
  let arrivals = 0
  const count = async () => {
    while (atClient.ends === 0) {
      await atClient.more()
      arrivals++
    }
  }
  count().catch(() => undefined)
  for (let number = 0; number < 50; number++) server.send([Buffer.from('head'), Buffer.from('body')])
  await atClient.take(400)
  await io.clock.yieldTurn()
  assert.equal(arrivals, 1)
  await end()
})

test('a peer that has ended its side gets the whole of an answer that was under way', async () => {
  const { network } = nodeIo({ log: noLog })
  const answer = Buffer.alloc(20_000_000, 7)
  const accept = (connection: Connection) =>
    connection.start({ target: () => undefined, received: () => connection.send([answer]), closed: () => undefined })
  const listener = await network.listen({ host: '127.0.0.1', port: 0 }, { accept })
  const client = net.connect({ port: listener.endpoint.port, host: '127.0.0.1', allowHalfOpen: true })
  client.end('request')
  await new Promise(resolve => setTimeout(resolve, 50))
  let received = 0
  for await (const bytes of client) received += bytes.length
  assert.equal(received, answer.length)
  await listener.close()
})

test('IPv6 is another endpoint of its own', async t => {
  try {
    const { server, end } = await connectedPair('::1')
    assert.equal(server.remoteAddress, '::1')
    await end()
  } catch (error) {
    if ((error as { code?: string }).code === 'addressNotAvailable') return t.skip('there is no IPv6 here')
    throw error
  }
})

test('a host that does not answer is given up after the time that was allowed', async () => {
  // A process that stands still accepts as many connections as its backlog has room for; then the kernel answers no more.
  const program = `const server = require('net').createServer().listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () =>
    process.stdout.write(String(server.address().port)))`
  const child = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'inherit'] })
  const filling: net.Socket[] = []
  try {
    const [port] = await once(child.stdout, 'data')
    child.kill('SIGSTOP')
    const endpoint = { host: '127.0.0.1', port: Number(port) }
    for (let number = 0; number < 4; number++) filling.push(net.connect(endpoint).on('error', () => undefined))
    const startMs = performance.now()
    await assert.rejects(nodeIo({ log: noLog }).network.connect(endpoint, { timeoutMs: 200 }), { code: 'timedOut' })
    assert.ok(performance.now() - startMs >= 199)
  } finally {
    for (const socket of filling) socket.destroy()
    child.kill('SIGKILL')
  }
})

test('as many connections wait to be accepted as was asked for', { skip: process.platform !== 'linux' }, async () => {
  const listener = await nodeIo({ log: noLog }).network.listen(
    { host: '127.0.0.1', port: 0 },
    { accept: connection => connection.destroy(), backlog: 3 },
  )
  const { port } = listener.endpoint
  // While this process stands still, nobody accepts. Linux has room for one more than was asked for.
  const program = `let connected = 0
    for (let i = 0; i < 20; i++) require('net').connect(${port}, '127.0.0.1').on('error', () => {}).on('connect', () => connected++)
    setTimeout(() => { console.log(connected); process.exit() }, 500)`
  const { stdout } = spawnSync(process.execPath, ['-e', program], { encoding: 'utf8' })
  await listener.close()
  assert.equal(stdout.trim(), '4')
})

test('an address that is not of this host, and a name that is none, are refused with a reason', async () => {
  const { network } = nodeIo({ log: noLog })
  const listening = network.listen({ host: '192.0.2.1', port: 0 }, { accept: () => undefined })
  await assert.rejects(listening, { code: 'addressNotAvailable' })
  const connecting = network.connect({ host: 'no-such-host.invalid', port: 9 }, { timeoutMs: 5000 })
  await assert.rejects(connecting, error => ['timedOut', 'failed'].includes((error as { code: string }).code))
})
