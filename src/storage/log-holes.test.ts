import assert from 'node:assert/strict'
import { test } from 'node:test'
import { segmentFileName } from '../core/log/file-names.ts'
import { readBaseOffset } from '../records/batch.ts'
import { compacted, dirty, put, roll } from './compaction/compaction-fixture.test.ts'
import { type Problem, verify } from './dump/verify.ts'
import { append, batchOf, type Host, onHost, readAll, written } from './fixture.test.ts'
import type { SegmentedLog } from './segmented-log.ts'

const config = { isCompacted: false, isDeleted: true, segmentBytes: 400, indexIntervalBytes: 200, retentionMs: -1 }
const kinds = ['log', 'index', 'timeindex', 'txnindex', 'snapshot'] as const

async function filled(host: Host): Promise<SegmentedLog> {
  const log = await host.openLog()
  for (let index = 0; index < 30; index++) append(log, { timestamp: 1000 + index })
  await written(host, log)
  log.moveHighWatermark(log.logEndOffset)
  await log.flush()
  while (log.recoveryPoint < log.logEndOffset) await host.io.clock.yieldTurn()
  for (const directory of host.directories.directories) await directory.saveCheckpoints()
  return log
}

/** Between two lives of the broker. */
async function atRest(host: Host, change: () => Promise<void>): Promise<void> {
  host.io = host.node.start()
  await change()
  host.node.crash('kill')
}

async function lose(host: Host, log: SegmentedLog, baseOffset: number): Promise<void> {
  for (const kind of kinds) await host.io.disk.remove(`${log.path}/${segmentFileName(baseOffset, kind)}`)
}

async function told(host: Host): Promise<string[]> {
  await host.open({ bootId: 'boot' })
  await host.world.sleep(1000)
  return host.faults.damage.map(({ path, offset, reason }) => `${path} ${offset}: ${reason}`)
}

async function verified(host: Host): Promise<string[]> {
  const found: Problem[] = []
  await verify(host.io.disk, '/data', problem => found.push(problem))
  return found.map(({ path, problem }) => `${path}: ${problem}`)
}

for (const ending of ['clean', 'kill'] as const) {
  test(`segments that are lost with all their files are told, and reads go on behind them, after ${ending}`, () =>
    onHost({ config }, async host => {
      const log = await filled(host)
      const { segments } = log.inspect()
      assert.ok(segments.length > 6)
      const [, one, , two, three, behind] = segments
      const offsets = (await readAll(log)).map(batch => readBaseOffset(batch, 0))
      if (ending === 'clean') await host.close()
      else host.node.crash('kill')
      let problems: string[] = []
      await atRest(host, async () => {
        for (const { baseOffset } of [one, two, three]) await lose(host, log, baseOffset)
        problems = await verified(host)
      })
      const lines = await told(host)
      const pathOf = (offset: number) => `/data/topic-0/${segmentFileName(offset, 'log')}`
      const lost = (from: number, to: number) =>
        `offsets ${from} to ${to - 1} are in no segment: a file is lost, unless the log was compacted before it came here`
      const holes = [
        [one.baseOffset, one.nextOffset],
        [two.baseOffset, behind.baseOffset],
      ] as const
      assert.deepEqual(
        lines,
        holes.map(([from, to]) => `${pathOf(from)} ${from}: ${lost(from, to)}`),
      )
      for (const [from, to] of holes) assert.ok(problems.includes(`${pathOf(from)}: ${lost(from, to)}`))
      const isThere = (offset: number) => holes.every(([from, to]) => offset < from || offset >= to)
      const again = host.log()
      assert.deepEqual(
        (await readAll(again)).map(batch => readBaseOffset(batch, 0)),
        offsets.filter(isThere),
      )
    }))
}

test('an end of a segment that is lost is told before anybody reads it, though the topic is compacted', () =>
  onHost({ config: { ...config, isCompacted: true, isDeleted: false } }, async host => {
    const log = await filled(host)
    const [, segment] = log.inspect().segments
    await host.close()
    const path = `${log.path}/${segmentFileName(segment.baseOffset, 'log')}`
    await atRest(host, async () => {
      const bytes = host.io.disk.readSmallFile(path, 1e6) as Buffer
      host.io.disk.writeSmallFile(path, bytes.subarray(0, bytes.readInt32BE(8) + 12))
    })
    assert.deepEqual(await told(host), [`${path} ${segment.baseOffset + 1}: the file ends before this offset`])
  }))

