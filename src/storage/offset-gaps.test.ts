import assert from 'node:assert/strict'
import { test } from 'node:test'
import { segmentFileName } from '../core/log/file-names.ts'
import { readBaseOffset, readBatchSize, readLastOffset } from '../records/batch.ts'
import { batchSpans } from '../records/batch-header.ts'
import { buildMarkerBatch } from '../records/control.ts'
import { compacted, put, roll } from './compaction/compaction-fixture.test.ts'
import { type Problem, verify } from './dump/verify.ts'
import {
  append,
  batchOf,
  bytesOf,
  crashAtOperation,
  Host,
  onHost,
  readAll,
  tryAppend,
  written,
} from './fixture.test.ts'
import type { SegmentedLog } from './segmented-log.ts'

const config = { isCompacted: false, isDeleted: true, segmentBytes: 600, indexIntervalBytes: 200, retentionMs: -1 }
const producer = { producerId: 7, producerEpoch: 0 }
const transactional = { producerId: 8, producerEpoch: 0, isTransactional: true }

/** What a leader has left after compaction: gaps within, between and at the beginning of its segments. */
async function compactedBatches(): Promise<Buffer> {
  const host = new Host({ config: { ...config, isCompacted: true, isDeleted: false, segmentBytes: 400 } })
  return host.run(
    (async () => {
      const log = await host.openLog()
      for (let index = 0; index < 60; index++) {
        const key = index % 10 === 0 ? `kept-${index}` : 'key'
        put(log, [[key, `${index}`]], 1000 + index, { ...producer, baseSequence: index })
        if (index % 15 === 7) transact(log, Math.floor(index / 15))
        if (index % 8 === 7) await roll(host, log)
      }
      await roll(host, log)
      await compacted(host, log)
      return Buffer.concat(await readAll(log))
    })(),
  )
}

function transact(log: SegmentedLog, count: number): void {
  put(log, [['key', 'of a transaction']], 1000, { ...transactional, baseSequence: count })
  const marker = buildMarkerBatch({ isCommit: count % 2 === 0, coordinatorEpoch: 1 }, 1000, transactional)
  assert.equal(typeof tryAppend(log, Buffer.from(marker), { origin: 'coordinator' }), 'number')
}

/** As a follower takes them, a few at a time. */
async function follow(host: Host, log: SegmentedLog, batches: Buffer): Promise<void> {
  for (const { at, sizeBytes } of batchSpans(batches)) {
    assert.equal(log.appendAsFollower(batches.subarray(at, at + sizeBytes)), undefined)
    await written(host, log)
  }
  log.moveHighWatermark(log.logEndOffset)
}

/** Everything is on the disk, and the checkpoints say so. */
async function synced(host: Host, log: SegmentedLog): Promise<void> {
  await log.flush()
  while (log.recoveryPoint < log.logEndOffset) await host.io.clock.yieldTurn()
  for (const directory of host.directories.directories) await directory.saveCheckpoints()
}

/** On a machine that was not started anew since the last process unless the power was cut. */
async function open(host: Host, boot = 'first'): Promise<SegmentedLog> {
  await host.open({ bootId: boot })
  const log = host.log()
  log.moveHighWatermark(log.logEndOffset)
  // Segments that are missing are looked for behind the start.
  await log.findHoles()
  return log
}

async function offsetsOf(log: SegmentedLog): Promise<number[]> {
  return (await readAll(log)).map(batch => readBaseOffset(batch, 0))
}

async function scrubAll(log: SegmentedLog): Promise<void> {
  let cursor: Awaited<ReturnType<typeof log.scrub>>['next']
  do cursor = (await log.scrub(cursor, 500)).next
  while (cursor !== undefined)
}

async function problemsOf(host: Host): Promise<string[]> {
  const found: Problem[] = []
  assert.equal((await verify(host.io.disk, '/data', problem => found.push(problem))).type, 'verified')
  return found.map(({ path, problem }) => `${path}: ${problem}`)
}

