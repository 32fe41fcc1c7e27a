import assert from 'node:assert/strict'
import { test } from 'node:test'
import { metadataRequest, metadataResponse } from '../protocol/messages/metadata.ts'
import { onBrokerHost } from './fixture.test.ts'

const metadataApi = { request: metadataRequest, response: metadataResponse }

test('a topic that cannot be created is told of once, however often a client asks for it', () =>
  onBrokerHost({}, async host => {
    await host.start()
    host.node.disk.faults.freeBytes = 0
    for (let times = 0; times < 20; times++) {
      await host.ask(metadataApi, { topics: [{ name: 'topic' }], allowAutoTopicCreation: true }, 9)
    }
    assert.equal(host.linesWith('could not be created automatically').length, 1)
    await host.close()
  }))
