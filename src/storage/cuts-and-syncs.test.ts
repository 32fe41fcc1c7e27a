import assert from 'node:assert/strict'
import { test } from 'node:test'
import { append, onHost, written } from './fixture.test.ts'

const waits = Array.from({ length: 40 }, (_, index) => index / 4)

for (const [what, cut] of [
  ['cut', 'truncate'],
  ['begun anew', 'startAnew'],
] as const) {
  test(`a sync that ends while a log is ${what} does not say that what is cut off is synced`, async () => {
    for (const waitMs of waits) {
      await onHost({ seed: waitMs }, async host => {
        const log = await host.openLog()
        for (let count = 0; count < 10; count++) append(log)
        await written(host, log)
        log.requestFlush()
        await host.world.sleep(waitMs)
        const done = cut === 'truncate' ? log.truncate({ endOffset: 5 }) : log.truncateFullyAndStartAt(3)
        // As those of other logs of the directory are saved meanwhile.
        for (; log.nextOffset === 10; await host.world.sleep(0.1)) void log.directory.saveRecoveryPoints()
        await done
        host.node.crash('kill')
        const again = await host.openLog()
        assert.deepEqual(host.faults.damage, [], `${waitMs} ms`)
        assert.equal(again.logEndOffset, cut === 'truncate' ? 5 : 3)
      })
    }
  })
}

test('a sync that ends after a cut counts nothing of what is written there since', async () => {
  for (let seed = 0; seed < 20; seed++) {
    await onHost({ seed }, async host => {
      const log = await host.openLog()
      const appendFive = async () => {
        for (let count = 0; count < 5; count++) append(log)
        await written(host, log)
      }
      await appendFive()
      await log.flush()
      await appendFive()
      host.node.disk.stall(100)
      log.requestFlush()
      host.node.disk.stall(0)
      await log.truncate({ endOffset: 5 })
      await appendFive()
      await host.world.sleep(200)
      await log.flush()
      host.node.crash('power')
      assert.equal((await host.openLog()).logEndOffset, 10, `seed ${seed}`)
    })
  }
})
