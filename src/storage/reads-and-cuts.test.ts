import assert from 'node:assert/strict'
import { test } from 'node:test'
import { batchOf, type Host, onHost, written } from './fixture.test.ts'
import type { SegmentedLog } from './segmented-log.ts'

/** Milliseconds after which what goes on beside a cut begins: with some of these it is under way when the file gets shorter. */
const waits = Array.from({ length: 100 }, (_, index) => index / 10)

/** A follower's log of one segment that nobody has read since it was opened. */
async function unread(host: Host): Promise<SegmentedLog> {
  const log = await host.openLog()
  for (let offset = 0; offset < 10; offset++) {
    const partitionLeaderEpoch = offset < 5 ? 1 : 2
    const batch = batchOf({ baseOffset: offset, partitionLeaderEpoch, valueBytes: 1000, timestamp: 1000 + offset })
    assert.equal(log.appendAsFollower(batch), undefined)
  }
  await written(host, log)
  return await host.reopen()
}

test('a read that a cut overtakes finds no damage', async () => {
  for (const waitMs of waits) {
    await onHost({ seed: waitMs }, async host => {
      const log = await unread(host)
      const cut = log.truncate({ endOffset: 5 })
      await host.world.sleep(waitMs)
      const reads = [4, 6, 9].map(offset =>
        log.read({ offset, maxBytes: 1000, minOneBatch: true, isolation: 'logEndOffset' }),
      )
      const answers = await Promise.all(reads)
      await cut
      assert.deepEqual(host.faults.damage, [], `after ${waitMs} ms`)
      assert.equal(answers[0].type, 'read')
    })
  }
})

test('a search that a cut overtakes finds no damage', async () => {
  for (const waitMs of waits) {
    await onHost({ seed: waitMs }, async host => {
      const log = await unread(host)
      const cut = log.truncate({ endOffset: 5 })
      await host.world.sleep(waitMs)
      const searches = [log.findByTimestamp(1004n), log.findByTimestamp(1009n), log.findMaxTimestamp()]
      const [kept] = await Promise.all(searches)
      await cut
      assert.deepEqual(host.faults.damage, [], `after ${waitMs} ms`)
      assert.deepEqual(kept, { offset: 4, timestamp: 1004n, leaderEpoch: 1 })
      assert.deepEqual(await log.findMaxTimestamp(), kept)
    })
  }
})

test('a stop in the middle of a cut leaves a log that is cut, and its directory is marked clean', async () => {
  for (const waitMs of waits) {
    await onHost({ seed: waitMs }, async host => {
      const log = await unread(host)
      log.roll()
      const later = batchOf({ baseOffset: 10, partitionLeaderEpoch: 2 })
      assert.equal(log.appendAsFollower(later), undefined)
      await written(host, log)
      const cut = log.truncate({ endOffset: 5 })
      await host.world.sleep(waitMs)
      assert.deepEqual(await host.directories.close({ brokerEpoch: 7 }), [], `after ${waitMs} ms`)
      await cut
      host.node.crash('kill')
      const reads: string[] = []
      const { decide } = host.node.disk.faults
      host.node.disk.faults.decide = (operation, path, random) => {
        if (operation === 'read' && path.endsWith('.log')) reads.push(path)
        return decide.call(host.node.disk.faults, operation, path, random)
      }
      const again = await host.openLog()
      assert.equal(again.logEndOffset, 5, `after ${waitMs} ms`)
      assert.deepEqual(again.inspect().epochs, [{ leaderEpoch: 1, startOffset: 0 }])
      assert.deepEqual([reads, host.faults.damage], [[], []], `after ${waitMs} ms`)
      host.node.disk.faults.decide = decide
    })
  }
})