for (const ending of ['clean', 'kill', 'power'] as const) {
  test(`epochs that begin in a gap are known as they were assigned, after ${ending}`, async () => {
    await onHost({ config }, async host => {
      const log = await open(host)
      assert.equal(log.appendAsFollower(batchOf({ baseOffset: 0, partitionLeaderEpoch: 2 })), undefined)
      await written(host, log)
      await log.assignEpochs([
        { leaderEpoch: 3, startOffset: 5 },
        { leaderEpoch: 4, startOffset: 9 },
      ])
      assert.equal(log.appendAsFollower(batchOf({ baseOffset: 20, partitionLeaderEpoch: 4 })), undefined)
      await written(host, log)
      const expected = [
        [2, 5],
        [3, 9],
        [4, log.logEndOffset],
      ]
      const ends = (of: SegmentedLog) => expected.map(([epoch]) => [epoch, of.endOffsetForEpoch(epoch).endOffset])
      assert.deepEqual(ends(log), expected)
      if (ending === 'clean') await host.close()
      else if (ending === 'kill') host.node.crash('kill')
      else {
        // The system has written the batch and nothing else.
        await host.io.disk.syncFile(`${log.path}/${segmentFileName(0, 'log')}`)
        host.node.crash('power')
      }
      assert.deepEqual(ends(await open(host, ending === 'power' ? 'second' : 'first')), expected)
    })
  })
}

test('a leader gives the offsets of a gap at its end to its own epoch', () =>
  onHost({ config }, async host => {
    const log = await open(host)
    assert.equal(log.appendAsFollower(batchOf({ baseOffset: 0, partitionLeaderEpoch: 2 })), undefined)
    await written(host, log)
    await log.assignEpochs([{ leaderEpoch: 3, startOffset: 5 }])
    log.assignLeaderEpoch(4)
    assert.deepEqual(log.inspect().epochs, [
      { leaderEpoch: 2, startOffset: 0 },
      { leaderEpoch: 4, startOffset: 1 },
    ])
  }))

for (const ending of ['clean', 'kill', 'power'] as const) {
  test(`a follower's gaps are no damage to a log that was never compacted itself, after ${ending}`, async () => {
    const batches = await compactedBatches()
    await onHost({ config }, async host => {
      const log = await open(host)
      await follow(host, log, batches)
      const offsets = await offsetsOf(log)
      assert.ok(offsets.length > 5 && offsets.some((offset, index) => index > 0 && offset > offsets[index - 1] + 5))
      if (ending === 'power') await synced(host, log)
      if (ending === 'clean') await host.close()
      else host.node.crash(ending)
      const again = await open(host, ending === 'power' ? 'second' : 'first')
      assert.deepEqual(await offsetsOf(again), offsets)
      for (let offset = 0; offset < again.logEndOffset; offset++) {
        const bytes = await bytesOf(again.read({ offset, maxBytes: 1, minOneBatch: true, isolation: 'logEndOffset' }))
        const expected = offsets.findLast(one => one <= offset) ?? 0
        const last = readLastOffset(bytes, 0)
        assert.ok(last >= offset && readBaseOffset(bytes, 0) >= expected, `a read at ${offset}`)
      }
      await scrubAll(again)
      assert.deepEqual(host.faults.damage, [])
      await host.close()
      host.io = host.node.start()
      assert.deepEqual(await problemsOf(host), [])
      host.node.crash('kill')
    })
  })
}

test('a follower that was cut by a power failure has a beginning of what it had, gaps or not', async () => {
  const batches = await compactedBatches()
  for (let seed = 0; seed < 40; seed++) {
    await onHost({ seed, config }, async host => {
      const log = await open(host)
      const half = [...batchSpans(batches)][3].at
      await follow(host, log, batches.subarray(0, half))
      await log.flush()
      const synced = await offsetsOf(log)
      await follow(host, log, batches.subarray(half))
      const all = await offsetsOf(log)
      await host.world.sleep(host.world.random('when').below(20))
      host.node.crash('power')
      const again = await open(host, 'second')
      const left = await offsetsOf(again)
      assert.deepEqual(left, all.slice(0, left.length), `seed ${seed}`)
      assert.ok(left.length >= synced.length, `seed ${seed}: ${left.length} of ${synced.length} synced`)
    })
  }
})

