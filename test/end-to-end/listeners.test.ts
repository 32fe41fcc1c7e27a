import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createClient } from '../../src/client/index.ts'
import { ApiKey } from '../../src/protocol/apis.ts'
import { startBroker } from '../../src/testing/start-broker.ts'
import { freePorts } from '../compatibility/free-port.ts'
import { FrameProxy } from '../frame-proxy.ts'
import { api } from './api.ts'
import { RawClient } from './raw-client.ts'

const names = ['INSIDE', 'OUTSIDE'] as const

/** Every listener is advertised at a proxy's port: what comes by there has come by an address that a client was told. */
async function twoListeners() {
  const ports = await freePorts(5)
  const [controller, ...rest] = ports
  const listeners = names.map((name, index) => ({
    name,
    port: rest[index],
    advertised: rest[index + 2],
    seen: [] as number[],
  }))
  const all = (address: (one: (typeof listeners)[number]) => string) =>
    listeners.map(one => `${one.name}://${address(one)}`).join(',')
  const broker = await startBroker({
    topics: { orders: 1 },
    overrides: {
      listeners: `${all(({ port }) => `127.0.0.1:${port}`)},CONTROLLER://127.0.0.1:${controller}`,
      'advertised.listeners': all(({ advertised }) => `127.0.0.1:${advertised}`),
      'controller.quorum.bootstrap.servers': `127.0.0.1:${controller}`,
      'listener.security.protocol.map': 'INSIDE:PLAINTEXT,OUTSIDE:PLAINTEXT,CONTROLLER:PLAINTEXT',
      'inter.broker.listener.name': 'INSIDE',
    },
  })
  const proxies = await Promise.all(
    listeners.map(({ port, advertised, seen }) =>
      FrameProxy.start({
        port: advertised,
        brokerPort: () => port,
        asked: ({ header }) => void seen.push(header.apiKey),
        answered: (_request, frame) => frame,
      }),
    ),
  )
  const close = async () => {
    for (const proxy of proxies) await proxy[Symbol.asyncDispose]()
    await broker.close()
  }
  return { listeners, close }
}

test('each client is told the address of the listener by which it came', async () => {
  const { listeners, close } = await twoListeners()
  try {
    for (const { port, advertised } of listeners) {
      using client = await RawClient.connect({ port })
      for (const version of [0, 12]) {
        const topics = version === 0 ? [] : null
        const { brokers } = await client.call(api.metadata, version, { topics })
        assert.deepEqual(
          brokers.map(({ host, port: told }) => `${host}:${told}`),
          [`127.0.0.1:${advertised}`],
          `Metadata ${version}`,
        )
      }
      const described = await client.call(api.describeCluster, 1, { includeClusterAuthorizedOperations: false })
      assert.deepEqual(
        described.brokers.map(({ port: told }) => told),
        [advertised],
      )
      const single = await client.call(api.findCoordinator, 0, { key: 'group' })
      assert.equal(single.port, advertised)
      const many = await client.call(api.findCoordinator, 4, { keyType: 0, coordinatorKeys: ['group'] })
      assert.equal(many.coordinators[0].port, advertised)
    }
  } finally {
    await close()
  }
})

test('a client stays on the side on which it began, with all that it does', async () => {
  const { listeners, close } = await twoListeners()
  try {
    for (const [index, { name, port, seen }] of listeners.entries()) {
      const other = listeners[1 - index]
      const elsewhere = other.seen.length
      const client = createClient({ bootstrapServers: `127.0.0.1:${port}` })
      const producer = client.producer()
      await producer.send({ topic: 'orders', value: name })
      const consumer = client.consumer({ groupId: name, offsetReset: 'earliest' })
      consumer.subscribe(['orders'])
      const values: string[] = []
      while (values.length <= index) {
        for (const batch of await consumer.poll()) for (const { value } of batch) values.push(String(value))
      }
      await consumer.commit()
      await client.close()
      assert.deepEqual(values, names.slice(0, index + 1))
      for (const key of [ApiKey.produce, ApiKey.fetch, ApiKey.joinGroup, ApiKey.offsetCommit])
        assert.ok(seen.includes(key), `API ${key} goes by the address that ${name} is told`)
      assert.equal(other.seen.length, elsewhere, `nothing goes to ${other.name}`)
    }
  } finally {
    await close()
  }
})
