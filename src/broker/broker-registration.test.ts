import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type BrokerHost, onBrokerHost } from './fixture.test.ts'

/** What the metadata says of the broker and of the one partition. */
function stateOf(host: BrokerHost) {
  const { image } = host.broker.metadata
  const broker = image.broker(1)!
  const partition = image.partition(image.topic('topic')!.id, 0)!
  const { leader, leaderEpoch, isr, elr } = partition
  return {
    ...{ fenced: broker.fenced, inControlledShutdown: broker.inControlledShutdown },
    partition: { leader, leaderEpoch, isr: [...isr], elr: [...elr] },
  }
}

describe('a broker that stops in good order', () => {
  test('gives up its leaderships and goes out of service, as Kafka does', () =>
    onBrokerHost({}, async host => {
      await host.start()
      await host.createTopic('topic')
      await host.produce('topic')
      const { partition, ...running } = stateOf(host)
      assert.deepEqual(running, { fenced: false, inControlledShutdown: false })
      assert.equal(await host.broker.close(), true)
      assert.deepEqual(stateOf(host), {
        ...{ fenced: true, inControlledShutdown: true },
        partition: { leader: -1, leaderEpoch: partition.leaderEpoch + 1, isr: [1], elr: [] },
      })
      host.crash('kill')

      await host.start()
      assert.deepEqual(stateOf(host), {
        ...{ fenced: false, inControlledShutdown: false },
        partition: { leader: 1, leaderEpoch: partition.leaderEpoch + 2, isr: [1], elr: [] },
      })
      assert.equal((await host.produce('topic')).baseOffset, 1)
      await host.close()
    }))

  test('does so with a full disk too, as far as that goes, and in time', () =>
    onBrokerHost({}, async host => {
      await host.start()
      await host.createTopic('topic')
      await host.produce('topic')
      host.node.disk.faults.freeBytes = 10
      const before = host.world.nowMs
      assert.equal(await host.broker.close(), false)
      assert.ok(host.world.nowMs - before < 15_000, `${host.world.nowMs - before} ms`)
      host.crash('kill')
      host.node.disk.faults.freeBytes = 2 ** 40
      await host.start()
      assert.equal((await host.produce('topic')).baseOffset, 1)
      await host.close()
    }))
})
