import assert from 'node:assert/strict'
import { test } from 'node:test'
import { buildMarkerBatch } from '../../records/control.ts'
import { type Host, onHost, tryAppend, written } from '../fixture.test.ts'
import type { SegmentedLog } from '../segmented-log.ts'
import { compacted, put, roll, textOf } from './compaction-fixture.test.ts'

const config = { isCompacted: true, isDeleted: false, fileDeleteDelayMs: 10 }
const producer = { producerId: 7, producerEpoch: 0 }

/** The active segment ends, and its files are whole and synced before anything else is appended. */
async function finished(host: Host, log: SegmentedLog): Promise<void> {
  await roll(host, log)
  await log.compaction.need(host.io.clock.now().wallMs)
}

/** Compacts what is below the active segment, of which nothing was synced before, and the power goes. */
async function afterPowerCut(host: Host, log: SegmentedLog): Promise<SegmentedLog> {
  await written(host, log)
  log.moveHighWatermark(log.logEndOffset)
  await compacted(host, log)
  host.node.crash('power')
  await host.open()
  assert.deepEqual(host.faults.damage, [])
  return host.log()
}

for (const isCommit of [true, false]) {
  test(`a power cut does not open a transaction again for whose end a pass has taken records: ${isCommit ? 'commit' : 'abort'}`, async () => {
    for (let seed = 0; seed < 20; seed++) {
      await onHost({ seed, config }, async host => {
        const log = await host.openLog()
        put(log, [['k', 'old']])
        put(log, [['k', 'new']], 1000, { ...producer, baseSequence: 0, isTransactional: true })
        await finished(host, log)
        const marker = buildMarkerBatch({ isCommit, coordinatorEpoch: 1 }, 1000, producer)
        assert.equal(tryAppend(log, Buffer.from(marker), { origin: 'coordinator' }), 2)
        const again = await afterPowerCut(host, log)
        // Were the marker gone, either value could still be the one that counts.
        const expected = again.logEndOffset > 2 ? [isCommit ? '1:k=new' : '0:k=old'] : ['0:k=old', '1:k=new']
        assert.deepEqual(await textOf(again), expected, `seed ${seed}`)
      })
    }
  })
}

test('a power cut does not take all that a log knows of a producer', async () => {
  for (let seed = 0; seed < 20; seed++) {
    await onHost({ seed, config }, async host => {
      const log = await host.openLog()
      put(log, [['k', 'old']], 1000, { ...producer, baseSequence: 0 })
      put(log, [['k', 'new']])
      await finished(host, log)
      // Its last batch: the one before it, of which no record is left, need not stay.
      put(log, [['j', 'last']], 1000, { ...producer, baseSequence: 1 })
      const again = await afterPowerCut(host, log)
      const [[, entry]] = again.inspect().producers
      assert.equal(entry.batches.at(-1)?.lastSequence, again.logEndOffset > 2 ? 1 : 0, `seed ${seed}`)
    })
  }
})