test('a segment whose indexes are left is told once', () =>
  onHost({ config }, async host => {
    const log = await filled(host)
    const [, segment] = log.inspect().segments
    await host.close()
    const path = `${log.path}/${segmentFileName(segment.baseOffset, 'log')}`
    await atRest(host, () => host.io.disk.remove(path))
    assert.deepEqual(await told(host), [`${path} ${segment.baseOffset}: the segment is missing`])
  }))

test('what compaction has left out is no loss, also after the topic is compacted no more', () =>
  onHost({ config: { ...config, isCompacted: true, isDeleted: false } }, async host => {
    const log = await host.openLog()
    await dirty(host, log, 30)
    await compacted(host, log)
    await host.close()
    for (const isCompacted of [true, false]) {
      host.config = { ...host.config, isCompacted, isDeleted: !isCompacted }
      assert.deepEqual(await told(host), [])
      const ends = host.log().inspect().segments
      assert.ok(ends.length > 1)
      await host.close()
    }
    await atRest(host, async () => assert.deepEqual(await verified(host), []))
  }))

test('a compacted segment that is gone while those it replaced wait to be removed is told once', () =>
  onHost({ config: { ...config, isCompacted: true, isDeleted: false } }, async host => {
    const log = await host.openLog()
    for (let index = 0; index < 60; index++) put(log, [[`key-${index % 50}`, String(index)]])
    await roll(host, log)
    await compacted(host, log)
    const [, segment] = log.inspect().segments
    const path = `${log.path}/${segmentFileName(segment.baseOffset, 'log')}`
    await host.close()
    assert.ok(host.node.disk.files().some(file => `/${file.path}` === `${path}.deleted`))
    await atRest(host, async () => {
      await host.io.disk.remove(path)
      assert.deepEqual(await verified(host), [`${path}: the segment is missing`])
    })
    for (const events of [[`lost ${path}`], []]) {
      await host.open()
      assert.deepEqual(host.faults.events, events)
      assert.deepEqual(host.faults.damage, [])
      await host.close()
    }
  }))

test('what lies below the log start is not missed', () =>
  onHost({ config }, async host => {
    const log = await filled(host)
    const [, lost, kept] = log.inspect().segments
    await log.moveLogStart(kept.baseOffset)
    await host.close()
    await atRest(host, () => lose(host, log, lost.baseOffset))
    assert.deepEqual(await told(host), [])
  }))

test('the search reads little of each segment, and keeps none open', () =>
  onHost({ config: { ...config, segmentBytes: 100_000, indexIntervalBytes: 4096 } }, async host => {
    const log = await host.openLog()
    for (let index = 0; index < 400; index++) append(log, { valueBytes: 1000, timestamp: 1000 + index })
    await written(host, log)
    log.moveHighWatermark(log.logEndOffset)
    await host.close()
    let reads = 0
    const { faults } = host.node.disk
    const decide = faults.decide
    faults.decide = (kind, path, random) => {
      if (kind === 'read' && path.endsWith('.log')) reads++
      return decide.call(faults, kind, path, random)
    }
    await host.open({ bootId: 'boot' })
    const before = host.context.openFiles.size
    await host.world.sleep(1000)
    faults.decide = decide
    const { segments } = host.log().inspect()
    assert.ok(segments.length >= 4 && reads > 0 && reads <= segments.length * 4, `${reads} reads`)
    assert.equal(host.context.openFiles.size, before)
  }))

test('a log that is being cut within a gap has lost nothing', async () => {
  for (let waitMs = 0; waitMs < 12; waitMs += 0.1) {
    await onHost({ seed: waitMs }, async host => {
      const first = await host.openLog()
      for (const baseOffset of [0, 16])
        assert.equal(first.appendAsFollower(batchOf({ baseOffset, count: 3, partitionLeaderEpoch: 1 })), undefined)
      await written(host, first)
      const log = await host.reopen()
      await host.world.sleep(waitMs)
      await log.truncate({ endOffset: 10 })
      await log.findHoles()
      await host.world.sleep(100)
      assert.deepEqual(host.faults.damage, [], `after ${waitMs} ms`)
      const looked = log.findHoles()
      await log.truncate({ endOffset: 5 })
      await looked
      assert.deepEqual(host.faults.damage, [], `after ${waitMs} ms`)
    })
  }
})
