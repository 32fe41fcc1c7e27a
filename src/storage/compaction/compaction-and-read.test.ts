import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onHost, written } from '../fixture.test.ts'
import { compact, filesOf, put, roll } from './compaction-fixture.test.ts'

const config = { isCompacted: true, isDeleted: false, fileDeleteDelayMs: 0, segmentBytes: 100_000 }
const records = 6
/** Of one batch and a part of the next, which a read checks too. */
const batchAndAHalf = 100

test('a read that compaction overtakes leaves nothing behind that misleads the next one', async () => {
  for (let seed = 0; seed < 60; seed++) {
    await onHost({ seed, config }, async host => {
      let log = await host.openLog()
      for (let index = 0; index < records; index++) put(log, [[`key-${index % 5}`, `${index}`]])
      await roll(host, log)
      put(log, [['last', 'one']])
      await written(host, log)
      log.moveHighWatermark(log.logEndOffset)
      // None of it has been read by the process that begins here.
      log = await host.reopen()
      const read = (offset: number) =>
        log.read({ offset, maxBytes: batchAndAHalf, minOneBatch: true, isolation: 'highWatermark' as const })
      await log.compaction.need(0)
      const pass = compact(host, log)
      while (!filesOf(host, log).includes('0.log.swap')) await host.world.sleep(0.2)
      await host.world.sleep(host.world.random('time').below(40) / 10)
      assert.equal((await read(2)).type, 'read')
      await pass
      for (let offset = 0; offset <= records; offset++)
        assert.equal((await read(offset)).type, 'read', `seed ${seed}, offset ${offset}`)
      assert.deepEqual(host.faults.events, [], `seed ${seed}`)
    })
  }
})
