import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Compute } from '../../io/compute.ts'
import { type FilterBatchesJob, type IndexKeysJob, unpacksTooFar } from '../../records/compaction/contract.ts'
import { Codec } from '../../records/compression/codec.ts'
import { append, type Host, onHost, written } from '../fixture.test.ts'
import type { SegmentedLog } from '../segmented-log.ts'
import {
  compact,
  compacted,
  compactorOf,
  defaultSettings,
  dirty,
  pairsOf,
  put,
  roll,
} from './compaction-fixture.test.ts'

const config = { isCompacted: true, isDeleted: false, minCleanableDirtyRatio: 0.1, fileDeleteDelayMs: 10 }
const firstLog = '/topic-0/00000000000000000000.log'
const roomBytes = 2 ** 40

/** Two logs with something to compact, of a process that has just begun: no file is open. */
async function twoLogs(host: Host): Promise<SegmentedLog[]> {
  await host.open()
  for (const partition of [0, 1]) await dirty(host, host.log(partition))
  await host.close()
  await host.open()
  const logs = [0, 1].map(partition => host.log(partition))
  for (const log of logs) log.moveHighWatermark(log.logEndOffset)
  // What is looked for behind the start is over.
  await host.world.sleep(100)
  return logs
}

async function counts(logs: readonly SegmentedLog[]): Promise<number[]> {
  return await Promise.all(logs.map(async log => (await pairsOf(log)).length))
}

/** The real one, with something done before each job, or in place of it. */
function computeWith(
  { io }: Host,
  before: { indexKeys?: (job: IndexKeysJob) => undefined | Gone; filterBatches?: (job: FilterBatchesJob) => void },
): Compute {
  return {
    run: job => io.compute.run(job),
    indexKeys: async job => before.indexKeys?.(job) ?? (await io.compute.indexKeys(job)),
    filterBatches: job => {
      before.filterBatches?.(job)
      return io.compute.filterBatches(job)
    },
  }
}

interface Gone {
  readonly type: 'failed'
  readonly reason: string
}

const gone: Gone = { type: 'failed', reason: 'the thread ended with code 3' }

for (const code of ['notFound', 'notPermitted', 'io'] as const) {
  test(`a segment that cannot be opened (${code}) is told by name; its log is left alone, its directory goes on`, () =>
    onHost({ config }, async host => {
      const logs = await twoLogs(host)
      host.node.disk.faults.failNext('open', code, { pathEnd: firstLog, times: 1000 })
      const { compactor, told } = compactorOf(host)
      compactor.start()
      await host.world.sleep(5000)
      host.node.disk.faults.forgetOrdered()
      assert.deepEqual(
        told.lines.map(line => line.split(': ')[0]),
        [`0 /data${firstLog} at 0`],
      )
      assert.deepEqual(told.obstacles, ['disk'])
      assert.deepEqual(
        logs.map(log => log.compaction.isUncleanable),
        [true, false],
      )
      assert.deepEqual(await counts(logs), [20, 4])
      assert.deepEqual(host.faults.events, [])
      await compactor.close()
    }))
}

test('a file system that has become read-only makes no log uncleanable: its directory is offline', () =>
  onHost({ config: { ...config, minCompactionLagMs: 1 } }, async host => {
    await host.open()
    put(host.log(), [['key', 'value']])
    await written(host, host.log())
    const log = await host.reopen()
    host.node.disk.faults.readOnlyPath = '/data'
    const { compactor, told } = compactorOf(host)
    compactor.start()
    await host.world.sleep(5000)
    assert.deepEqual([told.lines, host.faults.events], [[], ['failed']])
    assert.equal(log.compaction.isUncleanable, false)
    await compactor.close()
  }))

test('a log that cannot be compacted is not tried again because an append to it fails', () =>
  onHost({ config }, async host => {
    const [log] = await twoLogs(host)
    host.node.disk.faults.failNext('open', 'io', { pathEnd: firstLog, times: 1000 })
    const { compactor } = compactorOf(host)
    compactor.start()
    await host.world.sleep(5000)
    assert.equal(log.compaction.isUncleanable, true)
    host.node.disk.faults.failNext('append', 'noSpace', { pathEnd: '.log' })
    const { nextOffset } = log
    append(log)
    await written(host, log)
    assert.equal(log.nextOffset, nextOffset)
    assert.equal(log.compaction.isUncleanable, true)
    await compactor.close()
  }))

test('an index that cannot be read when logs are looked at is told, and made anew: its log is compacted', () =>
  onHost({ config: { ...config, minCompactionLagMs: 1 } }, async host => {
    const logs = await twoLogs(host)
    host.node.disk.faults.failNext('open', 'notPermitted', {
      pathEnd: '/topic-0/00000000000000000000.timeindex',
      times: 9,
    })
    const { compactor, told } = compactorOf(host)
    compactor.start()
    await host.world.sleep(5000)
    assert.deepEqual(told.lines, [])
    assert.deepEqual(await counts(logs), [4, 4])
    assert.deepEqual(host.faults.events, ['readFailed'])
    await compactor.close()
  }))

