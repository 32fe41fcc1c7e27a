import assert from 'node:assert/strict'
import { test } from 'node:test'
import { append, onHost, readAll, written } from './fixture.test.ts'

test('what the power took of deleted records takes nothing of those that were synced after it', async () => {
  for (let seed = 0; seed < 40; seed++) {
    await onHost({ seed }, async host => {
      let log = await host.openLog()
      await log.flush()
      for (let i = 0; i < 5; i++) append(log)
      await written(host, log)
      log.moveHighWatermark(5)
      await log.moveLogStart(5)
      host.node.crash('power')
      await host.open()
      log = host.log()
      assert.equal(log.logEndOffset, 5)
      for (let i = 0; i < 5; i++) append(log)
      await written(host, log)
      await log.flush()
      host.node.crash('power')
      await host.open()
      log = host.log()
      assert.deepEqual([log.logStartOffset, log.logEndOffset], [5, 10], `seed ${seed}`)
      assert.equal((await readAll(log)).length, 5)
      assert.deepEqual(host.faults.damage, [])
    })
  }
})
