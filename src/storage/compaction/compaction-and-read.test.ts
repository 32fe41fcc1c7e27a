import assert from 'node:assert/strict'
import { test } from 'node:test'
import { buildMarkerBatch } from '../../records/control.ts'
import { onHost, tryAppend, written } from '../fixture.test.ts'
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

test('a read that compaction overtakes knows of aborted transactions, however few indexes stay in memory', async () => {
  for (let seed = 0; seed < 60; seed++) {
    await onHost({ seed, config, limits: { indexCacheBytes: 1 } }, async host => {
      let log = await host.openLog()
      for (const [at, key] of ['a', 'b', 'c'].entries()) {
        for (let count = 0; count < 3; count++) put(log, [[key, `${count}`]])
        const fields = { producerId: 8, producerEpoch: 0, isTransactional: true, baseSequence: at }
        put(log, [['aborted', key]], 1000, fields)
        const marker = buildMarkerBatch({ isCommit: false, coordinatorEpoch: 1 }, 2000, fields)
        assert.ok(typeof tryAppend(log, Buffer.from(marker), { origin: 'coordinator' }) === 'number')
        await roll(host, log)
      }
      put(log, [['last', 'one']])
      await written(host, log)
      log = await host.reopen()
      log.moveHighWatermark(log.logEndOffset)
      await log.compaction.need(0)
      const pass = compact(host, log)
      while (!filesOf(host, log).includes('0.log.swap')) await host.world.sleep(0.2)
      await host.world.sleep(host.world.random('time').below(40) / 10)
      const reads = [0, 4, 9, 14].map(offset =>
        log.read({ offset, maxBytes: 300, minOneBatch: true, isolation: 'lastStableOffset' as const }),
      )
      for (const { type } of await Promise.all(reads)) assert.equal(type, 'read', `seed ${seed}`)
      await pass
      assert.deepEqual(host.faults.events, [], `seed ${seed}`)
    })
  }
})
