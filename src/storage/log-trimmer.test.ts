import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ErrorCode } from '../base/error-code.ts'
import { readBaseOffset } from '../records/batch.ts'
import { append, batchOf, crashAtOperation, Host, onHost, readAll, tryAppend, written } from './fixture.test.ts'
import type { SegmentedLog } from './segmented-log.ts'

const config = { segmentBytes: 2000, indexIntervalBytes: 300, retentionMs: -1 }

/** Forty batches of two records, by one producer, in four epochs and several segments. */
async function fill(host: Host, log: SegmentedLog, count = 40): Promise<Buffer[]> {
  for (let index = 0; index < count; index++) {
    const fields = { producerId: 3, producerEpoch: 0, baseSequence: index * 2 }
    append(log, { count: 2, valueBytes: 30, timestamp: 1000 + index, leaderEpoch: Math.floor(index / 10), ...fields })
    await written(host, log)
  }
  log.moveHighWatermark(log.logEndOffset)
  return readAll(log)
}

const logFiles = (host: Host) => host.node.disk.files().filter(({ path }) => path.includes('topic-0/0000'))

describe('a cut', () => {
  for (const kept of [0, 1, 7, 20, 39]) {
    test(`after ${kept} batches leaves a log that is as if no more had been written`, () =>
      onHost({ config }, async host => {
        const log = await host.openLog()
        const batches = await fill(host, log)
        await log.truncate({ endOffset: kept * 2 })
        assert.equal(log.logEndOffset, kept * 2)
        assert.equal(log.highWatermark, kept * 2)
        assert.equal(log.latestEpoch, kept === 0 ? -1 : Math.floor((kept - 1) / 10))
        assert.deepEqual(await readAll(log), batches.slice(0, kept))
        const other = await host.otherLog(async twin => void (await fill(host, twin, kept)))
        const lastOnly = (one: SegmentedLog) =>
          one.inspect().producers.map(([id, entry]) => [id, { ...entry, batches: entry.batches.slice(-1) }])
        assert.deepEqual(lastOnly(log), lastOnly(other))
        assert.deepEqual(log.inspect().epochs, other.inspect().epochs)
        assert.deepEqual(await log.findMaxTimestamp(), await other.findMaxTimestamp())

        const again = batchOf({ count: 2, producerId: 3, producerEpoch: 0, baseSequence: kept * 2 })
        assert.equal(tryAppend(log, again, { leaderEpoch: 9 }), kept * 2)
        await written(host, log)
        const reopened = await host.reopen()
        assert.equal((await readAll(reopened)).length, kept + 1)
        assert.deepEqual(host.faults.damage, [])
      }))
  }

  test('inside of a batch takes the batch with it', () =>
    onHost({ config }, async host => {
      const log = await host.openLog()
      await fill(host, log)
      await log.truncate({ endOffset: 31 })
      assert.equal(log.logEndOffset, 30)
    }))

  test('ends the wait of a flush for what it takes away', () =>
    onHost({}, async host => {
      const log = await host.openLog()
      append(log)
      await written(host, log)
      await log.flush()
      append(log, { count: 9 })
      await written(host, log)
      const { disk } = host.node
      disk.stall(5000)
      const flushed = log.flush()
      disk.faults.stalledUntilUs = 0
      await log.truncate({ endOffset: 1 })
      await flushed
      assert.equal(log.flushedOffset, 1)
    }))

  test('above the end takes epochs only that wrote nothing', () =>
    onHost({ config }, async host => {
      const log = await host.openLog()
      await fill(host, log)
      log.assignLeaderEpoch(8)
      assert.equal(log.latestEpoch, 8)
      await log.truncate({ endOffset: 80 })
      assert.equal(log.latestEpoch, 3)
      assert.equal(log.logEndOffset, 80)
    }))

  test('survives a power cut right after it', () =>
    onHost({ config }, async host => {
      const log = await host.openLog()
      const batches = await fill(host, log)
      await log.flush()
      await log.truncate({ endOffset: 22 })
      host.node.crash('power')
      await host.open()
      assert.deepEqual(await readAll(host.log()), batches.slice(0, 11))
    }))

  test('of everything begins anew where it is told', () =>
    onHost({ config }, async host => {
      const log = await host.openLog()
      await fill(host, log)
      await log.truncateFullyAndStartAt(1000)
      assert.deepEqual(
        [log.logStartOffset, log.logEndOffset, log.highWatermark, log.latestEpoch],
        [1000, 1000, 1000, -1],
      )
      assert.equal(append(log, { leaderEpoch: 5 }), 1000)
      await written(host, log)
      const again = await host.reopen()
      assert.deepEqual([again.logStartOffset, again.logEndOffset], [1000, 1001])
      assert.equal((await readAll(again)).length, 1)
    }))
})

