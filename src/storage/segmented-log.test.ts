import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ErrorCode } from '../base/error-code.ts'
import { readBaseOffset, readLastOffset } from '../records/batch.ts'
import { append, batchOf, bytesOf, onHost, readAll, tryAppend, written } from './fixture.test.ts'

test('batches are read as they were appended, with their offsets', () =>
  onHost({}, async host => {
    const log = await host.openLog()
    const sizes = [1, 3, 2]
    const offsets = sizes.map(count => append(log, { count }))
    assert.deepEqual(offsets, [0, 1, 4])
    assert.equal(log.nextOffset, 6)
    assert.equal(log.logEndOffset, 0, 'nothing is shown before it is written')
    await written(host, log)
    const batches = await readAll(log)
    assert.deepEqual(
      batches.map(batch => readBaseOffset(batch, 0)),
      [0, 1, 4],
    )
    assert.deepEqual(
      batches.map(batch => batch.subarray(21)),
      sizes.map(count => batchOf({ count }).subarray(21)),
    )
  }))

test('a log that was closed opens at its end with all it had', () =>
  onHost({ config: { segmentBytes: 3000, indexIntervalBytes: 200 } }, async host => {
    const log = await host.openLog()
    for (let index = 0; index < 100; index++) {
      append(log, {
        count: 1 + (index % 3),
        leaderEpoch: index >> 5,
        producerId: 9,
        producerEpoch: 0,
        baseSequence: sequenceAt(index),
      })
      if (index % 7 === 0) await written(host, log)
    }
    await written(host, log)
    log.moveHighWatermark(150)
    const before = await readAll(log)
    const epochs = [0, 1, 2, 3].map(epoch => log.endOffsetForEpoch(epoch))

    const again = await host.reopen()
    assert.equal(again.logEndOffset, log.logEndOffset)
    assert.equal(again.highWatermark, 150)
    assert.equal(again.latestEpoch, 3)
    assert.deepEqual(
      [0, 1, 2, 3].map(epoch => again.endOffsetForEpoch(epoch)),
      epochs,
    )
    assert.deepEqual(await readAll(again), before)
    assert.deepEqual(host.faults.damage, [])
    const next = batchOf({ count: 1, producerId: 9, producerEpoch: 0, baseSequence: sequenceAt(100) })
    assert.equal(tryAppend(again, next), again.logEndOffset)
  }))

function sequenceAt(index: number): number {
  let sequence = 0
  for (let earlier = 0; earlier < index; earlier++) sequence += 1 + (earlier % 3)
  return sequence
}

test('a batch that is larger than what a turn gathers is read back too', () =>
  onHost({}, async host => {
    const log = await host.openLog()
    append(log)
    append(log, { valueBytes: 200_000 })
    append(log)
    await written(host, log)
    const batches = await readAll(log)
    assert.deepEqual(
      batches.map(batch => batch.length > 100_000),
      [false, true, false],
    )
  }))

test('a reader sees nothing at or above its limit', () =>
  onHost({}, async host => {
    const log = await host.openLog()
    for (let index = 0; index < 10; index++) append(log)
    await written(host, log)
    log.moveHighWatermark(4)
    const batches = await readAll(log, 'highWatermark')
    assert.equal(readLastOffset(batches.at(-1) as Buffer, 0), 3)
    const request = { offset: 4, maxBytes: 1000, minOneBatch: true, isolation: 'highWatermark' } as const
    assert.equal((await bytesOf(log.read(request))).length, 0)
  }))

test('offsets outside of the log are out of range', () =>
  onHost({}, async host => {
    const log = await host.openLog()
    append(log, { count: 5 })
    await written(host, log)
    const read = (offset: number) => log.read({ offset, maxBytes: 10, minOneBatch: true, isolation: 'logEndOffset' })
    assert.deepEqual(await read(6), { type: 'refused', errorCode: ErrorCode.offsetOutOfRange })
    assert.deepEqual(await read(-1), { type: 'refused', errorCode: ErrorCode.offsetOutOfRange })
    assert.equal((await bytesOf(read(5))).length, 0)
  }))

test('records are found by their timestamps', () =>
  onHost({ config: { segmentBytes: 2000, indexIntervalBytes: 150 } }, async host => {
    let log = await host.openLog()
    const times = [50, 20, 90, 90, 10, 120, 40, 200, 130, 199]
    for (const round of [0, 1, 2, 3])
      for (const time of times) append(log, { timestamp: round * 1000 + time, count: 2 })
    await written(host, log)
    for (const isReopened of [false, true]) {
      if (isReopened) log = await host.reopen()
      const find = async (timestamp: number) => log.findByTimestamp(BigInt(timestamp))
      assert.deepEqual(await find(0), { timestamp: 50n, offset: 0, leaderEpoch: 0 })
      assert.deepEqual(await find(91), { timestamp: 91n, offset: 5, leaderEpoch: 0 })
      assert.deepEqual(await find(1200), { timestamp: 1200n, offset: 34, leaderEpoch: 0 })
      assert.deepEqual(await find(3201), { timestamp: 3201n, offset: 75, leaderEpoch: 0 })
      assert.equal(await find(3202), undefined)
      assert.deepEqual(await log.findMaxTimestamp(), { timestamp: 3201n, offset: 75, leaderEpoch: 0 })
    }
  }))

test('where no record has a timestamp the first has the largest, also below the log start', () =>
  onHost({ config: { segmentBytes: 1000, indexIntervalBytes: 150 } }, async host => {
    let log = await host.openLog()
    assert.equal(await log.findMaxTimestamp(), undefined)
    for (let count = 0; count < 20; count++) append(log, { timestamp: -1 })
    await written(host, log)
    log.moveHighWatermark(log.logEndOffset)
    const first = { timestamp: -1n, offset: 0, leaderEpoch: 0 }
    for (const isReopened of [false, true]) {
      if (isReopened) log = await host.reopen()
      assert.deepEqual(await log.findMaxTimestamp(), first)
      assert.equal(await log.findByTimestamp(0n), undefined)
    }
    await log.moveLogStart(2)
    assert.deepEqual(await log.findMaxTimestamp(), first)
    append(log, { timestamp: 7 })
    await written(host, log)
    assert.deepEqual(await log.findMaxTimestamp(), { timestamp: 7n, offset: 20, leaderEpoch: 0 })
  }))

test('a segment that ended without an append before a clean stop is not read at the next start', () =>
  onHost({}, async host => {
    const first = await host.openLog()
    append(first)
    await written(host, first)
    const log = await host.reopen()
    log.roll()
    await host.close()
    const reads: string[] = []
    const { faults } = host.node.disk
    const { decide } = faults
    faults.decide = (operation, path, random) => {
      if (operation === 'read' && path.endsWith('.log')) reads.push(path)
      return decide.call(faults, operation, path, random)
    }
    const again = await host.openLog()
    assert.deepEqual([again.logEndOffset, again.segmentCount, reads], [1, 2, []])
    faults.decide = decide
  }))
