import assert from 'node:assert/strict'
import { test } from 'node:test'
import { abort, abortedFrom, append, batchOf, type Host, onHost, written } from './fixture.test.ts'
import type { SegmentedLog } from './segmented-log.ts'

/** Milliseconds after which an append begins: with some of these it is in flight when what goes on beside it ends. */
const waits = Array.from({ length: 60 }, (_, index) => index / 5)

async function fail(host: Host, log: SegmentedLog, { waitMs, leaderEpoch }: { waitMs: number; leaderEpoch?: number }) {
  await host.world.sleep(waitMs)
  host.node.disk.faults.failNext('append', 'noSpace', { pathEnd: '.log' })
  append(log, { leaderEpoch })
  await written(host, log)
  assert.deepEqual(host.faults.events.slice(-1), ['full'])
}

test('an append that fails while the log start moves takes back the epoch that it brought, and no other', async () => {
  for (const waitMs of waits) {
    await onHost({ seed: waitMs }, async host => {
      const log = await host.openLog()
      for (const leaderEpoch of [0, 1, 2]) append(log, { leaderEpoch })
      await written(host, log)
      log.moveHighWatermark(3)
      await log.flush()
      const moved = log.moveLogStart(2)
      await fail(host, log, { waitMs, leaderEpoch: 3 })
      await moved
      assert.deepEqual(log.inspect().epochs, [{ leaderEpoch: 2, startOffset: 2 }], `after ${waitMs} ms`)
    })
  }
})

test('the epoch of an append that failed, which was saved meanwhile, is not held against what comes there instead', async () => {
  for (const waitMs of waits) {
    await onHost({ seed: waitMs }, async host => {
      const log = await host.openLog()
      for (const leaderEpoch of [1, 2]) append(log, { leaderEpoch })
      await written(host, log)
      await log.flush()
      log.roll()
      // The files of the segment that has ended, and the epochs, are written.
      const looked = log.compaction.need(0)
      await host.world.sleep(waitMs)
      host.node.disk.faults.failNext('append', 'noSpace', { pathEnd: '.log' })
      assert.equal(log.appendAsFollower(batchOf({ baseOffset: 2, partitionLeaderEpoch: 3 })), undefined)
      await written(host, log)
      await looked
      await host.world.sleep(3000)
      assert.deepEqual(host.faults.events, ['full', 'writable'])
      // Another leads by then, and had not heard of that epoch.
      assert.equal(log.appendAsFollower(batchOf({ baseOffset: 2, partitionLeaderEpoch: 2 })), undefined)
      await written(host, log)
      host.node.crash('kill')
      const again = await host.openLog()
      assert.deepEqual(host.faults.damage, [], `after ${waitMs} ms`)
      assert.equal(again.logEndOffset, 3)
    })
  }
})

test('an append that fails while the indexes are made anew takes nothing from them', async () => {
  for (const waitMs of waits) {
    await onHost({ seed: waitMs, config: { indexIntervalBytes: 100 } }, async host => {
      const first = await host.openLog()
      for (let count = 0; count < 10; count++) append(first, { timestamp: 1000 + count })
      assert.equal(abort(first), 10)
      await written(host, first)
      await host.close()
      await host.open()
      host.node.disk.faults.failNext('read', 'io', { pathEnd: '.index' })
      const log = host.log()
      append(log)
      await written(host, log)
      log.moveHighWatermark(13)
      const early = abortedFrom(log, 10)
      await fail(host, log, { waitMs })
      for (const aborted of [early, abortedFrom(log, 10)]) assert.deepEqual(await aborted, [10], `${waitMs} ms`)
    })
  }
})

test('an append that fails while the indexes are made anew leaves the largest timestamp as it was', async () => {
  for (const waitMs of waits) {
    await onHost({ seed: waitMs, config: { indexIntervalBytes: 100 } }, async host => {
      const first = await host.openLog()
      for (const timestamp of [9000, 1000]) append(first, { timestamp })
      await written(host, first)
      await host.close()
      await host.open()
      host.node.disk.faults.failNext('read', 'io', { pathEnd: '.index' })
      const log = host.log()
      append(log, { timestamp: 2000 })
      await written(host, log)
      const early = log.findByTimestamp(1n)
      await fail(host, log, { waitMs })
      await early
      assert.deepEqual(await log.findMaxTimestamp(), { leaderEpoch: 0, offset: 0, timestamp: 9000n }, `${waitMs} ms`)
    })
  }
})
