import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onHost } from '../fixture.test.ts'
import { compacted, put, roll, textOf } from './compaction-fixture.test.ts'

const config = { isCompacted: true, isDeleted: true, retentionMs: -1, retentionBytes: -1, segmentBytes: 300 }

for (const what of ['too old', 'too much', 'below the log start'] as const) {
  test(`segments of which compaction has left nothing do not keep those behind them from going: ${what}`, () =>
    onHost({ config }, async host => {
      const log = await host.openLog()
      for (let index = 0; index < 12; index++) put(log, [['key', `${index}`.padEnd(40)]])
      await roll(host, log)
      put(log, [['young', 'value']])
      await roll(host, log)
      await compacted(host, log)
      const emptied = log.inspect().segments.filter(({ sizeBytes }) => sizeBytes === 0)
      assert.ok(emptied.length > 3, 'some segments are empty')
      // Nothing is compacted any more that could put them together with others.
      log.configure({ ...host.config, isCompacted: false, ...(what === 'too old' ? { retentionMs: 10 } : {}) })
      if (what === 'too much') log.configure({ ...log.config, retentionBytes: 0 })
      if (what === 'below the log start') await log.moveLogStart(log.highWatermark)
      await host.world.sleep(100)
      await log.applyRetention(host.io.clock.now().wallMs)
      assert.deepEqual(await textOf(log), [])
      assert.deepEqual(
        log.inspect().segments.map(({ baseOffset }) => baseOffset),
        [13],
      )
      assert.deepEqual(await textOf(await host.reopen()), [])
      assert.deepEqual(host.faults.damage, [])
    }))
}

test('a swap that waits for room keeps no other log from making some', () =>
  onHost({ config }, async host => {
    await host.open({ intervals: { retentionCheckMs: 5000 } })
    const log = host.log()
    const other = host.log(1)
    for (const one of [log, other]) {
      for (let index = 0; index < 12; index++) put(one, [['key', `${index}`.padEnd(40)]])
      await roll(host, one)
    }
    const pathEnd = 'topic-0/00000000000000000000.log'
    host.node.disk.faults.failNext('rename', 'noSpace', { pathEnd, times: 1000 })
    const pass = compacted(host, log)
    await host.world.sleep(2000)
    assert.equal(host.faults.events[0], 'full')
    other.configure({ ...host.config, retentionBytes: 0 })
    await other.moveLogStart(5)
    await host.world.sleep(20_000)
    assert.equal(other.segmentCount, 1)
    host.node.disk.faults.forgetOrdered()
    await pass
  }))