for (const [what, pathEnd] of [
  ['of the log', firstLog],
  ['that the pass makes', `${firstLog}.cleaned`],
]) {
  test(`too many open files: a file ${what} is tried again, told once, and no directory is full`, () =>
    onHost({ config }, async host => {
      const logs = await twoLogs(host)
      host.node.disk.faults.failNext('open', 'tooManyOpenFiles', { pathEnd, times: 6 })
      const { compactor, told } = compactorOf(host)
      compactor.start()
      await host.world.sleep(20_000)
      assert.equal(told.lines.length, 1, told.lines.join('\n'))
      assert.match(told.lines[0], /^0 is delayed: open .*tooManyOpenFiles/)
      assert.deepEqual(await counts(logs), [4, 4])
      assert.deepEqual(host.faults.events, [])
      await compactor.close()
    }))
}

for (const operation of ['open', 'append', 'sync'] as const) {
  test(`an I/O error of a new segment (${operation}) takes the directory offline`, () =>
    onHost({ config }, async host => {
      await twoLogs(host)
      host.node.disk.faults.failNext(operation, 'io', { pathEnd: `${firstLog}.cleaned` })
      const { compactor, told } = compactorOf(host)
      compactor.start()
      await host.world.sleep(1000)
      assert.deepEqual(host.faults.events, ['failed'])
      assert.deepEqual(told.lines, [])
      await compactor.close()
    }))
}

test('where there is no room nothing is read in vain, and it is told once until there is', () =>
  onHost({ config }, async host => {
    const logs = await twoLogs(host)
    const { faults } = host.node.disk
    faults.freeBytes = 1_000_000
    let jobs = 0
    const compute = computeWith(host, { indexKeys: () => void jobs++ })
    const { compactor, told } = compactorOf(host, () => defaultSettings, compute)
    compactor.start()
    await host.world.sleep(10_000)
    assert.equal(jobs, 0)
    assert.deepEqual(told.lines.toSorted(), ['0 has no room', '1 has no room'])
    // At looks that pass over the logs, too.
    for (let looks = 0; looks < 10; looks++) {
      assert.equal(compactor.figures.maxDirtyRatio, 1)
      await host.world.sleep(150)
    }
    faults.freeBytes = roomBytes
    await host.world.sleep(3000)
    assert.deepEqual(await counts(logs), [4, 4])
    assert.equal(compactor.figures.maxDirtyRatio, 0)
    faults.freeBytes = 1_000_000
    await dirty(host, logs[0])
    await host.world.sleep(1000)
    assert.deepEqual(told.lines.slice(2), ['0 has no room'])
    await compactor.close()
  }))

test('room that is gone when keys are indexed costs that work ever more rarely', () =>
  onHost({ config }, async host => {
    const logs = await twoLogs(host)
    const { faults } = host.node.disk
    let indexed = 0
    // A quota: the disk has room, but not for us.
    const decide = faults.decide.bind(faults)
    let isOver = true
    faults.decide = (operation, path, random) => {
      if (isOver && operation === 'append' && path.endsWith('.cleaned')) faults.failNext('append', 'noSpace')
      return decide(operation, path, random)
    }
    const compute = computeWith(host, { indexKeys: () => void indexed++ })
    const { compactor, told } = compactorOf(host, () => defaultSettings, compute)
    compactor.start()
    await host.world.sleep(60_000)
    assert.ok(indexed > 20 && indexed < 100, `${indexed} jobs in 600 backoffs`)
    assert.equal(told.lines.length, 2, told.lines.join('\n'))
    assert.deepEqual(host.faults.events, [])
    isOver = false
    await host.world.sleep(3000)
    assert.deepEqual(await counts(logs), [4, 4])
    await compactor.close()
  }))

test('a thread that has ended is replaced and the log tried again; how often is counted anew after a pass', () =>
  onHost({ config }, async host => {
    const logs = await twoLogs(host)
    let ends = 4
    const compute = computeWith(host, { indexKeys: () => (ends-- > 0 ? gone : undefined) })
    const { compactor, told } = compactorOf(host, () => defaultSettings, compute)
    compactor.start()
    await host.world.sleep(3000)
    assert.ok(told.lines.includes(`0 is delayed: ${gone.reason}`), told.lines.join('\n'))
    assert.deepEqual(await counts(logs), [4, 4])
    ends = 2
    await dirty(host, logs[0])
    await host.world.sleep(3000)
    assert.equal(logs[0].compaction.isUncleanable, false)
    assert.deepEqual(await counts(logs), [4, 4])
    await compactor.close()
  }))