test('gaps between segments stay what they are, however often the power is cut while the log is put in order', async () => {
  for (let seed = 0; seed < 60; seed++) {
    await onHost(
      { seed, config: { ...config, isCompacted: true, isDeleted: false, segmentBytes: 300 } },
      async host => {
        const log = await host.openLog()
        for (let index = 0; index < 20; index++)
          put(log, [[`key-${index % 4 === 0 ? index : 1}`, 'value']], 1000 + index)
        await roll(host, log)
        await compacted(host, log)
        await log.flush()
        while (log.recoveryPoint < log.logEndOffset) await host.io.clock.yieldTurn()
        const all = await offsetsOf(log)
        for (let cuts = 0; cuts < 3; cuts++) {
          // As far as the checkpoint says, nothing is synced.
          host.io.disk.writeSmallFile('/data/recovery-point-offset-checkpoint', Buffer.from('0\n0\n'))
          await host.io.disk.syncFile('/data/recovery-point-offset-checkpoint')
          host.node.crash('power')
          const again = await open(host, `boot ${cuts}`)
          put(again, [['another', `${cuts}`]])
          await host.world.sleep(host.world.random('when').below(60))
        }
        assert.deepEqual(host.faults.damage, [], `seed ${seed}`)
        assert.deepEqual((await offsetsOf(host.log())).slice(0, all.length), all, `seed ${seed}`)
      },
    )
  }
})

for (const ending of ['clean', 'kill', 'power'] as const) {
  test(`a log that is cut where offsets are left out ends there, and still does after ${ending}`, async () => {
    const batches = await compactedBatches()
    const spans = [...batchSpans(batches)]
    for (let index = 1; index < spans.length; index++) {
      const [before, { at }] = [spans[index - 1].at, spans[index]]
      const [lastOffset, baseOffset] = [readLastOffset(batches, before), readBaseOffset(batches, at)]
      // Where the next one begins, within what is left out before it, and inside of it.
      for (const endOffset of new Set([baseOffset, baseOffset - 1, readLastOffset(batches, at)])) {
        if (endOffset <= lastOffset) continue
        await onHost({ config }, async host => {
          const log = await open(host)
          await follow(host, log, batches)
          const kept = (await offsetsOf(log)).slice(0, index)
          await log.truncate({ endOffset })
          const end = Math.min(endOffset, baseOffset)
          assert.deepEqual([log.logEndOffset, log.nextOffset, log.highWatermark], [end, end, end])
          if (ending === 'clean') await host.close()
          else host.node.crash(ending)
          const again = await open(host, ending === 'power' ? 'second' : 'first')
          assert.deepEqual([again.logEndOffset, await offsetsOf(again)], [end, kept])
          assert.deepEqual(host.faults.damage, [])
          const offset = append(again)
          await written(host, again)
          assert.deepEqual([offset, await offsetsOf(again)], [end, [...kept, end]])
        })
      }
    }
  })
}

test('offsets too far from the beginning of a segment begin another', () =>
  onHost({ config: { ...config, segmentBytes: 100_000, indexIntervalBytes: 1 } }, async host => {
    const log = await open(host)
    const far = 3 * 2 ** 31
    const at = (offset: number) => {
      const batch = batchOf({ timestamp: 1000 + Math.floor(offset / 2 ** 20) })
      batch.writeBigInt64BE(BigInt(offset), 0)
      return batch
    }
    const offsets = [0, 5, far, far + 1, 2 * far]
    await follow(host, log, Buffer.concat(offsets.map(at)))
    const check = async (log: SegmentedLog) => {
      assert.deepEqual(await offsetsOf(log), offsets)
      for (const wanted of [1, 6, far - 1, far, far + 2, 2 * far]) {
        const bytes = await bytesOf(
          log.read({ offset: wanted, maxBytes: 1, minOneBatch: true, isolation: 'logEndOffset' }),
        )
        assert.equal(
          readBaseOffset(bytes, 0),
          offsets.find(offset => offset >= wanted),
        )
      }
    }
    await check(log)
    host.node.crash('kill')
    const again = await open(host)
    await check(again)
    await host.close()
    await check(await open(host))
    assert.deepEqual(host.faults.damage, [])
    await host.close()
    host.io = host.node.start()
    assert.deepEqual(await problemsOf(host), [])
    host.node.crash('kill')
  }))