describe('the log start', () => {
  test('hides what is below it, for good', () =>
    onHost({ config }, async host => {
      const log = await host.openLog()
      const batches = await fill(host, log)
      await log.moveLogStart(25)
      assert.equal(log.logStartOffset, 25)
      const read = (offset: number) => log.read({ offset, maxBytes: 10, minOneBatch: true, isolation: 'logEndOffset' })
      assert.deepEqual(await read(24), { type: 'refused', errorCode: ErrorCode.offsetOutOfRange })
      assert.deepEqual((await readAll(log)).slice(1), batches.slice(13), 'the first batch may begin below the start')
      host.node.crash('kill')
      await host.open()
      assert.equal(host.log().logStartOffset, 25)
    }))

  test('never falls, and is not above the high watermark', () =>
    onHost({ config }, async host => {
      const log = await host.openLog()
      await fill(host, log)
      await log.moveLogStart(30)
      await log.moveLogStart(10)
      assert.equal(log.logStartOffset, 30)
      await assert.rejects(async () => log.moveLogStart(log.highWatermark + 1), /high watermark/)
    }))

  test('lets go of the segments below it', () =>
    onHost({ config: { ...config, isDeleted: false, isCompacted: false, fileDeleteDelayMs: 1000 } }, async host => {
      const log = await host.openLog()
      await fill(host, log)
      const { segments } = log.inspect()
      await log.moveLogStart(segments[2]!.baseOffset + 1)
      await log.applyRetention(0)
      assert.equal(log.inspect().segments[0]!.baseOffset, segments[2]!.baseOffset)
      assert.ok(logFiles(host).some(({ path }) => path.endsWith('.log.deleted')))
      await host.world.sleep(1500)
      assert.ok(!logFiles(host).some(({ path }) => path.endsWith('.deleted')))
    }))
})

describe('retention', () => {
  test('by size keeps the newest segments', () =>
    onHost({ config: { ...config, retentionBytes: 3000 } }, async host => {
      const log = await host.openLog()
      const batches = await fill(host, log)
      await log.applyRetention(0)
      assert.ok(log.sizeBytes >= 3000 && log.sizeBytes < 5000)
      assert.equal(log.logStartOffset, log.inspect().segments[0]!.baseOffset)
      assert.deepEqual(
        await readAll(log),
        batches.filter(batch => readBaseOffset(batch, 0) >= log.logStartOffset),
      )
    }))

  test('by time takes the whole log and keeps its end, also over a restart', () =>
    onHost({ config: { ...config, retentionMs: 5000 } }, async host => {
      const log = await host.openLog()
      await fill(host, log)
      await log.applyRetention(6000)
      assert.equal(log.logStartOffset, 0, 'nothing is older than five seconds')
      await log.applyRetention(6050)
      assert.deepEqual([log.logStartOffset, log.logEndOffset], [80, 80])
      host.node.crash('kill')
      await host.open()
      const again = host.log()
      assert.deepEqual([again.logStartOffset, again.logEndOffset], [80, 80])
      assert.equal(append(again), 80)
    }))

  test('by time looks at the times of segments that were not opened since the start', () =>
    onHost({ config: { ...config, retentionMs: 5000 } }, async host => {
      await fill(host, await host.openLog())
      const log = await host.reopen()
      await log.applyRetention(6020)
      assert.ok(log.logStartOffset > 0 && log.logStartOffset <= 42, String(log.logStartOffset))
    }))

  test('takes nothing at or above the high watermark, nor of an open transaction', () =>
    onHost({ config: { ...config, retentionBytes: 0 } }, async host => {
      const log = await host.openLog()
      append(log, { count: 2 })
      append(log, { producerId: 9, producerEpoch: 0, baseSequence: 0, isTransactional: true })
      for (let index = 0; index < 30; index++) append(log, { count: 2, valueBytes: 30 })
      await written(host, log)
      log.moveHighWatermark(20)
      await log.applyRetention(0)
      assert.equal(log.lastStableOffset, 2)
      assert.equal(log.logStartOffset, 0)
    }))

  test('lets a reader finish that is in a segment when it goes', () =>
    onHost(
      { config: { ...config, retentionBytes: 0, fileDeleteDelayMs: 0 }, limits: { fileRangeFromBytes: 1 } },
      async host => {
        const log = await host.openLog()
        const batches = await fill(host, log)
        const read = await log.read({ offset: 0, maxBytes: 10_000, minOneBatch: true, isolation: 'logEndOffset' })
        assert.ok(read.type === 'read' && !Buffer.isBuffer(read.parts[0]))
        const range = read.parts[0]!
        assert.ok(!Buffer.isBuffer(range))
        await log.applyRetention(0)
        await host.world.sleep(100)
        const bytes = await range.file.read(range.position, range.length)
        range.file.release()
        assert.deepEqual(bytes.subarray(0, batches[0]!.length), batches[0])
      },
    ))
})