test('a log on which jobs fail again and again is left alone for an hour, and the others are compacted', () =>
  onHost({ config }, async host => {
    const logs = await twoLogs(host)
    let ends = 0
    const compute = computeWith(host, {
      indexKeys: job => {
        const isFirst = job.batches.includes('poison')
        if (isFirst) ends++
        return isFirst ? gone : undefined
      },
    })
    put(logs[0], [['poison', 'x']])
    await roll(host, logs[0])
    const { compactor, told } = compactorOf(host, () => defaultSettings, compute)
    compactor.start()
    await host.world.sleep(20_000)
    assert.equal(ends, 3)
    assert.deepEqual(
      logs.map(log => log.compaction.isUncleanable),
      [true, false],
    )
    assert.equal(told.lines.length, 2, told.lines.join('\n'))
    assert.match(
      told.lines[1],
      /^0 \/data\/topic-0\/0{18}\d\d\.log at 0: the thread ended with code 3, again after 3600000 ms$/,
    )
    assert.equal((await counts(logs))[1], 4)
    await host.world.sleep(3_600_000)
    assert.deepEqual([ends, told.lines.length, logs[0].compaction.isUncleanable], [4, 3, true])
    assert.deepEqual(told.obstacles, ['failedJobs', 'failedJobs'])
    await compactor.close()
  }))

test('a batch that is larger than the settings allow is no damage', () =>
  onHost({ config: { ...config, maxMessageBytes: 1000 } }, async host => {
    const [log] = await twoLogs(host)
    const obstacleFor = async (maxUncompressedBytes: number) => {
      const result = await compact(host, log, { maxUncompressedBytes, ioBufferBytes: 4096 })
      assert.ok(result.type === 'uncleanable', JSON.stringify(result))
      return [result.obstacle.type, result.reason]
    }
    put(log, [['packed', 'x'.repeat(900)]], 1000, { codec: Codec.gzip })
    await roll(host, log)
    assert.deepEqual(await obstacleFor(800), ['largeBatch', unpacksTooFar])
    // As where the limit was lowered since.
    log.configure({ ...log.config, maxMessageBytes: 10_000 })
    put(log, [['large', 'x'.repeat(9000)]])
    await roll(host, log)
    log.configure({ ...log.config, maxMessageBytes: 1000 })
    const [type, reason] = await obstacleFor(1000)
    assert.equal(type, 'largeBatch')
    assert.match(reason, /^it has 9\d\d\d bytes$/)
  }))

test('a pass without memory for its keys is tried again', () =>
  onHost({ config }, async host => {
    const [log] = await twoLogs(host)
    const result = await compact(host, log, { mapBytes: 2 ** 60 })
    assert.ok(result.type === 'delayed' && /no memory for the keys/.test(result.reason), JSON.stringify(result))
    assert.equal(log.isOffline, false)
    await compacted(host, log)
  }))

test('an uncleanable log is tried again when its settings change', () =>
  onHost({ config }, async host => {
    const logs = await twoLogs(host)
    host.node.disk.faults.failNext('open', 'notPermitted', { pathEnd: firstLog, times: 1000 })
    const { compactor, told } = compactorOf(host)
    compactor.start()
    await host.world.sleep(5000)
    assert.deepEqual([told.lines.length, logs[0].compaction.isUncleanable], [1, true])
    host.node.disk.faults.forgetOrdered()
    logs[0].configure({ ...logs[0].config, retentionMs: 1 })
    await host.world.sleep(5000)
    assert.deepEqual(await counts(logs), [4, 4])
    await compactor.close()
  }))

test('a rate that is raised holds for who rests already', () =>
  onHost({ config }, async host => {
    const logs = await twoLogs(host)
    let settings = { ...defaultSettings, ioMaxBytesPerSecond: 1 }
    const { compactor } = compactorOf(host, () => settings)
    compactor.start()
    await host.world.sleep(1000)
    assert.ok(logs.some(log => log.compaction.isRunning))
    settings = { ...defaultSettings, ioMaxBytesPerSecond: 1_000_000 }
    compactor.reconfigured()
    await host.world.sleep(1000)
    assert.equal(compactor.figures.passes, 2)
    await compactor.close()
  }))

test('closing waits for the look at the logs that is under way', () =>
  onHost({ config: { ...config, minCompactionLagMs: 1 } }, async host => {
    await twoLogs(host)
    const { compactor } = compactorOf(host)
    const { disk } = host.node
    compactor.start()
    disk.faults.stalledUntilUs = (host.world.nowMs + 2000) * 1000
    await host.world.sleep(500)
    let isClosed = false
    const closing = compactor.close().then(() => {
      isClosed = true
    })
    await host.world.sleep(500)
    assert.equal(isClosed, false)
    await closing
    const operations: string[] = []
    const decide = disk.faults.decide.bind(disk.faults)
    disk.faults.decide = (operation, path, random) => {
      // Checkpoints go on.
      if (/topic-|cleaner/.test(path)) operations.push(`${operation} ${path}`)
      return decide(operation, path, random)
    }
    await host.world.sleep(5000)
    assert.deepEqual(operations, [])
  }))
