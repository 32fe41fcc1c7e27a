import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onHost } from '../fixture.test.ts'
import { compact, put, roll } from './compaction-fixture.test.ts'

const config = { isCompacted: true, isDeleted: false, fileDeleteDelayMs: 0 }

test('a pass that a cut overtakes finds no damage, and the log is compacted later on', async () => {
  // With few seeds only does a read that began before the cut last until the file is shorter.
  for (let waitMs = 0; waitMs < 3.5; waitMs += 0.002) {
    if (waitMs < 3.3) continue
    await onHost({ seed: `x${waitMs}`, config }, async host => {
      let log = await host.openLog()
      for (let count = 0; count < 10; count++) put(log, [[`key-${count % 3}`, 'value'.repeat(100)]])
      await roll(host, log)
      log = await host.reopen()
      log.moveHighWatermark(log.logEndOffset)
      await log.compaction.need(0)
      const pass = compact(host, log, { ioBufferBytes: 700 })
      await host.world.sleep(waitMs)
      await log.truncate({ endOffset: 5 })
      assert.notEqual((await pass).type, 'uncleanable', `after ${waitMs} ms`)
      assert.equal(log.compaction.isUncleanable, false)
      assert.deepEqual(host.faults.damage, [])
    })
  }
})
