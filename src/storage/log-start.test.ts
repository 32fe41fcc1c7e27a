import assert from 'node:assert/strict'
import { test } from 'node:test'
import { append, onHost, written } from './fixture.test.ts'

for (const how of ['deleted by hand', 'removed by retention'] as const) {
  test(`a log start that readers have been told of is there after a crash: ${how}`, async () => {
    for (let seed = 0; seed < 20; seed++) {
      await onHost({ seed, config: { segmentBytes: 150, retentionBytes: 300 } }, async host => {
        let log = await host.openLog()
        for (let i = 0; i < 8; i++) append(log, { valueBytes: 50 })
        await written(host, log)
        log.moveHighWatermark(8)
        await log.flush()
        void (how === 'deleted by hand' ? log.moveLogStart(3) : log.applyRetention(0))
        while (log.logStartOffset === 0) await host.io.clock.yieldTurn()
        const told = log.logStartOffset
        host.node.crash(seed % 2 === 0 ? 'kill' : 'power')
        await host.open()
        log = host.log()
        assert.ok(log.logStartOffset >= told, `seed ${seed}: ${told} was told, it is ${log.logStartOffset}`)
      })
    }
  })
}

test('a log start that was saved stays saved while recovery has more to sync than was synced', async () => {
  for (let seed = 0; seed < 20; seed++) {
    await onHost({ seed }, async host => {
      let log = await host.openLog()
      for (let i = 0; i < 8; i++) append(log, { valueBytes: 50 })
      await written(host, log)
      log.moveHighWatermark(8)
      await log.moveLogStart(5)
      for (const how of ['kill', 'power', 'kill', 'power'] as const) {
        host.node.crash(how)
        await host.open()
        log = host.log()
        assert.equal(log.logStartOffset, 5, `seed ${seed}`)
        // What a timer does.
        for (const directory of host.directories.directories) await directory.saveLogStarts()
      }
    })
  }
})