test('a read far before the first batch of a segment is not answered with those of the one before it', () =>
  onHost({ config: { ...config, segmentBytes: 100_000 } }, async host => {
    const log = await open(host)
    const far = 3 * 2 ** 31
    await follow(host, log, Buffer.concat([0, 1, 2].map(baseOffset => batchOf({ baseOffset }))))
    await follow(host, log, batchOf({ baseOffset: far, valueBytes: 20 }))
    for (const maxBytes of [1, 200, 100_000]) {
      const read = log.read({ offset: far - 1, maxBytes, minOneBatch: true, isolation: 'logEndOffset' })
      const bytes = await bytesOf(read)
      assert.deepEqual([readBaseOffset(bytes, 0), bytes.length], [far, readBatchSize(bytes, 0)], `${maxBytes} bytes`)
    }
  }))

for (const fault of ['open', 'append'] as const) {
  test(`a batch too far behind the end that cannot be written (${fault}) leaves the log as it was`, () =>
    onHost({ config }, async host => {
      const log = await open(host)
      append(log)
      await written(host, log)
      const far = batchOf()
      far.writeBigInt64BE(BigInt(3 * 2 ** 31), 0)
      far.writeInt32BE(0, 12)
      const pathEnd = `/${segmentFileName(3 * 2 ** 31, 'log')}`
      host.node.disk.faults.failNext(fault, 'noSpace', { pathEnd })
      assert.equal(log.appendAsFollower(far), undefined)
      while (!host.faults.events.includes('full')) await host.io.clock.yieldTurn()
      const whole = () => [log.nextOffset, log.logEndOffset, log.inspect().segments.map(one => one.baseOffset)]
      assert.deepEqual(whole(), [1, 1, [0]])
      while (!host.faults.events.includes('writable')) await host.world.sleep(100)
      // It leads now, or its leader has other records.
      assert.equal(append(log), 1)
      await written(host, log)
      assert.deepEqual(await offsetsOf(log), [0, 1])
      assert.equal(log.appendAsFollower(far), undefined)
      await written(host, log)
      for (const ending of ['kill', 'clean'] as const) {
        assert.deepEqual(await offsetsOf(host.log()), [0, 1, 3 * 2 ** 31])
        if (ending === 'clean') await host.close()
        else host.node.crash('kill')
        await open(host)
        assert.deepEqual(host.faults.damage, [])
      }
    }))
}

/** Twelve batches of one record in one segment of a log that has no gaps. */
async function twelve(host: Host, valueBytes = 10): Promise<SegmentedLog> {
  const log = await open(host)
  for (let index = 0; index < 12; index++) append(log, { valueBytes, timestamp: 1000 + index })
  await written(host, log)
  log.moveHighWatermark(log.logEndOffset)
  await log.flush()
  return log
}

/** What can be read, offset by offset: what is not refused must be the batch of that offset. */
async function readable(log: SegmentedLog): Promise<number[]> {
  const found: number[] = []
  for (let offset = log.logStartOffset; offset < log.logEndOffset; offset++) {
    const read = await log.read({ offset, maxBytes: 1, minOneBatch: true, isolation: 'logEndOffset' })
    if (read.type === 'refused') continue
    const base = readBaseOffset(await bytesOf(read), 0)
    if (base === offset) found.push(offset)
  }
  return found
}

