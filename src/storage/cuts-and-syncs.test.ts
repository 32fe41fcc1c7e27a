import assert from 'node:assert/strict'
import { test } from 'node:test'
import { append, batchOf, crashAtOperation, onHost, written } from './fixture.test.ts'
import type { SegmentedLog } from './segmented-log.ts'

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

const cuts = [
  ['a cut within a gap', 10, log => log.truncate({ endOffset: 10 })],
  ['a beginning anew', 30, log => log.truncateFullyAndStartAt(30)],
] as const satisfies readonly (readonly [string, number, (log: SegmentedLog) => Promise<void>])[]

for (const [what, endOffset, cut] of cuts) {
  test(`a crash at any operation of ${what}, beside which segments are finished, finds no damage`, async () => {
    for (let seed = 0; seed < 12; seed++) {
      const kind = seed % 2 === 0 ? 'kill' : 'power'
      let isOver = false
      for (let operation = 1; !isOver; operation++) {
        await onHost({ seed: `${operation} of ${seed}` }, async host => {
          const log = await host.openLog()
          for (let count = 0; count < 5; count++) append(log)
          assert.equal(log.appendAsFollower(batchOf({ baseOffset: 20, partitionLeaderEpoch: 0 })), undefined)
          await written(host, log)
          await log.flush()
          const crash = crashAtOperation(host, operation, kind)
          const ignored = () => undefined
          cut(log).then(() => {
            isOver = host.node.isAlive
          }, ignored)
          // As compaction looks at logs, and checkpoints are saved for others.
          for (; host.node.isAlive && !isOver; await host.world.sleep(0.2)) {
            log.compaction.need(0).catch(ignored)
            if (host.node.isAlive) log.directory.saveRecoveryPoints().catch(ignored)
          }
          crash.off()
          if (isOver) host.node.crash(kind)
          const again = await host.openLog()
          assert.deepEqual(host.faults.damage, [], `${operation} of ${seed}: ${crash.what()}`)
          if (isOver) assert.equal(again.logEndOffset, endOffset)
        })
      }
    }
  })
}
