import assert from 'node:assert/strict'
import { test } from 'node:test'
import { encodeRequest } from '../../protocol/frames.ts'
import { metadataRequest } from '../../protocol/messages/metadata.ts'
import { Writer } from '../../protocol/writer.ts'
import { onBrokerHost } from '../fixture.test.ts'

const clients = 40
const capacityBytes = 1024 * 1024
const overrides = [`queued.max.request.bytes=${capacityBytes}`, `socket.request.max.bytes=${capacityBytes}`]
/** What Metadata tells of 300 partitions. */
const answerBytes = 16 * 1024

function metadataFrame(): Buffer {
  const header = { apiVersion: 12, correlationId: 1, clientId: 'deaf' }
  const { parts } = encodeRequest(new Writer({ chunkBytes: 512, copiesAll: true }), header, metadataRequest, {
    topics: null,
  })
  return Buffer.from(parts[0] as Buffer)
}

test('clients that do not read hold the budget and one answer each, and others are served', () =>
  onBrokerHost({ overrides }, async host => {
    await host.start()
    await host.createTopic('wide', 300)
    const { network } = host.world.addNode('deaf').start()
    const asking = Buffer.concat(Array.from({ length: 500 }, metadataFrame))
    for (let index = 0; index < clients; index++) {
      const connection = await network.connect({ host: 'broker', port: 9092 }, { timeoutMs: 3000 })
      connection.start({ target: () => undefined, received: () => {}, closed: () => {} })
      connection.pause()
      connection.send([asking])
    }
    await host.world.sleep(5000)
    const { usedBytes } = host.broker.budget
    assert.ok(usedBytes > capacityBytes / 2, `${usedBytes} bytes: the clients did not read`)
    assert.ok(usedBytes < capacityBytes + clients * answerBytes, `${usedBytes} bytes`)
    assert.equal((await host.produce('wide')).errorCode, 0)
    await host.close()
  }))