for (const [name, valueBytes] of [
  ['small batches', 10],
  ['batches of which no two are read at once', 700_000],
] as const) {
  for (const ending of ['clean', 'kill'] as const) {
    test(`an offset that has grown on the disk is told, and only its batch is lost: ${name}, ${ending}`, () =>
      onHost({ config: { ...config, segmentBytes: 1 << 24 } }, async host => {
        const log = await twelve(host, valueBytes)
        const sizeBytes = log.sizeBytes / 12
        assert.ok(Number.isInteger(sizeBytes))
        const path = `${log.path}/${segmentFileName(0, 'log')}`
        if (ending === 'clean') await host.close()
        else host.node.crash('kill')
        // Batch 4 says 6: no CRC covers it.
        assert.ok(host.node.disk.flip(path, 4 * sizeBytes + 7, 2))
        const again = await open(host)
        await scrubAll(again)
        assert.deepEqual([await readable(again), again.logEndOffset], [[0, 1, 2, 3, 5, 6, 7, 8, 9, 10, 11], 12])
        const places = new Set(host.faults.damage.map(({ position, offset }) => `${position} ${offset}`))
        assert.deepEqual([...places], [`${4 * sizeBytes} 4`])
        await host.close()
        host.io = host.node.start()
        assert.match((await problemsOf(host)).join(), /0\.log: the batch has offset 6, but 5 follows/)
        host.node.crash('kill')
      }))
  }
}

test('where offsets are left out, one that has changed on the disk loses its batch, and hardly ever a sound one', async () => {
  const offsets = [0, 1, 2, 20, 21, 22, 23, 60, 61, 62, 63, 64, 100, 101]
  let wrong = 0
  for (let index = 0; index < offsets.length; index++) {
    for (let bit = 0; bit < 7; bit++) {
      await onHost({ config: { ...config, segmentBytes: 1 << 24 } }, async host => {
        const log = await open(host)
        const batches = offsets.map(offset => {
          const batch = batchOf()
          batch.writeBigInt64BE(BigInt(offset), 0)
          return batch
        })
        await follow(host, log, Buffer.concat(batches))
        const path = `${log.path}/${segmentFileName(0, 'log')}`
        await host.close()
        assert.ok(host.node.disk.flip(path, index * batches[0].length + 7, 1 << bit))
        const again = await open(host)
        const served = new Set(await readable(again))
        for (const [other, offset] of offsets.entries()) if (other !== index && !served.has(offset)) wrong++
      })
    }
  }
  // Of 14 batches with 7 changes each. In two either of two batches fits, wherever it is taken to have been.
  assert.ok(wrong <= 2, `${wrong} sound batches are not served`)
})

test('a segment that is missing among others, or has lost its end, is told', () =>
  onHost({ config: { ...config, segmentBytes: 400 } }, async host => {
    for (const change of ['removed', 'cut', 'emptied'] as const) {
      host.faults.damage.length = 0
      const log = await open(host)
      for (let index = 0; index < 30; index++) append(log, { timestamp: log.nextOffset })
      await written(host, log)
      log.moveHighWatermark(log.logEndOffset)
      const [segment, next] = log.inspect().segments.slice(-4)
      await host.close()
      host.io = host.node.start()
      const path = `${log.path}/${segmentFileName(segment.baseOffset, 'log')}`
      const bytes = host.io.disk.readSmallFile(path, 1e6) as Buffer
      const size = readBatchSize(bytes, 0)
      if (change === 'removed') await host.io.disk.remove(path)
      if (change === 'cut') host.io.disk.writeSmallFile(path, bytes.subarray(0, bytes.length - size))
      if (change === 'emptied') host.io.disk.writeSmallFile(path, Buffer.alloc(0))
      assert.notDeepEqual(await problemsOf(host), [], change)
      host.node.crash('kill')
      const again = await open(host)
      again.moveHighWatermark(again.logEndOffset)
      const offset = next.baseOffset - 1
      const read = await again.read({ offset, maxBytes: 1, minOneBatch: true, isolation: 'logEndOffset' })
      if (read.type === 'read') await bytesOf(read)
      assert.ok(host.faults.damage.length > 0, `${change} is told`)
      await host.close()
    }
  }))

