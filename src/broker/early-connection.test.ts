import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NetworkError } from '../io/network.ts'
import { apiVersionsRequest, apiVersionsResponse } from '../protocol/messages/api-versions.ts'
import { WireConnection } from '../simulator/wire/wire-connection.ts'
import { onBrokerHost } from './fixture.test.ts'

const apiVersions = { request: apiVersionsRequest, response: apiVersionsResponse }

test('the port of a new broker opens once, before the directory is formatted, and who came early is answered', () =>
  onBrokerHost({}, async host => {
    const client = host.world.addNode('early').start()
    const connect = async (): Promise<WireConnection | undefined> => {
      try {
        return await WireConnection.open(client, {
          endpoint: { host: 'broker', port: 9092 },
          connectTimeoutMs: 3000,
          clientId: 'early',
          firstCorrelationId: 0,
          complain: text => assert.fail(text),
        })
      } catch (error) {
        assert.ok(error instanceof NetworkError)
        return undefined
      }
    }
    const isFormatted = () => host.node.disk.files().some(({ path }) => path === 'data/meta.properties')

    const starting = host.start()
    let early = await connect()
    for (; early === undefined; early = await connect()) await host.world.sleep(0.1)
    assert.equal(isFormatted(), false)
    const answer = early.request(apiVersions, 0, {}, { timeoutMs: 20_000 })
    let isStarted = false
    void starting.then(() => {
      isStarted = true
    })
    while (!isStarted) {
      assert.ok(await connect(), 'the port stays open')
      await host.world.sleep(0.1)
    }
    assert.ok(isFormatted())
    assert.equal((await answer).type, 'answered')
    await host.close()
  }))
