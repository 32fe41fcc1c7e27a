import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readDeleteHorizon } from '../../records/batch.ts'
import { type Host, onHost, readAll } from '../fixture.test.ts'
import type { SegmentedLog } from '../segmented-log.ts'
import { compact, compacted, put, roll, textOf } from './compaction-fixture.test.ts'

const config = { isCompacted: true, isDeleted: false, fileDeleteDelayMs: 0, deleteRetentionMs: 1e9 }

/** Tombstones: a delete horizon makes each of their batches larger. */
async function putTombstones(host: Host, log: SegmentedLog, prefix: string, count = 10): Promise<void> {
  for (let index = 0; index < count; index++) put(log, [[`${prefix}${index}`, null]])
  await roll(host, log)
}

async function horizons(log: SegmentedLog): Promise<boolean[]> {
  return (await readAll(log)).map(batch => readDeleteHorizon(batch, 0) !== undefined)
}

function sizesOf(log: SegmentedLog): number[] {
  return log.inspect().segments.map(({ sizeBytes }) => sizeBytes)
}

test('segments that would be more than one can be together stay apart', () =>
  onHost({ config }, async host => {
    const log = await host.openLog()
    await putTombstones(host, log, 'a')
    await putTombstones(host, log, 'b')
    put(log, [['z', '1']])
    await roll(host, log)
    const [one, two] = sizesOf(log)
    const stats = await compacted(host, log, { maxSegmentBytes: one + two })
    assert.equal(stats.endOffset, 21)
    const sizes = sizesOf(log)
    assert.equal(sizes.length, 4)
    assert.ok(sizes[0] > one && sizes[1] > two, `${sizes}`)
    assert.deepEqual(await horizons(log), [...Array.from({ length: 20 }, () => true), false])
    assert.equal((await textOf(log)).length, 21)
  }))

test('a segment that horizons would make too large gets none, and is compacted all the same', () =>
  onHost({ config }, async host => {
    const log = await host.openLog()
    put(log, [['z', '0']])
    await putTombstones(host, log, 'a', 50)
    put(log, [['z', '1']])
    await roll(host, log)
    const [size] = sizesOf(log)
    await compacted(host, log, { maxSegmentBytes: size })
    assert.deepEqual(
      await horizons(log),
      Array.from({ length: 51 }, () => false),
    )
    assert.equal((await textOf(log)).at(0), '1:a0=null')
    // Its tombstones are still there for a pass that has room.
    put(log, [['z', '2']])
    await roll(host, log)
    await compacted(host, log)
    assert.deepEqual(await horizons(log), [...Array.from({ length: 50 }, () => true), false])
  }))

test('a segment of which too much is left, even so, is told', () =>
  onHost({ config }, async host => {
    const log = await host.openLog()
    await putTombstones(host, log, 'a')
    const [size] = sizesOf(log)
    const result = await compact(host, log, { maxSegmentBytes: size - 1 })
    assert.ok(result.type === 'uncleanable' && result.obstacle.type === 'largeSegment', JSON.stringify(result))
    assert.deepEqual(sizesOf(log), [size, 0])
    assert.equal(log.compaction.isUncleanable, true)
  }))