describe('a cut while retention is at work', () => {
  const cuts: [string, (log: SegmentedLog) => Promise<void>, number][] = [
    ['to the first segment', log => log.truncate({ endOffset: 4 }), 4],
    ['below what retention is about to take', log => log.truncate({ endOffset: 20 }), 20],
    ['to the middle', log => log.truncate({ endOffset: 40 }), 40],
    ['of all', log => log.truncateFullyAndStartAt(30), 30],
  ]
  for (const [name, cut, end] of cuts) {
    test(`${name} at any moment leaves a log that goes on from there and opens as it was`, async () => {
      for (let delay = 0; delay < 40; delay++) {
        await onHost({ config: { ...config, retentionBytes: 3000 } }, async host => {
          const log = await host.openLog()
          await fill(host, log)
          // A follower whose new leader has less than the high watermark it knew.
          const retained = log.applyRetention(10_000)
          for (let turn = 0; turn < delay; turn++) await host.io.clock.yieldTurn()
          const startBefore = log.logStartOffset
          await cut(log)
          await retained
          assert.equal(log.logEndOffset, Math.max(end, startBefore), `after ${delay} turns`)
          for (let count = 0; count < 30; count++) append(log, { count: 2, valueBytes: 30, leaderEpoch: 9 })
          await written(host, log)
          log.moveHighWatermark(log.logEndOffset)
          await log.flush()
          await log.directory.saveLogStarts()
          await host.world.sleep(1000)
          const start = log.logStartOffset
          const batches = await readAll(log)
          host.node.crash('kill')
          await host.open()
          assert.equal(host.log().logStartOffset, start, `after ${delay} turns`)
          assert.deepEqual(await readAll(host.log()), batches, `after ${delay} turns`)
          assert.deepEqual(host.faults.damage, [])
        })
      }
    })
  }
})

for (const kind of ['kill', 'power'] as const) {
  test(`a crash (${kind}) at any operation of a cut leaves a beginning of the log, without a hole`, async () => {
    for (let seed = 0; seed < 8; seed++) {
      let operation = 1
      while (await cutCrashes({ kind, operation, seed })) operation++
      assert.ok(operation > 10, `a cut has ${operation} operations`)
    }
  })
}

/** Answers false when the cut has no such operation. */
async function cutCrashes(how: { kind: 'kill' | 'power'; operation: number; seed: number }): Promise<boolean> {
  const { kind, operation, seed } = how
  const host = new Host({ seed: `${seed}-${operation}`, config })
  await host.run(host.open({ bootId: 'first' }))
  const log = host.log()
  const batches = await host.run(fill(host, log))
  await host.run(log.flush())
  while (log.recoveryPoint < log.logEndOffset) await host.run(host.world.sleep(10))
  const crash = crashAtOperation(host, operation, kind)
  const cut = log.truncate({ endOffset: 7 }).then(() => 'cut' as const)
  const end = await host.run(Promise.race([cut, crash.happened]))
  crash.off()
  if (end === 'cut') return false
  await host.run(host.open({ bootId: kind === 'kill' ? 'first' : 'second' }))
  const left = await host.run(readAll(host.log()))
  const label = `${crash.what()}, seed ${seed}`
  assert.ok(left.length >= 3, label)
  assert.deepEqual(left.map(offsetOf), batches.slice(0, left.length).map(offsetOf), label)
  assert.deepEqual(host.faults.damage, [], label)
  return true
}

