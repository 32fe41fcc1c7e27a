import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ErrorCode } from '../base/error-code.ts'
import { DiskError, type DiskErrorCode } from '../io/disk.ts'
import type { DiskOperation } from '../simulator/io/disk-faults.ts'
import { append, batchOf, Host, onHost, readAll, tryAppend, written } from './fixture.test.ts'
import type { SegmentedLog } from './segmented-log.ts'

const config = { segmentBytes: 3000, indexIntervalBytes: 300 }

/** Remembers what the log said to its listener. */
function listen(log: SegmentedLog) {
  const told = { failures: [] as { fromOffset: number; isOffline: boolean }[], acknowledged: 0 }
  log.listen({
    logEndOffsetMoved: () => {
      told.acknowledged = log.logEndOffset
    },
    flushedOffsetMoved: () => undefined,
    logStartOffsetMoved: () => undefined,
    appendsFailed: failure => told.failures.push(failure),
  })
  return told
}

describe('a disk without room', () => {
  test('refuses the append and those after it; producers and offsets are as before', () =>
    onHost({ config }, async host => {
      const log = await host.openLog()
      const told = listen(log)
      append(log, { count: 2, producerId: 5, producerEpoch: 0, baseSequence: 0 })
      await written(host, log)
      const before = log.inspect()
      host.node.disk.faults.freeBytes = 40
      append(log, { count: 3, producerId: 5, producerEpoch: 0, baseSequence: 2, leaderEpoch: 4 })
      append(log, { producerId: 6, producerEpoch: 0, baseSequence: 0 })
      await written(host, log)
      assert.deepEqual(told.failures, [{ fromOffset: 2, isOffline: false }])
      assert.deepEqual(log.inspect(), before)
      assert.equal(log.nextOffset, 2)
      const refused = tryAppend(log, batchOf())
      assert.ok(typeof refused === 'object' && refused.errorCode === ErrorCode.kafkaStorageError)
      assert.equal((await readAll(log)).length, 1, 'reads go on')
      assert.deepEqual(host.faults.events, ['full'])
    }))

  test('takes appends again when there is room, which it looks for each second', () =>
    onHost({ config }, async host => {
      const log = await host.openLog()
      append(log)
      await written(host, log)
      const { faults } = host.node.disk
      faults.freeBytes = 0
      append(log)
      await written(host, log)
      await host.world.sleep(5000)
      assert.equal(typeof tryAppend(log, batchOf()), 'object')
      faults.freeBytes = 2 ** 30
      await host.world.sleep(1100)
      assert.deepEqual(host.faults.events, ['full', 'writable'])
      assert.equal(append(log), 1)
      await written(host, log)
      const again = await host.reopen()
      assert.equal((await readAll(again)).length, 2)
      assert.deepEqual(host.faults.damage, [])
    }))

  test('cuts off what a short write has left', () =>
    onHost({ config }, async host => {
      const log = await host.openLog()
      append(log)
      await written(host, log)
      const { sizeBytes } = log
      host.node.disk.faults.freeBytes = 50
      append(log, { valueBytes: 500 })
      await written(host, log)
      const file = host.node.disk.files().find(({ path }) => path.endsWith('0.log'))
      assert.equal(file?.bytes.length, sizeBytes)
    }))

  test('when the leader epochs are saved has them saved with the next segment that ends', () =>
    onHost({ config }, async host => {
      const log = await host.openLog()
      const endSegment = async (leaderEpoch: number) => {
        log.assignLeaderEpoch(leaderEpoch)
        append(log, { leaderEpoch })
        log.roll()
        append(log, { leaderEpoch })
        await written(host, log)
        await host.world.sleep(2000)
      }
      await endSegment(0)
      host.node.disk.faults.failNext('write', 'noSpace', { pathEnd: 'leader-epoch-checkpoint.tmp' })
      await endSegment(1)
      assert.deepEqual(host.faults.events, ['full', 'writable'])
      await endSegment(1)
      assert.equal(log.recoveryPoint, 6, 'nobody looks for epochs in what lies below')
      await host.directories.directories[0].saveRecoveryPoints()
      const before = log.inspect().epochs
      assert.equal(before.length, 2)
      host.node.crash('kill')
      await host.open()
      assert.deepEqual(host.log().inspect().epochs, before)
    }))
})

