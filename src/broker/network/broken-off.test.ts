import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onBrokerHost } from '../fixture.test.ts'

test('a client that breaks off is no fault to tell of, and one whose frame is none is', () =>
  onBrokerHost({}, async host => {
    await host.start()
    const { network } = host.world.addNode('client').start()
    const connect = async () => {
      const connection = await network.connect({ host: 'broker', port: 9092 }, { timeoutMs: 3000 })
      connection.start({ target: () => undefined, received: () => {}, closed: () => {} })
      return connection
    }
    // Half of them by a reset.
    for (let times = 0; times < 10; times++) {
      const broken = await connect()
      broken.send([Buffer.alloc(2)])
      await host.world.sleep(1000)
      broken.destroy()
    }
    await host.world.sleep(1000)
    assert.deepEqual(host.linesWith('connection closed'), [])
    const malformed = await connect()
    malformed.send([Buffer.alloc(4, 0xff)])
    await host.world.sleep(1000)
    assert.equal(host.linesWith('connection closed').length, 1)
    await host.close()
  }))