function offsetOf(batch: Buffer): number {
  return readBaseOffset(batch, 0)
}

test('what retention could not remove yet is not taken for a part of the log that begins anew there', async () => {
  for (const startOffset of [0, 3]) {
    for (const kind of ['kill', undefined] as const) {
      await onHost({ config: { retentionBytes: 1, fileDeleteDelayMs: 0 } }, async host => {
        const log = await host.openLog()
        for (let offset = 0; offset < 10; offset++) {
          assert.equal(log.appendAsFollower(batchOf({ baseOffset: offset, partitionLeaderEpoch: 1 })), undefined)
          if (offset === 4) log.roll()
        }
        await written(host, log)
        log.moveHighWatermark(10)
        host.node.disk.faults.failNext('rename', 'noSpace', { pathEnd: '0.log' })
        await log.applyRetention(0)
        assert.equal(log.logStartOffset, 5)
        await host.world.sleep(3000)
        assert.deepEqual(host.faults.events, ['full', 'writable'])
        await log.truncateFullyAndStartAt(startOffset)
        const batch = batchOf({ baseOffset: startOffset, count: 2, partitionLeaderEpoch: 2 })
        assert.equal(log.appendAsFollower(batch), undefined)
        await written(host, log)
        await log.applyRetention(0)
        await host.world.sleep(100)
        if (kind === undefined) await host.close()
        else host.node.crash(kind)
        const again = await host.openLog()
        assert.deepEqual([again.logStartOffset, again.logEndOffset], [startOffset, startOffset + 2])
        assert.equal((await readAll(again)).length, 1)
        assert.deepEqual(host.faults.damage, [])
      })
    }
  }
})

for (const startOffset of [2, 5, 7, 12, 20]) {
  for (const kind of ['kill', 'power'] as const) {
    test(`a crash (${kind}) while a log begins anew at ${startOffset} leaves what was, or is to be, and no damage`, async () => {
      for (let operation = 1; ; operation++) {
        let isOver = false
        await onHost({ seed: operation, config: { fileDeleteDelayMs: 0 } }, async host => {
          const log = await host.openLog()
          for (let offset = 0; offset < 12; offset++) {
            const batch = batchOf({ baseOffset: offset, partitionLeaderEpoch: 1 })
            assert.equal(log.appendAsFollower(batch), undefined)
            if (offset % 3 === 2) log.roll()
          }
          await written(host, log)
          log.moveHighWatermark(12)
          await log.flush()
          await log.moveLogStart(5)
          await log.applyRetention(0)
          await log.directory.saveRecoveryPoints()
          await host.world.sleep(100)
          const crash = crashAtOperation(host, operation, kind)
          const done = log.truncateFullyAndStartAt(startOffset).then(() => 'done' as const)
          done.catch(() => undefined)
          isOver = (await Promise.race([done, crash.happened])) === 'done'
          crash.off()
          if (isOver) host.node.crash(kind)
          const again = await host.openLog()
          assert.deepEqual(host.faults.damage, [], crash.what())
          assert.ok(again.logStartOffset >= Math.min(startOffset, 5), crash.what())
          if (isOver) assert.deepEqual([again.logStartOffset, again.logEndOffset], [startOffset, startOffset])
          await again.truncateFullyAndStartAt(startOffset)
          const batch = batchOf({ baseOffset: startOffset, partitionLeaderEpoch: 2 })
          assert.equal(again.appendAsFollower(batch), undefined, crash.what())
          await written(host, again)
          assert.equal((await readAll(again)).length, 1)
        })
        if (isOver) break
      }
    })
  }
}

test('a log that is cut within the batch in which it begins has no epoch behind its end', () =>
  onHost({}, async host => {
    const log = await host.openLog()
    append(log, { count: 5, leaderEpoch: 1 })
    await written(host, log)
    log.moveHighWatermark(3)
    await log.moveLogStart(3)
    await log.truncate({ endOffset: 4 })
    assert.deepEqual([log.logStartOffset, log.logEndOffset, log.inspect().epochs], [0, 0, []])
    assert.equal(log.appendAsFollower(batchOf({ baseOffset: 0, partitionLeaderEpoch: 2 })), undefined)
    assert.deepEqual(log.inspect().epochs, [{ leaderEpoch: 2, startOffset: 0 }])
  }))
