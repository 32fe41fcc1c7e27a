import assert from 'node:assert/strict'
import { test } from 'node:test'
import { append, onHost, written } from './fixture.test.ts'

for (const how of ['gone', 'unreadable'] as const) {
  test(`retention by time is not the end of a directory where a segment is ${how}`, () =>
    onHost({ config: { retentionMs: 3_600_000, segmentBytes: 400 } }, async host => {
      const log = await host.openLog()
      for (let count = 0; count < 40; count++) append(log, { timestamp: 1_700_000_000_000 })
      await written(host, log)
      log.moveHighWatermark(40)
      await host.close()
      await host.open()
      const again = host.log()
      const [, { baseOffset }] = again.inspect().segments
      const base = `${again.path}/${String(baseOffset).padStart(20, '0')}`
      await host.io.disk.remove(`${base}.timeindex`)
      if (how === 'gone') for (const kind of ['log', 'index']) await host.io.disk.remove(`${base}.${kind}`)
      else host.node.disk.faults.failNext('read', 'io', { pathEnd: `${base}.log`, times: 100 })
      await again.applyRetention(1_700_000_000_000)
      assert.deepEqual([again.logStartOffset, again.isOffline], [0, false])
      await again.applyRetention(host.io.clock.now().wallMs + 4_000_000)
      assert.deepEqual([again.logStartOffset, again.isOffline], [40, false], String(host.faults.events))
    }))
}

test('retention by time does not believe an index that says a segment is older than it is', () =>
  onHost({ config: { retentionMs: 3_600_000, segmentBytes: 400 } }, async host => {
    const nowMs = 1_700_000_000_000
    const log = await host.openLog()
    for (let count = 0; count < 40; count++) append(log, { timestamp: nowMs })
    await written(host, log)
    log.moveHighWatermark(40)
    await host.close()
    assert.ok(host.node.disk.flip('data/topic-0/00000000000000000000.timeindex', 2, 1))
    await host.open()
    await host.log().applyRetention(nowMs)
    assert.equal(host.log().logStartOffset, 0)
    assert.deepEqual(host.faults.events, [])
  }))

test('records without a timestamp are as old as the last of them, also where retention has looked before it came', () =>
  onHost({ config: { retentionMs: 3_600_000 } }, async host => {
    const log = await host.openLog()
    const { clock } = host.io
    const appendUntimed = async () => {
      append(log, { timestamp: -1 })
      await written(host, log)
      log.moveHighWatermark(log.logEndOffset)
    }
    await appendUntimed()
    await log.applyRetention(clock.now().wallMs)
    await host.world.sleep(3_000_000)
    await appendUntimed()
    await host.world.sleep(1_000_000)
    await log.applyRetention(clock.now().wallMs)
    assert.equal(log.logStartOffset, 0)
    await host.world.sleep(3_000_000)
    await log.applyRetention(clock.now().wallMs)
    assert.equal(log.logStartOffset, 2)
  }))