describe('a disk that fails', () => {
  test('when the log start is saved goes offline, and the start stays', () =>
    onHost({ config }, async host => {
      const log = await host.openLog()
      append(log, { count: 5 })
      await written(host, log)
      log.moveHighWatermark(5)
      await log.flush()
      host.node.disk.faults.failNext('sync', 'io')
      await assert.rejects(log.moveLogStart(3), DiskError)
      assert.equal(log.logStartOffset, 0)
      assert.deepEqual([log.isOffline, host.faults.events], [true, ['failed']])
    }))

  for (const code of ['io', 'readOnly'] as const) {
    test(`(${code}) on an append goes offline until the next start`, () =>
      onHost({ config }, async host => {
        const log = await host.openLog()
        const told = listen(log)
        append(log)
        await written(host, log)
        host.node.disk.faults.failNext('append', code)
        append(log)
        await written(host, log)
        assert.deepEqual(told.failures, [{ fromOffset: 1, isOffline: true }])
        assert.equal(log.isOffline, true)
        const read = await log.read({ offset: 0, maxBytes: 1, minOneBatch: true, isolation: 'logEndOffset' })
        assert.deepEqual(read, { type: 'refused', errorCode: ErrorCode.kafkaStorageError })
        await host.world.sleep(60_000)
        assert.deepEqual(host.faults.events, ['failed'])
      }))
  }

  for (const how of ['read', 'search by time'] as const) {
    test(`(readOnly) goes offline at once, also where nothing is written: a ${how} opens the file that is appended to`, () =>
      onHost({ config }, async host => {
        const before = await host.openLog()
        for (let count = 0; count < 20; count++) append(before, { valueBytes: 1000 })
        await written(host, before)
        const log = await host.reopen()
        host.node.disk.faults.readOnlyPath = '/data'
        const offset = log.logEndOffset - 1
        if (how === 'read') {
          const read = await log.read({ offset, maxBytes: 1, minOneBatch: true, isolation: 'logEndOffset' })
          assert.deepEqual(read, { type: 'refused', errorCode: ErrorCode.kafkaStorageError })
        } else await log.findByTimestamp(10_000n)
        assert.deepEqual(host.faults.events, ['failed'])
        assert.equal(log.isOffline, true)
      }))
  }

  test('is what a stop says of it, not what its logs miss', () =>
    onHost({ config }, async host => {
      const log = await host.openLog()
      append(log)
      await written(host, log)
      host.node.disk.faults.failNext('append', 'readOnly')
      append(log)
      await written(host, log)
      const problems = await host.directories.close({ brokerEpoch: 1 })
      assert.deepEqual(problems, [`${log.directory.path} is offline`])
    }))

  test('on a sync goes offline, and claims nothing more', () =>
    onHost({ config }, async host => {
      const log = await host.openLog()
      append(log)
      await written(host, log)
      await log.flush()
      append(log)
      await written(host, log)
      host.node.disk.faults.failNext('sync', 'io')
      await assert.rejects(log.flush())
      assert.equal(log.flushedOffset, 1)
      await assert.rejects(log.flush(), 'later syncs prove nothing')
      assert.equal(log.flushedOffset, 1)
    }))

  test('claims nothing more of its other logs either, whose syncs were under way', async () => {
    let underWay = 0
    for (let seed = 0; seed < 20; seed++) {
      await onHost({ config, seed }, async host => {
        const log = await host.openLog()
        const other = host.log(1)
        for (const one of [log, other]) append(one)
        await Promise.all([written(host, log), written(host, other)])
        await Promise.all([log.flush(), other.flush()])
        for (const one of [log, other]) append(one)
        await Promise.all([written(host, log), written(host, other)])
        const { faults } = host.node.disk
        faults.failNext('sync', 'io', { pathEnd: '/topic-0/00000000000000000000.log' })
        let before: number | undefined
        host.faults.directoryFailed = () => {
          before = other.flushedOffset
        }
        await Promise.allSettled([log.flush(), other.flush()])
        assert.equal(other.flushedOffset, before, `seed ${seed}`)
        if (before === 1) underWay++
      })
    }
    assert.ok(underWay > 0 && underWay < 20, `${underWay} were under way`)
  })

  test('is never marked as cleanly shut down', () =>
    onHost({ config }, async host => {
      const log = await host.openLog()
      append(log)
      await written(host, log)
      host.node.disk.faults.failNext('sync', 'io', { pathEnd: '.log' })
      await host.close()
      assert.ok(!host.node.disk.files().some(({ path }) => path.endsWith('.kafka_cleanshutdown')))
    }))

  test('with one file does not fail the others for want of descriptors', () =>
    onHost({ config, limits: { maxOpenFiles: 100 } }, async host => {
      await host.open()
      host.node.disk.faults.maxOpenFiles = 6
      const logs = Array.from({ length: 20 }, (_, partition) => host.log(partition))
      for (const log of logs) {
        append(log)
        await written(host, log)
        await log.flush()
      }
      for (const log of logs) assert.equal((await readAll(log)).length, 1)
      assert.deepEqual(host.faults.events, [])
    }))
})

