import assert from 'node:assert/strict'
import { test } from 'node:test'
import { append, onHost, written } from './fixture.test.ts'

test('a segment that ended just before a crash is found by time as its batches say', async () => {
  for (const how of ['kill', 'power'] as const) {
    await onHost({ config: { segmentBytes: 400 } }, async host => {
      let log = await host.openLog()
      append(log, { timestamp: 1000 })
      await written(host, log)
      log.moveHighWatermark(1)
      // Its index files are those of this moment.
      log = await host.reopen()
      append(log, { timestamp: 5000 })
      await written(host, log)
      log.moveHighWatermark(2)
      await log.flush()
      for (const directory of host.directories.directories) await directory.saveRecoveryPoints()
      assert.equal(log.segmentCount, 1)
      append(log, { timestamp: 2000, valueBytes: 300 })
      await written(host, log)
      assert.equal(log.segmentCount, 2)
      host.node.crash(how)

      await host.open()
      log = host.log()
      const found = await log.findByTimestamp(4000n)
      assert.equal(found !== undefined && 'offset' in found && found.offset, 1, how)
    })
  }
})

test('a segment that ends where a clean shutdown left the log is found by time, whenever the power fails', async () => {
  for (let seed = 0; seed < 150; seed++) {
    await onHost({ seed, config: { segmentBytes: 400 } }, async host => {
      let log = await host.openLog()
      append(log, { timestamp: 1000, valueBytes: 250 })
      await written(host, log)
      log.moveHighWatermark(1)
      log = await host.reopen()
      append(log, { timestamp: 5000, valueBytes: 250 })
      await written(host, log)
      assert.equal(log.segmentCount, 2)
      await host.world.sleep(host.world.random('when').below(16))
      host.node.crash('power')

      await host.open()
      const found = await host.log().findByTimestamp(900n)
      assert.equal(found !== undefined && 'offset' in found && found.offset, 0, `seed ${seed}`)
    })
  }
})

test('a segment that a stop could not finish is found by time after it', () =>
  onHost({}, async host => {
    let log = await host.openLog()
    for (const timestamp of [1000, 5000]) append(log, { timestamp })
    await written(host, log)
    log.moveHighWatermark(2)
    await log.flush()
    for (const directory of host.directories.directories) await directory.saveRecoveryPoints()
    const { faults } = host.node.disk
    const { freeBytes } = faults
    // There is room again as soon as the lack of it has been noticed.
    faults.freeBytes = 0
    log.roll()
    const isClosed = host.directories.close({ brokerEpoch: 7 })
    while (!host.faults.events.includes('full')) await host.world.sleep(0.01)
    faults.freeBytes = freeBytes
    await isClosed
    host.node.crash('kill')

    await host.open()
    log = host.log()
    const found = await log.findByTimestamp(900n)
    assert.equal(found !== undefined && 'offset' in found && found.offset, 0)
  }))

test('a segment that could not be synced for want of descriptors is not said to be finished', () =>
  onHost({}, async host => {
    let log = await host.openLog()
    append(log)
    log.roll()
    append(log)
    await written(host, log)
    host.node.crash('kill')
    // What lies there may be in the page cache only.
    log = await host.openLog()
    const hasSnapshot = () => host.node.disk.files().some(({ path }) => path.endsWith('1.snapshot'))
    assert.equal(hasSnapshot(), false)
    host.node.disk.faults.failNext('open', 'tooManyOpenFiles', { pathEnd: '0.log', times: 1000 })
    await log.compaction.need(0)
    assert.deepEqual(host.faults.events, ['full'])
    assert.equal(hasSnapshot(), false)
    host.node.disk.faults.forgetOrdered()
    await host.world.sleep(3000)
    assert.deepEqual(host.faults.events, ['full', 'writable'])
    append(log)
    await written(host, log)
    await log.compaction.need(0)
    assert.equal(hasSnapshot(), true)
    assert.equal(log.inspect().recoveryPoint, log.flushedOffset)
  }))
