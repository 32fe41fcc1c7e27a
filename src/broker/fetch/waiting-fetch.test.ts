import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ErrorCode } from '../../base/error-code.ts'
import { type BrokerHost, onBrokerHost } from '../fixture.test.ts'

/** Two records of epoch 0, none of the epochs between, two of the newest: offsets 0 to 3. Answers the newest epoch. */
async function fill(host: BrokerHost): Promise<number> {
  await host.start()
  await host.createTopic('topic')
  await host.produce('topic')
  await host.produce('topic')
  for (let restart = 0; restart < 2; restart++) {
    await host.close()
    await host.start()
  }
  await host.produce('topic')
  await host.produce('topic')
  const topic = host.broker.metadata.image.topic('topic')!
  return host.broker.partitions.byId(topic.id, 0)!.leaderEpoch
}

describe('the epoch that a fetch names as the last', () => {
  test('reads on where the log agrees, and is told where it does not', () =>
    onBrokerHost({}, async host => {
      const newest = await fill(host)
      assert.ok(newest >= 2)
      const ask = async (lastFetchedEpoch: number, fetchOffset: number) => {
        const answer = await host.fetch('topic', 0, { lastFetchedEpoch, fetchOffset })
        const { epoch, endOffset } = answer.divergingEpoch
        const isDiverging = epoch >= 0
        assert.equal((answer.records?.length ?? 0) > 0, answer.errorCode === 0 && !isDiverging && fetchOffset < 4)
        return isDiverging ? `${epoch} ends at ${endOffset}` : answer.errorCode
      }
      assert.equal(await ask(-1, 0), ErrorCode.none)
      assert.equal(await ask(0, 1), ErrorCode.none)
      assert.equal(await ask(0, 2), ErrorCode.none)
      assert.equal(await ask(0, 3), '0 ends at 2')
      assert.equal(await ask(1, 3), '0 ends at 2')
      assert.equal(await ask(1, 1), '0 ends at 2')
      assert.equal(await ask(newest, 4), ErrorCode.none)
      assert.equal(await ask(newest, 5), `${newest} ends at 4`)
      assert.equal(await ask(newest + 1, 2), ErrorCode.offsetOutOfRange)
      assert.equal(await ask(newest + 1, 4), ErrorCode.offsetOutOfRange)
      await host.close()
    }))

  test('does not matter below the start of the log', () =>
    onBrokerHost({}, async host => {
      await fill(host)
      const topic = host.broker.metadata.image.topic('topic')!
      await host.broker.partitions.byId(topic.id, 0)!.log.moveLogStart(1)
      const answer = await host.fetch('topic', 0, { lastFetchedEpoch: 1, fetchOffset: 0 })
      assert.equal(answer.errorCode, ErrorCode.offsetOutOfRange)
      await host.close()
    }))
})
