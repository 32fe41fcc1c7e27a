import assert from 'node:assert/strict'
import { test } from 'node:test'
import { abort, abortedFrom, append, type Host, onHost, readAll, written } from './fixture.test.ts'
import type { SegmentedLog } from './segmented-log.ts'

const config = { indexIntervalBytes: 100, retentionMs: -1, fileDeleteDelayMs: 10 }

/** Two segments, the second of them with an aborted transaction, and an index of it that cannot be read. */
async function reopened(host: Host): Promise<SegmentedLog> {
  const first = await host.openLog()
  for (let count = 0; count < 5; count++) append(first, { valueBytes: 1000 })
  first.roll()
  for (let count = 0; count < 5; count++) append(first)
  assert.equal(abort(first), 10)
  await written(host, first)
  first.moveHighWatermark(12)
  await host.close()
  await host.open()
  host.node.disk.faults.failNext('read', 'io', { pathEnd: '5.index' })
  const log = host.log()
  append(log)
  await written(host, log)
  log.moveHighWatermark(13)
  return log
}

test('indexes that are made anew are whole when older segments go meanwhile', async () => {
  for (let waitMs = 0; waitMs < 20; waitMs += 0.1) {
    await onHost({ seed: waitMs, config }, async host => {
      const log = await reopened(host)
      log.configure({ ...log.config, retentionBytes: 100 })
      const retained = log.applyRetention(0)
      await host.world.sleep(waitMs)
      log.roll()
      append(log)
      await written(host, log)
      await retained
      assert.equal(log.logStartOffset, 5)
      const again = await host.reopen()
      again.moveHighWatermark(again.logEndOffset)
      assert.deepEqual(await abortedFrom(again, 5), [10], `${waitMs} ms`)
    })
  }
})

test('indexes that are made anew are whole when the segment goes on and ends meanwhile', async () => {
  for (let waitMs = 0; waitMs < 3; waitMs += 0.1) {
    await onHost({ seed: waitMs, config }, async host => {
      const log = await reopened(host)
      const early = abortedFrom(log, 5)
      await host.world.sleep(waitMs)
      assert.equal(abort(log, 9000), 13)
      log.roll()
      append(log)
      await written(host, log)
      log.moveHighWatermark(log.logEndOffset)
      assert.deepEqual((await early)?.slice(0, 1), [10])
      assert.deepEqual(await abortedFrom(log, 5), [10, 13], `${waitMs} ms`)
      const latest = { leaderEpoch: 0, offset: 13, timestamp: 9000n }
      assert.deepEqual(await log.findMaxTimestamp(), latest)
      const again = await host.reopen()
      again.moveHighWatermark(again.logEndOffset)
      assert.deepEqual(await abortedFrom(again, 5), [10, 13], `${waitMs} ms, opened again`)
      assert.deepEqual(await again.findMaxTimestamp(), latest)
    })
  }
})

test('indexes that are made anew are whole when the segment has ended, and its last batches are being written', () =>
  onHost({ config }, async host => {
    const log = await reopened(host)
    assert.equal(abort(log, 9000), 13)
    log.roll()
    append(log)
    const early = abortedFrom(log, 5)
    await written(host, log)
    log.moveHighWatermark(log.logEndOffset)
    assert.deepEqual(await early, [10])
    assert.deepEqual(await abortedFrom(log, 5), [10, 13])
    assert.deepEqual(await log.findMaxTimestamp(), { leaderEpoch: 0, offset: 13, timestamp: 9000n })
    const again = await host.reopen()
    again.moveHighWatermark(again.logEndOffset)
    assert.deepEqual(await abortedFrom(again, 5), [10, 13])
  }))

test('indexes that speak of batches which are being written stay in memory, however little of it there is', async () => {
  for (let waitMs = 0; waitMs < 0.05; waitMs += 0.001) {
    await onHost({ config, limits: { indexCacheBytes: 1 } }, async host => {
      const log = await host.openLog()
      append(log)
      await written(host, log)
      log.moveHighWatermark(1)
      for (const timestamp of [2000, 3000]) {
        abort(log, timestamp)
        log.roll()
      }
      append(log)
      await host.world.sleep(waitMs)
      await Promise.all([2000n, 3000n, 2000n, 3000n].map(timestamp => log.findByTimestamp(timestamp)))
      await written(host, log)
      log.moveHighWatermark(log.logEndOffset)
      assert.deepEqual(await abortedFrom(log, 0), [1], `${waitMs} ms`)
      const again = await host.reopen()
      again.moveHighWatermark(again.logEndOffset)
      assert.deepEqual(await abortedFrom(again, 0), [1], `${waitMs} ms, opened again`)
    })
  }
})

test('indexes that are made anew tell of the largest timestamp, also where it came before those that are appended', async () => {
  const largest = { leaderEpoch: 0, offset: 3, timestamp: 9000n }
  for (const isRead of [true, false]) {
    for (const isFailed of [true, false]) {
      await onHost({ config }, async host => {
        const first = await host.openLog()
        for (let count = 0; count < 6; count++) append(first, { timestamp: count === 3 ? 9000 : 1000 })
        await written(host, first)
        await host.close()
        await host.open()
        host.node.disk.faults.failNext('read', 'io', { pathEnd: '.index' })
        const log = host.log()
        append(log, { timestamp: 2000 })
        await written(host, log)
        if (isRead) await log.findByTimestamp(1n)
        if (isFailed) {
          host.node.disk.faults.failNext('append', 'noSpace', { pathEnd: '.log' })
          append(log, { timestamp: 3000 })
          if (isRead) await log.findByTimestamp(1n)
          await written(host, log)
          await host.world.sleep(3000)
        }
        if (isRead) assert.deepEqual(await log.findMaxTimestamp(), largest)
        // Retention goes by it, too.
        log.moveHighWatermark(log.logEndOffset)
        log.configure({ ...log.config, retentionMs: 1000 })
        await log.applyRetention(9500)
        assert.equal(log.logStartOffset, 0)
        const again = await host.reopen()
        assert.deepEqual(await again.findMaxTimestamp(), largest, `read: ${isRead}, failed: ${isFailed}`)
      })
    }
  }
})

for (const first of ['a read', 'an append'] as const) {
  for (const ending of ['the segment goes on', 'the segment ends', 'the segment ends, and the broker stops']) {
    test(`indexes that are made anew tell of the largest timestamp where ${first} comes first, and ${ending}`, () =>
      onHost({ config: { retentionMs: -1 } }, async host => {
        const before = await host.openLog()
        for (const timestamp of [1000, 9000, 2000]) append(before, { timestamp })
        await written(host, before)
        await host.close()
        await host.open()
        host.node.disk.faults.failNext('read', 'io', { pathEnd: '.index' })
        let log = host.log()
        if (first === 'a read') assert.equal((await readAll(log)).length, 3)
        append(log, { timestamp: 3000 })
        await written(host, log)
        if (ending !== 'the segment goes on') {
          log.roll()
          append(log, { timestamp: 1000 })
          await written(host, log)
          await log.compaction.need(0)
        }
        if (ending.endsWith('stops')) log = await host.reopen()
        const largest = { leaderEpoch: 0, offset: 1, timestamp: 9000n }
        assert.deepEqual(await log.findByTimestamp(4000n), largest)
        assert.deepEqual(await log.findMaxTimestamp(), largest)
      }))
  }
}
