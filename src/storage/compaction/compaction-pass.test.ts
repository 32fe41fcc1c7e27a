import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onHost } from '../fixture.test.ts'
import { compacted, filesOf, put, roll, textOf } from './compaction-fixture.test.ts'

const config = { isCompacted: true, isDeleted: false, fileDeleteDelayMs: 1000, segmentBytes: 100_000 }

test('of each key the last record below the active segment is left, at its offset', () =>
  onHost({ config }, async host => {
    const log = await host.openLog()
    put(log, [
      ['a', '0'],
      ['b', '1'],
    ])
    await roll(host, log)
    put(log, [['a', '2']])
    put(log, [['c', '3']])
    await roll(host, log)
    put(log, [['c', '4']])
    await roll(host, log)
    put(log, [['b', '5']])

    const stats = await compacted(host, log)
    assert.deepEqual(await textOf(log), ['1:b=1', '2:a=2', '4:c=4', '5:b=5'])
    assert.equal(log.cleanedOffset, 5)
    assert.equal(stats.endOffset, 5)
    assert.deepEqual(
      log.inspect().segments.map(({ baseOffset, nextOffset }) => [baseOffset, nextOffset]),
      [
        [0, 5],
        [5, 6],
      ],
    )
    await host.io.clock.yieldTurn()
    assert.deepEqual(
      filesOf(host, log).filter(name => !name.endsWith('.deleted')),
      ['0.index', '0.log', '0.timeindex', '5.log', '5.snapshot'],
    )
    const again = await host.reopen()
    assert.deepEqual(await textOf(again), ['1:b=1', '2:a=2', '4:c=4', '5:b=5'])
    assert.equal(again.cleanedOffset, 5)
    assert.deepEqual(host.faults.damage, [])
  }))
