import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DiskError } from '../../io/disk.ts'
import { buildMarkerBatch } from '../../records/control.ts'
import { onHost, tryAppend, written } from '../fixture.test.ts'
import type { SegmentedLog } from '../segmented-log.ts'
import { compact, compactorOf, defaultSettings, put, roll, textOf } from './compaction-fixture.test.ts'

const config = { isCompacted: true, isDeleted: false, fileDeleteDelayMs: 50 }
const producer = { producerId: 7, producerEpoch: 0 }

test('a transaction whose abort lies in a segment with a damaged index still hides nothing', () =>
  onHost({ config }, async host => {
    const log = await host.openLog()
    put(log, [['k', 'committed']])
    put(log, [['k', 'aborted']], 1000, { ...producer, baseSequence: 0, isTransactional: true })
    await roll(host, log)
    const marker = buildMarkerBatch({ isCommit: false, coordinatorEpoch: 1 }, 1000, producer)
    tryAppend(log, Buffer.from(marker), { origin: 'coordinator' })
    await written(host, log)
    log.moveHighWatermark(log.logEndOffset)
    await host.close()
    const index = host.node.disk.files().find(({ path }) => path.endsWith('2.txnindex'))
    assert.ok(index !== undefined && host.node.disk.flip(index.path, 20, 0xff))

    await host.open()
    const again = host.log()
    put(again, [['z', '1']])
    await written(host, again)
    again.moveHighWatermark(again.logEndOffset)
    assert.equal((await compact(host, again)).type, 'compacted')
    assert.deepEqual(await textOf(again), ['0:k=committed', '3:z=1'])
    const read = await again.read({ offset: 0, maxBytes: 10_000, minOneBatch: true, isolation: 'lastStableOffset' })
    assert.ok(read.type === 'read')
    assert.deepEqual(read.abortedTransactions, [{ producerId: 7, firstOffset: 1 }])
  }))

for (const [what, file, position, bits] of [
  ['above its segment', 0, 4, 0x10],
  ['below its segment', 1, 7, 0x02],
] as const) {
  test(`a batch whose stored offset has changed to one ${what} is damage, and nothing is changed`, () =>
    onHost({ config }, async host => {
      const log = await host.openLog()
      put(log, [['k', 'old']])
      await roll(host, log)
      put(log, [['j', 'old']])
      put(log, [['k', 'new']])
      await roll(host, log)
      put(log, [['z', '1']])
      await written(host, log)
      log.moveHighWatermark(log.logEndOffset)
      await host.close()
      const files = host.node.disk.files().filter(({ path }) => path.endsWith('.log'))
      // No CRC covers the base offset.
      assert.ok(host.node.disk.flip(files[file].path, position, bits))
      await host.open()
      const again = host.log()
      again.moveHighWatermark(again.logEndOffset)
      const sizes = again.inspect().segments
      const result = await compact(host, again)
      assert.ok(result.type === 'uncleanable' && result.obstacle.type === 'damage')
      assert.deepEqual([result.path, result.position], [`/${files[file].path}`, 0])
      assert.deepEqual(again.inspect().segments, sizes)
    }))
}

test('a cut of the log is heeded whenever it comes while a pass begins', async () => {
  for (let turns = 0; turns < 20; turns++) {
    await onHost({ config: { ...config, segmentBytes: 150 } }, async host => {
      const log = await host.openLog()
      put(log, [['k', 'old']])
      await roll(host, log)
      put(log, [['j', 'x']])
      put(log, [['k', 'new']])
      await roll(host, log)
      put(log, [['z', '1']])
      await written(host, log)
      await log.compaction.need(host.io.clock.now().wallMs)
      const pass = compact(host, log)
      for (let turn = 0; turn < turns; turn++) await undefined
      await Promise.all([pass, log.truncate({ endOffset: 2 })])
      assert.deepEqual(await textOf(log), ['0:k=old', '1:j=x'], `after ${turns} turns`)
    })
  }
})

test('a segment of which a pass that was stopped has left nothing does not keep the others from being compacted', () =>
  onHost(
    { config: { ...config, segmentBytes: 100, minCompactionLagMs: 1000, minCleanableDirtyRatio: 0 } },
    async host => {
      const log = await host.openLog()
      for (let number = 0; number < 4; number++) {
        put(log, [['k', `${'x'.repeat(60)}${number}`]])
        await roll(host, log)
      }
      const pass = compact(host, log)
      while (!isEmptiedBelow(log, 3)) await host.io.clock.yieldTurn()
      log.compaction.stop('a test')
      assert.equal((await pass).type, 'stopped')
      const { wallMs } = host.io.clock.now()
      assert.ok((await log.compaction.need(wallMs + 1e9)).cleanableBytes > 0)
    },
  ))

test('a log that was compacted in part has gaps, and none of them is damage when it is compacted no longer', () =>
  onHost({ config: { ...config, segmentBytes: 100 } }, async host => {
    const log = await host.openLog()
    for (let number = 0; number < 4; number++) {
      put(log, [['k', `${'x'.repeat(60)}${number}`]])
      await roll(host, log)
    }
    const pass = compact(host, log)
    while (!isEmptiedBelow(log, 3)) await host.io.clock.yieldTurn()
    host.config = { ...host.config, isCompacted: false, isDeleted: true, retentionMs: -1 }
    log.configure(host.config)
    assert.equal((await pass).type, 'stopped')
    const before = await textOf(log)
    const again = await host.reopen()
    again.moveHighWatermark(again.logEndOffset)
    assert.deepEqual(await textOf(again), before)
    assert.deepEqual(host.faults.damage, [])
  }))

test('a swap that cannot be completed does not keep the broker from shutting down', () =>
  onHost({ config }, async host => {
    const log = await host.openLog()
    put(log, [['k', 'a']])
    put(log, [['k', 'b']])
    await roll(host, log)
    put(log, [['k', 'c']])
    await roll(host, log)
    const { faults } = host.node.disk
    const decide = faults.decide.bind(faults)
    faults.decide = (kind, path, random) =>
      kind === 'rename' && !/cleaned|swap|tmp/.test(path)
        ? new DiskError('noSpace', kind, path)
        : decide(kind, path, random)
    const { compactor } = compactorOf(host, () => ({ ...defaultSettings, backoffMs: 10 }))
    compactor.start()
    await host.world.sleep(3000)
    let isClosed = false
    void compactor.close().then(() => {
      isClosed = true
    })
    await host.world.sleep(10_000)
    assert.ok(isClosed)
  }))

function isEmptiedBelow(log: SegmentedLog, offset: number): boolean {
  return log.inspect().segments.some(({ sizeBytes, baseOffset }) => sizeBytes === 0 && baseOffset < offset)
}
