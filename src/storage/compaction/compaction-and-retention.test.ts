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
