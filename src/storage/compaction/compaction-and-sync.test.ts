import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onHost, written } from '../fixture.test.ts'
import { compact, filesOf, pairsOf, put, roll } from './compaction-fixture.test.ts'

const config = { isCompacted: true, isDeleted: false, fileDeleteDelayMs: 0 }

test('a sync that compaction overtakes does not count what is still being written', async () => {
  for (let seed = 0; seed < 60; seed++) {
    await onHost({ seed, config }, async host => {
      const log = await host.openLog()
      for (let count = 0; count < 10; count++) put(log, [[`key-${count % 3}`, 'value'.repeat(100)]])
      await roll(host, log)
      await log.compaction.need(0)
      const pass = compact(host, log)
      while (!filesOf(host, log).includes('0.log.swap')) await host.world.sleep(0.05)
      await host.world.sleep(host.world.random('time').below(20) / 20)
      // The file of the new segment is made, which a sync has to see to, and its first batch is being written.
      put(log, [['new', 'value'.repeat(20_000)]])
      const early = host.world.sleep(0).then(() => log.flush())
      await written(host, log)
      await Promise.all([pass, early])
      await log.flush()
      assert.equal(log.flushedOffset, 11)
      host.node.crash('power')
      const again = await host.openLog()
      assert.equal(again.logEndOffset, 11, `seed ${seed}`)
      assert.equal((await pairsOf(again)).at(-1)?.key, 'new')
    })
  }
})
