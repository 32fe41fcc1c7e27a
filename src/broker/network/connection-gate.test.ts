import assert from 'node:assert/strict'
import { test } from 'node:test'
import { apiVersionsRequest, apiVersionsResponse } from '../../protocol/messages/api-versions.ts'
import {
  incrementalAlterConfigsRequest,
  incrementalAlterConfigsResponse,
} from '../../protocol/messages/incremental-alter-configs.ts'
import { WireConnection } from '../../simulator/wire/wire-connection.ts'
import { type BrokerHost, onBrokerHost } from '../fixture.test.ts'

const apiVersions = { request: apiVersionsRequest, response: apiVersionsResponse }
const alterConfigs = { request: incrementalAlterConfigsRequest, response: incrementalAlterConfigsResponse }

let clients = 0

/** Connects so many times at once. Tells after how many tenths of a second they were answered. */
async function storm(host: BrokerHost, count: number, port = 9092): Promise<number[]> {
  const io = host.world.addNode(`storm-${++clients}`).start()
  const beganMs = host.world.nowMs
  const tenths = await Promise.all(
    Array.from({ length: count }, async () => {
      const connection = await WireConnection.open(io, {
        endpoint: { host: 'broker', port },
        connectTimeoutMs: 3000,
        clientId: 'storm',
        firstCorrelationId: 0,
        complain: text => assert.fail(text),
      })
      const answer = await connection.request(apiVersions, 0, {}, { timeoutMs: 60_000 })
      assert.equal(answer.type, 'answered')
      return Math.round((host.world.nowMs - beganMs) / 100)
    }),
  )
  return tenths.sort((a, b) => a - b)
}

async function setRate(host: BrokerHost, rate: number): Promise<number> {
  const configs = [{ name: 'max.connection.creation.rate', configOperation: 0, value: String(rate) }]
  const resources = [{ resourceType: 4, resourceName: '', configs }]
  const { responses } = await host.ask(alterConfigs, { resources, validateOnly: false })
  return responses[0].errorCode
}

test('more connections than may begin in a second wait, none is refused, and the rate can be changed', () =>
  onBrokerHost({ overrides: ['max.connection.creation.rate=2'] }, async host => {
    await host.start()
    assert.equal(await setRate(host, 0), 42)
    assert.equal(await setRate(host, 4), 0)
    await host.world.sleep(5000)
    assert.deepEqual(await storm(host, 7), [0, 0, 0, 0, 3, 5, 8])
    assert.equal(host.linesWith('max.connection.creation.rate is reached').length > 0, true)
    await host.world.sleep(5000)
    const late = storm(host, 50)
    await host.world.sleep(500)
    await setRate(host, 1000)
    assert.ok(Math.max(...(await late)) <= 15)
    await host.close()
  }))

test('one listener may have a rate of its own, and brokers among themselves are not held up by clients', () => {
  const overrides = [
    'listeners=PLAINTEXT://broker:9092,CLIENTS://broker:9094',
    'listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CLIENTS:PLAINTEXT,CONTROLLER:PLAINTEXT',
    'max.connection.creation.rate=4',
    'listener.name.clients.max.connection.creation.rate=1',
  ]
  return onBrokerHost({ overrides }, async host => {
    await host.start()
    assert.deepEqual(await storm(host, 3, 9094), [0, 10, 20])
    assert.deepEqual(await storm(host, 9), Array(9).fill(0))
    await host.close()
  })
})

test('a stop does not wait for connections that wait', () =>
  onBrokerHost({ overrides: ['max.connection.creation.rate=1'] }, async host => {
    await host.start()
    const storming = storm(host, 9).catch(() => undefined)
    await host.world.sleep(1500)
    const beganMs = host.world.nowMs
    assert.equal(await host.broker.close(), true)
    assert.ok(host.world.nowMs - beganMs < 3000)
    assert.equal(host.broker.server.connectionCount, 0)
    host.crash('kill')
    await storming
  }))
