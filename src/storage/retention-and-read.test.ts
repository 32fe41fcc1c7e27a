import assert from 'node:assert/strict'
import { test } from 'node:test'
import { append, onHost, written } from './fixture.test.ts'

test('retention may take a segment from under a read of committed records', async () => {
  for (let seed = 0; seed < 40; seed++) {
    await onHost({ seed, config: { segmentBytes: 300 } }, async host => {
      let log = await host.openLog()
      for (let i = 0; i < 10; i++) append(log, { valueBytes: 100 })
      await written(host, log)
      log.moveHighWatermark(10)
      log = await host.reopen()
      const below = log.moveLogStart(8).then(() => log.applyRetention(0))
      for (let left = 60; left > 0; left--) {
        const reads = [log.logStartOffset, 7, 8].map(offset =>
          log.read({ offset, maxBytes: 1, minOneBatch: true, isolation: 'lastStableOffset' }),
        )
        await host.io.clock.yieldTurn()
        for (const read of await Promise.all(reads))
          assert.ok(read.type === 'read' || read.errorCode === 1, JSON.stringify(read))
      }
      await below
    })
  }
})

test('a kill while retention sees to it that the log goes on somewhere leaves no hole before what is being written', async () => {
  for (let waitMs = 0; waitMs < 1; waitMs += 0.01) {
    await onHost({ seed: waitMs, config: { segmentBytes: 300, retentionBytes: 400 } }, async host => {
      await host.open({ bootId: 'one' })
      const log = host.log()
      for (let count = 0; count < 6; count++) append(log, { valueBytes: 100 })
      await written(host, log)
      log.moveHighWatermark(6)
      for (let count = 0; count < 3; count++) {
        append(log)
        log.roll()
      }
      append(log)
      const retained = log.applyRetention(0)
      retained.catch(() => undefined)
      await host.world.sleep(waitMs)
      host.node.crash('kill')
      await host.open({ bootId: 'one' })
      host.log()
      await host.world.sleep(200)
      assert.deepEqual(host.faults.damage, [], `after ${waitMs} ms`)
    })
  }
})
