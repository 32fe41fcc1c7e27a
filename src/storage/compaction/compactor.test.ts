import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onHost, written } from '../fixture.test.ts'
import {
  compact,
  compacted,
  compactorOf,
  defaultSettings as defaults,
  dirty,
  pairsOf,
  put,
  roll,
  textOf,
} from './compaction-fixture.test.ts'
import { IoThrottle } from './io-throttle.ts'

const config = { isCompacted: true, isDeleted: false, minCleanableDirtyRatio: 0.1, fileDeleteDelayMs: 10 }

test('a map that is full ends the pass, and the next one goes on from there', () =>
  onHost({ config: { ...config, segmentBytes: 2000 } }, async host => {
    const log = await host.openLog()
    for (let round = 0; round < 3; round++)
      for (let key = 0; key < 60; key++) put(log, [[`key-${key}`, `${key}:${round}`]])
    await roll(host, log)
    // 24 bytes a key: ten of sixty.
    const mapBytes = 64 + 24 * 11
    const ends: number[] = []
    while ((log.cleanedOffset ?? 0) < log.logEndOffset) {
      const stats = await compacted(host, log, { mapBytes, loadFactor: 1 })
      ends.push(stats.endOffset)
      assert.equal(stats.mapUtilization <= 1, true)
    }
    assert.ok(ends.length > 5, `${ends}`)
    assert.deepEqual(
      ends,
      ends.toSorted((a, b) => a - b),
    )
    assert.deepEqual(
      (await pairsOf(log)).map(({ offset, value }) => [offset, value]),
      Array.from({ length: 60 }, (_, key) => [120 + key, `${key}:2`]),
    )
  }))

test('memory for keys need not be a whole number of words: a third of the default is not', () =>
  onHost({ config }, async host => {
    const log = await host.openLog()
    for (let round = 0; round < 2; round++) put(log, [['key', `${round}`]])
    await roll(host, log)
    await compacted(host, log, { mapBytes: Math.floor(134_217_728 / 3) })
    assert.deepEqual(await pairsOf(log).then(pairs => pairs.map(({ value }) => value)), ['1'])
  }))

test('the logs of a broker are compacted, those that are dirty enough, and again when they are dirty again', () =>
  onHost({ config }, async host => {
    await host.open()
    const logs = [0, 1, 2].map(partition => host.log(partition))
    await dirty(host, logs[0])
    await dirty(host, logs[2])
    const { compactor } = compactorOf(host)
    compactor.start()
    await host.world.sleep(1000)
    assert.deepEqual(await Promise.all(logs.map(async log => (await pairsOf(log)).length)), [4, 0, 4])
    assert.equal(compactor.figures.passes, 2)
    await dirty(host, logs[1])
    await host.world.sleep(1000)
    assert.equal((await pairsOf(logs[1])).length, 4)
    const { passes } = compactor.figures
    await host.world.sleep(5000)
    assert.equal(compactor.figures.passes, passes, 'nothing is dirty')
    await compactor.close()
    await dirty(host, logs[0])
    await host.world.sleep(1000)
    assert.equal((await pairsOf(logs[0])).length, 24, 'it is closed')
  }))

test('settings hold at once: no threads, and then two', () =>
  onHost({ config }, async host => {
    await host.open()
    let settings = { ...defaults, threads: 0 }
    const { compactor } = compactorOf(host, () => settings)
    compactor.start()
    const logs = [0, 1].map(partition => host.log(partition))
    for (const log of logs) await dirty(host, log)
    await host.world.sleep(1000)
    assert.equal(compactor.figures.passes, 0)
    settings = { ...defaults, threads: 2, backoffMs: 1_000_000 }
    compactor.reconfigured()
    let atOnce = 0
    while (compactor.figures.passes < 2) {
      atOnce = Math.max(atOnce, logs.filter(log => log.compaction.isRunning).length)
      await host.world.sleep(1)
    }
    assert.equal(atOnce, 2)
    assert.equal(compactor.figures.passes, 2)
    await compactor.close()
  }))

