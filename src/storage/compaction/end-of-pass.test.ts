import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readLastOffset, readRecordCount } from '../../records/batch.ts'
import { BatchBuilder } from '../../records/builder.ts'
import { bytesOf, type Host, onHost, readAll, tryAppend, written } from '../fixture.test.ts'
import type { SegmentedLog } from '../segmented-log.ts'
import { compacted, put, roll, textOf } from './compaction-fixture.test.ts'

/** Records without keys go at the first pass. */
function putKeyless(log: SegmentedLog, count: number): void {
  const builder = new BatchBuilder()
  for (let index = 0; index < count; index++) builder.append(1000, null, Buffer.from('x'))
  assert.equal(typeof tryAppend(log, Buffer.from(builder.finish())), 'number')
}

/** `0:a`, then offsets 1 to 4 of which nothing stays; `after` is appended behind them. */
async function logThatEndsInNothing(host: Host, after: readonly string[]): Promise<SegmentedLog> {
  const log = await host.openLog()
  put(log, [['a', '1']])
  putKeyless(log, 2)
  putKeyless(log, 2)
  await roll(host, log)
  for (const key of after) put(log, [[key, '1']])
  await written(host, log)
  log.moveHighWatermark(log.logEndOffset)
  host.config = { ...host.config, isCompacted: true, isDeleted: false, fileDeleteDelayMs: 0 }
  log.configure(host.config)
  return log
}

async function shapeOf(log: SegmentedLog): Promise<string[]> {
  return (await readAll(log)).map(batch => `..${readLastOffset(batch, 0)} with ${readRecordCount(batch, 0)}`)
}

async function lengthAt(log: SegmentedLog, offset: number): Promise<number> {
  const request = { offset, maxBytes: 1000, minOneBatch: true, isolation: 'highWatermark' } as const
  return (await bytesOf(log.read(request))).length
}

test('the last batch of what is compacted goes like any other when one follows', () =>
  onHost({}, async host => {
    const log = await logThatEndsInNothing(host, ['b'])
    await compacted(host, log)
    assert.deepEqual(await shapeOf(log), ['..0 with 1', '..5 with 1'])
    const again = await host.reopen()
    assert.deepEqual(await shapeOf(again), ['..0 with 1', '..5 with 1'])
    assert.equal(again.logEndOffset, 6)
  }))

test('where nothing follows it stays, empty, so that readers come to the end', () =>
  onHost({}, async host => {
    const log = await logThatEndsInNothing(host, [])
    await compacted(host, log)
    assert.deepEqual(await shapeOf(log), ['..0 with 1', '..4 with 0'])
    assert.equal(log.logEndOffset, 5)
  }))

test('a power cut that takes all that followed does not take the offsets before it', async () => {
  for (let seed = 0; seed < 20; seed++) {
    await onHost({ seed }, async host => {
      const log = await logThatEndsInNothing(host, ['b', 'c'])
      await compacted(host, log)
      host.node.crash('power')
      await host.open()
      const again = host.log()
      assert.ok(again.logEndOffset >= 5, `seed ${seed}: the log ends at ${again.logEndOffset}`)
      assert.deepEqual(host.faults.damage, [])
      again.moveHighWatermark(again.logEndOffset)
      assert.equal((await textOf(again)).at(0), '0:a=1')
      const length = await lengthAt(again, 1).catch(() => -1)
      assert.ok(again.logEndOffset > 5 ? length > 0 : length === 0, `seed ${seed}: ${length} bytes`)
    })
  }
})

test('a reader in front of the gap waits where the last stable offset lies behind it, and goes on after that', () =>
  onHost({}, async host => {
    const log = await logThatEndsInNothing(host, [])
    put(log, [['t', '1']], 1000, { producerId: 1, producerEpoch: 0, baseSequence: 0, isTransactional: true })
    await written(host, log)
    log.moveHighWatermark(log.logEndOffset)
    await compacted(host, log)
    assert.equal(log.cleanedOffset, 5)
    assert.deepEqual(await shapeOf(log), ['..0 with 1', '..5 with 1'])
    const request = { offset: 2, maxBytes: 1000, minOneBatch: true } as const
    assert.equal((await bytesOf(log.read({ ...request, isolation: 'lastStableOffset' }))).length, 0)
    assert.ok((await bytesOf(log.read({ ...request, isolation: 'highWatermark' }))).length > 0)
    assert.deepEqual(host.faults.damage, [])
  }))

test('a cut to the end of what was compacted leaves a log that ends there', () =>
  onHost({}, async host => {
    const log = await logThatEndsInNothing(host, ['b'])
    await compacted(host, log)
    await log.truncate({ endOffset: 5 })
    assert.equal(log.logEndOffset, 5)
    assert.deepEqual(await firstShapeOf(log), ['..0 with 1'])
    const again = await host.reopen()
    assert.equal(again.logEndOffset, 5)
    assert.deepEqual(host.faults.damage, [])
  }))

/** Where the log ends in a gap no batch says so. */
async function firstShapeOf(log: SegmentedLog): Promise<string[]> {
  const bytes = await bytesOf(log.read({ offset: 0, maxBytes: 1000, minOneBatch: true, isolation: 'logEndOffset' }))
  return [`..${readLastOffset(bytes, 0)} with ${readRecordCount(bytes, 0)}`]
}