for (const kind of ['kill', 'power'] as const) {
  test(`a crash (${kind}) while a log is cut where offsets are left out leaves a beginning of it, and no damage`, async () => {
    const batches = await compactedBatches()
    const spans = [...batchSpans(batches)]
    for (let index = 1; index < spans.length; index++) {
      const endOffset = readBaseOffset(batches, spans[index].at) - 1
      if (endOffset <= readLastOffset(batches, spans[index - 1].at)) continue
      for (let operation = 1; await cutCrashes(batches, endOffset, { kind, operation }); operation++);
    }
  })
}

/** Answers false when the cut has no such operation. */
async function cutCrashes(
  batches: Buffer,
  endOffset: number,
  { kind, operation }: { kind: 'kill' | 'power'; operation: number },
): Promise<boolean> {
  const host = new Host({ seed: `${endOffset}-${operation}`, config })
  const log = await host.run(open(host))
  await host.run(follow(host, log, batches))
  await host.run(synced(host, log))
  const offsets = await host.run(offsetsOf(log))
  const crash = crashAtOperation(host, operation, kind)
  const cut = log.truncate({ endOffset }).then(() => 'cut' as const)
  const end = await host.run(Promise.race([cut, crash.happened]))
  crash.off()
  if (end === 'cut') return false
  const again = await host.run(open(host, kind === 'power' ? 'second' : 'first'))
  const left = await host.run(offsetsOf(again))
  const label = `cut at ${endOffset}, ${crash.what()}`
  assert.deepEqual(left, offsets.slice(0, left.length), label)
  assert.ok(left.length >= offsets.filter(offset => offset < endOffset).length, label)
  assert.deepEqual(host.faults.damage, [], label)
  return true
}

test('a read of a gap at the end finds no damage in what is being written behind it', async () => {
  for (let waitMs = 0; waitMs < 0.4; waitMs += 0.01) {
    await onHost({ seed: waitMs }, async host => {
      const first = await host.openLog()
      assert.equal(first.appendAsFollower(batchOf({ baseOffset: 10, partitionLeaderEpoch: 1 })), undefined)
      await written(host, first)
      await first.truncate({ endOffset: 5 })
      const log = await host.reopen()
      assert.deepEqual([log.logStartOffset, log.logEndOffset], [0, 5])
      assert.equal(log.appendAsFollower(batchOf({ baseOffset: 5, partitionLeaderEpoch: 2 })), undefined)
      const read = await log.read({ offset: 2, maxBytes: 1000, minOneBatch: true, isolation: 'logEndOffset' })
      assert.equal(read.type, 'read')
      await host.world.sleep(waitMs)
      await written(host, log)
      assert.deepEqual(host.faults.damage, [], `after ${waitMs} ms`)
    })
  }
})

test('a read of a gap beside a cut that ends in it leaves no segment that would be missed, wherever a kill comes', async () => {
  for (let waitMs = 0; waitMs < 40; waitMs += 0.2) {
    await onHost({ seed: waitMs }, async host => {
      await host.open({ bootId: 'one' })
      const log = host.log()
      for (const baseOffset of [0, 16])
        assert.equal(log.appendAsFollower(batchOf({ baseOffset, count: 3, partitionLeaderEpoch: 1 })), undefined)
      await written(host, log)
      const cut = log.truncate({ endOffset: 16 })
      cut.catch(() => undefined)
      const end = host.world.nowMs + waitMs
      while (host.world.nowMs < end) {
        if (log.logEndOffset > 11)
          await log.read({ offset: 11, maxBytes: 1000, minOneBatch: true, isolation: 'logEndOffset' })
        await host.world.sleep(0.1)
      }
      host.node.crash('kill')
      await host.open({ bootId: 'one' })
      const again = host.log()
      const baseOffset = again.logEndOffset
      assert.equal(again.appendAsFollower(batchOf({ baseOffset, partitionLeaderEpoch: 2 })), undefined)
      await host.world.sleep(200)
      assert.deepEqual(host.faults.damage, [], `after ${waitMs} ms`)
    })
  }
})
