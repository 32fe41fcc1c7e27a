import assert from 'node:assert/strict'
import { test } from 'node:test'
import { leaderEpochFileName } from '../core/log/file-names.ts'
import { abort, abortedFrom, append, batchOf, type Host, onHost, readAll, tryAppend, written } from './fixture.test.ts'
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

for (const [next, epoch] of [
  ['a follower of an older epoch', 2],
  ['a leader', 7],
] as const) {
  test(`epochs of an append that failed, which were saved meanwhile, are not held against what ${next} writes there`, () =>
    onHost({}, async host => {
      const log = await host.openLog()
      for (const leaderEpoch of [1, 2]) append(log, { leaderEpoch })
      await written(host, log)
      await log.flush()
      log.roll()
      const { faults } = host.node.disk
      faults.failNext('append', 'noSpace', { pathEnd: '.log' })
      faults.stalledUntilUs = (host.world.nowMs + 200) * 1000
      const copied = [3, 4].map((leaderEpoch, at) => batchOf({ baseOffset: 2 + at, partitionLeaderEpoch: leaderEpoch }))
      assert.equal(log.appendAsFollower(Buffer.concat(copied)), undefined)
      await host.world.sleep(1)
      // Only the append takes long: the epochs are saved with the files of the segment that has ended.
      faults.stalledUntilUs = 0
      await log.compaction.need(0)
      assert.equal(log.nextOffset, 4)
      assert.match(String(host.io.disk.readSmallFile(`${log.path}/${leaderEpochFileName}`, 100)), /\n4 3\n$/)
      await written(host, log)
      assert.equal(log.nextOffset, 2)
      await host.world.sleep(3000)
      assert.deepEqual(host.faults.events, ['full', 'writable'])
      if (next === 'a leader') log.assignLeaderEpoch(epoch)
      for (const baseOffset of [2, 3, 4]) {
        if (next === 'a leader') append(log, { leaderEpoch: epoch })
        else assert.equal(log.appendAsFollower(batchOf({ baseOffset, partitionLeaderEpoch: epoch })), undefined)
      }
      await written(host, log)
      host.node.crash('kill')
      const again = await host.openLog()
      assert.deepEqual(host.faults.damage, [])
      assert.equal(again.logEndOffset, 5)
    }))
}

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
      append(log, { timestamp: 9000 })
      await written(host, log)
      const early = log.findByTimestamp(1n)
      await fail(host, log, { waitMs })
      await early
      assert.deepEqual(await log.findMaxTimestamp(), { leaderEpoch: 0, offset: 0, timestamp: 9000n }, `${waitMs} ms`)
    })
  }
})

test('who leads on in a newer epoch while an append fails has that epoch, from where the log ends then', () =>
  onHost({}, async host => {
    const log = await host.openLog()
    log.assignLeaderEpoch(1)
    append(log, { leaderEpoch: 1 })
    await written(host, log)
    host.node.disk.faults.failNext('append', 'noSpace', { pathEnd: '.log' })
    append(log, { leaderEpoch: 1, count: 5 })
    log.assignLeaderEpoch(2)
    await written(host, log)
    assert.deepEqual(
      log.inspect().epochs,
      [1, 2].map((leaderEpoch, startOffset) => ({ leaderEpoch, startOffset })),
    )
    assert.deepEqual(log.endOffsetForEpoch(2), { leaderEpoch: 2, endOffset: 1 })
    await host.world.sleep(3000)
    // As a follower it has what its leader had.
    host.node.disk.faults.failNext('append', 'noSpace', { pathEnd: '.log' })
    assert.equal(log.appendAsFollower(batchOf({ baseOffset: 1, partitionLeaderEpoch: 3 })), undefined)
    await written(host, log)
    assert.equal(log.latestEpoch < 3, true)
  }))

test('what a failed append left in a segment that ends is gone after a power cut', async () => {
  for (let seed = 0; seed < 40; seed++) {
    await onHost({ seed }, async host => {
      const log = await host.openLog()
      append(log)
      await written(host, log)
      await log.flush()
      const { faults } = host.node.disk
      faults.freeBytes = 3000
      tryAppend(log, batchOf({ valueBytes: 5000 }))
      await written(host, log)
      assert.deepEqual(host.faults.events, ['full'])
      faults.freeBytes = 2 ** 30
      await host.world.sleep(2000)
      log.roll()
      await log.compaction.need(0)
      append(log)
      await written(host, log)
      await log.flush()
      await log.directory.saveRecoveryPoints()
      host.node.crash('power')
      const again = await host.openLog()
      assert.equal((await readAll(again)).length, 2)
      await again.scrub(undefined, 10_000)
      assert.deepEqual(host.faults.damage, [], `seed ${seed}`)
    })
  }
})

test('a replica that leads by the time that a copied batch behind a gap fails leads from where the log ends', () =>
  onHost({}, async host => {
    const log = await host.openLog()
    append(log, { leaderEpoch: 1 })
    await written(host, log)
    await log.assignEpochs([{ leaderEpoch: 4, startOffset: 50 }])
    const { faults } = host.node.disk
    faults.failNext('append', 'noSpace', { pathEnd: '.log' })
    assert.equal(log.appendAsFollower(batchOf({ baseOffset: 50, partitionLeaderEpoch: 4 })), undefined)
    log.assignLeaderEpoch(5)
    await written(host, log)
    const epochs = [
      { leaderEpoch: 1, startOffset: 0 },
      { leaderEpoch: 5, startOffset: 1 },
    ]
    assert.deepEqual(log.inspect().epochs, epochs)
    await host.world.sleep(3000)
    append(log, { leaderEpoch: 5 })
    await written(host, log)
    host.node.crash('kill')
    assert.deepEqual((await host.openLog()).inspect().epochs, epochs)
    assert.deepEqual(host.faults.damage, [])
  }))
