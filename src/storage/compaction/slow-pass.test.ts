import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onHost } from '../fixture.test.ts'
import { compacted, pairsOf, put, roll, textOf } from './compaction-fixture.test.ts'
import { IoThrottle } from './io-throttle.ts'

const deleteRetentionMs = 5000
const config = { isCompacted: true, isDeleted: false, segmentBytes: 1000, fileDeleteDelayMs: 10, deleteRetentionMs }

test('a tombstone outlives what it replaced by delete.retention.ms, also where the pass took longer than that', () =>
  onHost({ config }, async host => {
    const log = await host.openLog()
    for (let index = 0; index < 40; index++) put(log, [[`filler-${index}`, 'x'.repeat(800)]])
    put(log, [['k', 'old']])
    put(log, [['filler', 'x'.repeat(800)]])
    put(log, [['k', null]])
    await roll(host, log)
    const startMs = host.world.nowMs
    const pass = compacted(host, log, { throttle: new IoThrottle(host.io.clock, () => 5000) })
    const isThere = async (value: string | null) =>
      (await pairsOf(log)).some(pair => pair.key === 'k' && pair.value === value)
    let lastSeenMs = 0
    while (await isThere('old')) {
      lastSeenMs = host.world.nowMs
      await host.world.sleep(100)
    }
    await pass
    assert.ok(lastSeenMs - startMs > 2 * deleteRetentionMs, 'the pass is slow')
    while (await isThere(null)) {
      put(log, [['other', 'dirty']])
      await roll(host, log)
      await compacted(host, log)
      await host.world.sleep(100)
    }
    // As long as it takes to write one segment anew, it may be earlier.
    assert.ok(host.world.nowMs - lastSeenMs > 0.8 * deleteRetentionMs, `gone after ${host.world.nowMs - lastSeenMs} ms`)
    assert.ok(!(await textOf(log)).some(text => text.includes(':k=')))
  }))