const operations: DiskOperation[] = [
  'open',
  'append',
  'sync',
  'syncDirectory',
  'rename',
  'write',
  'truncate',
  'remove',
  'read',
  'status',
]

describe('whatever operation fails', () => {
  for (const operation of operations) {
    for (const code of ['io', 'noSpace'] as const) {
      test(`(${operation}: ${code}) what was acknowledged is there after the next start, and no half of anything`, async () => {
        for (let occurrence = 0; occurrence < 12; occurrence++) await failOnce(operation, code, occurrence)
      })
    }
  }
})

async function failOnce(operation: DiskOperation, code: DiskErrorCode, occurrence: number): Promise<void> {
  const host = new Host({ seed: `${operation}-${code}-${occurrence}`, config: { ...config, retentionBytes: 12_000 } })
  await host.run(host.open())
  const log = host.log()
  const told = listen(log)
  await host.run(
    (async () => {
      for (let index = 0; index < 60; index++) {
        if (index === 10 + occurrence) host.node.disk.faults.failNext(operation, code)
        tryAppend(log, batchOf({ valueBytes: 100 + index }))
        if (index % 5 === 4) await written(host, log)
        if (log.highWatermark < log.logEndOffset && !log.isOffline) log.moveHighWatermark(log.logEndOffset)
        if (index % 20 === 19) await log.applyRetention(1_700_000_000_000)
        if (index % 25 === 24) await log.flush().catch(() => undefined)
        if (index === 40) await host.world.sleep(1500)
      }
      await written(host, log)
      if (occurrence % 2 === 0) await host.directories.close({ brokerEpoch: 1 })
    })(),
  )
  const startOffset = log.logStartOffset
  host.node.crash('kill')
  host.node.disk.faults.freeBytes = 2 ** 40
  host.node.disk.faults.decide(operation, '', host.node.disk.random) // what was ordered and has not happened
  await host.run(host.open())
  const again = host.log()
  assert.ok(
    again.logEndOffset >= told.acknowledged,
    `${operation} ${occurrence}: ${again.logEndOffset} < ${told.acknowledged}`,
  )
  assert.ok(again.logStartOffset <= startOffset)
  const batches = await host.run(readAll(again))
  assert.equal(batches.length, again.logEndOffset - again.logStartOffset)
  assert.deepEqual(host.faults.damage, [], `${operation} ${occurrence}`)
}