test('a segment that is damaged is told once, with its place, and the other logs go on', () =>
  onHost({ config }, async host => {
    await host.open()
    const logs = [0, 1].map(partition => host.log(partition))
    for (const log of logs) await dirty(host, log)
    const path = `${logs[0].path}/00000000000000000000.log`
    host.node.disk.flip(path, 200, 1)
    const { compactor, told } = compactorOf(host)
    compactor.start()
    await host.world.sleep(3000)
    assert.equal(told.lines.length, 1, told.lines.join('\n'))
    assert.match(told.lines[0], /^0 \/data\/topic-0\/0{20}\.log at \d+: /)
    assert.equal(logs[0].compaction.isUncleanable, true)
    assert.ok(logs[0].compaction.dirtyBytes > 0)
    assert.equal((await pairsOf(logs[1])).length, 4)
    assert.equal(logs[0].cleanedOffset, undefined)
    assert.deepEqual(
      host.io.disk.list(logs[0].path).filter(({ name }) => /cleaned|swap/.test(name)),
      [],
    )
    // The damage is cut off with the segments from there on: the log has changed.
    await logs[0].truncate({ endOffset: 0 })
    await dirty(host, logs[0])
    await host.world.sleep(1000)
    assert.equal(logs[0].compaction.isUncleanable, false)
    assert.equal((await pairsOf(logs[0])).length, 4)
    await compactor.close()
  }))

test('all passes together read and write no more than a rate', () =>
  onHost({ config: { ...config, segmentBytes: 100_000 } }, async host => {
    await host.open()
    const settings = { ...defaults, threads: 2, ioMaxBytesPerSecond: 100_000, ioBufferBytes: 8192 }
    const logs = [0, 1].map(partition => host.log(partition))
    for (const log of logs) {
      for (let index = 0; index < 100; index++) put(log, [[`key-${index}`, 'x'.repeat(1000)]])
      put(log, [['key-0', 'last']])
      await roll(host, log)
    }
    const { compactor } = compactorOf(host, () => settings)
    const startMs = host.world.nowMs
    compactor.start()
    while (compactor.figures.passes < 2) await host.world.sleep(10)
    const { readBytes, writtenBytes } = compactor.figures
    const seconds = (host.world.nowMs - startMs) / 1000
    const rate = (readBytes + writtenBytes) / seconds
    assert.ok(rate < 110_000, `${rate} bytes a second`)
    assert.ok(rate > 60_000, `${rate} bytes a second`)
    await compactor.close()
  }))

test('a pass that rests ends at once when it is stopped', () =>
  onHost({ config }, async host => {
    const log = await host.openLog()
    await dirty(host, log, 500)
    const throttle = new IoThrottle(host.io.clock, () => 100)
    const pass = compact(host, log, { throttle })
    await host.world.sleep(200)
    assert.ok(log.compaction.isRunning)
    const startMs = host.world.nowMs
    await log.close()
    assert.equal((await pass).type, 'stopped')
    assert.ok(host.world.nowMs - startMs < 1000)
  }))

for (const when of ['now', 'before a clean end', 'before a kill'] as const) {
  test(`max.compaction.lag.ms ends an active segment to which nothing is appended any more, written ${when}`, () =>
    onHost({ config: { ...config, minCleanableDirtyRatio: 1, maxCompactionLagMs: 500 } }, async host => {
      let log = await host.openLog()
      put(log, [['key', 'old']], 1_700_000_000_000)
      put(log, [['key', 'new']], 1_700_000_000_000)
      await written(host, log)
      if (when === 'before a clean end') await host.close()
      if (when === 'before a kill') host.node.crash('kill')
      if (when !== 'now') log = await host.openLog()
      log.moveHighWatermark(log.logEndOffset)
      const { compactor } = compactorOf(host)
      compactor.start()
      await host.world.sleep(1000)
      assert.deepEqual(await textOf(log), ['1:key=new'])
      await compactor.close()
    }))
}

test('max.compaction.lag.ms counts from when records came that were old then already', () =>
  onHost({ config: { ...config, minCleanableDirtyRatio: 1, maxCompactionLagMs: 2000 } }, async host => {
    const log = await host.openLog()
    const { compactor } = compactorOf(host)
    compactor.start()
    for (let index = 0; index < 1000; index++) {
      put(log, [[`key-${index % 7}`, `${index}`]], 1000)
      await written(host, log)
      log.moveHighWatermark(log.logEndOffset)
      await host.world.sleep(10)
    }
    const { passes } = compactor.figures
    assert.ok(passes >= 3 && passes <= 6, `${passes} passes in ten seconds`)
    await compactor.close()
  }))

test('nothing above the last stable offset is compacted, nor shadows what is below', () =>
  onHost({ config }, async host => {
    const log = await host.openLog()
    put(log, [['a', '0']])
    put(log, [['a', '1']])
    await roll(host, log)
    put(log, [['a', 'open']], 1000, { producerId: 1, producerEpoch: 0, baseSequence: 0, isTransactional: true })
    await roll(host, log)
    await roll(host, log)
    await compacted(host, log)
    assert.deepEqual(await textOf(log), ['1:a=1', '2:a=open'])
    assert.equal(log.cleanedOffset, 2)
  }))
