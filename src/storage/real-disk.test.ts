import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { test } from 'node:test'
import { defaultLogConfig } from '../core/log/default-log-config.ts'
import { nodeIo } from '../io/node/node-io.ts'
import { type ClaimedDirectory, claimDirectory, formatDirectory } from './directory-claim.ts'
import { type Problem, verify } from './dump/verify.ts'
import { append, bytesOf, FaultLog, readAll, topicId } from './fixture.test.ts'
import { LogDirectories } from './log-directories.ts'
import type { SegmentedLog } from './segmented-log.ts'
import { createStorage } from './storage.ts'

const config = {
  ...defaultLogConfig,
  segmentBytes: 20_000,
  indexIntervalBytes: 1000,
  fileDeleteDelayMs: 0,
  retentionMs: -1,
}

async function openOn(path: string) {
  const io = nodeIo({ log: { write: () => undefined } })
  const faults = new FaultLog()
  const context = createStorage({ io, faults })
  if (io.disk.status(path)?.isDirectory !== true || io.disk.list(path).length === 0) {
    await formatDirectory(context, path, { clusterId: 'c', nodeId: 1, directoryId: topicId })
  }
  const claim = (await claimDirectory(context, path)) as ClaimedDirectory
  assert.equal(claim.type, 'claimed')
  const options = { directories: [claim], configOf: () => config, isStray: () => false }
  const directories = await LogDirectories.open(context, options)
  const log = (partition: number) => {
    const created = directories.create({ topic: 'topic', topicId, partition, config })
    assert.equal(created.type, 'created')
    return (created as { log: SegmentedLog }).log
  }
  const settle = async (one: SegmentedLog) => {
    while (one.logEndOffset < one.nextOffset) await io.clock.yieldTurn()
  }
  return { io, context, faults, directories, claim, log, settle }
}

test('on a real disk: appends, large and small, cuts, retention, deletion, and all again after a restart', async () => {
  const path = mkdtempSync(`${tmpdir()}/storage-`)
  try {
    const first = await openOn(path)
    const [log, other] = [first.log(0), first.log(1)]
    for (let index = 0; index < 300; index++) {
      append(log, { count: 1 + (index % 5), valueBytes: index % 50 === 0 ? 90_000 : 50, codec: index % 5 })
      append(other)
      if (index % 20 === 0) await first.settle(log)
      if (index % 97 === 0) await log.flush()
    }
    await first.settle(log)
    await first.settle(other)
    log.moveHighWatermark(log.logEndOffset)
    const batches = await readAll(log, 'logEndOffset', 300_000)
    assert.equal(batches.length, 300)
    await log.truncate({ endOffset: log.logEndOffset - 7 })
    first.directories.delete(other)
    const kept = await readAll(log, 'highWatermark', 100_000)
    await first.directories.close({ brokerEpoch: 3 })

    const second = await openOn(path)
    assert.deepEqual(second.claim.cleanShutdown, { brokerEpoch: 3 })
    const again = second.log(0)
    assert.deepEqual(await readAll(again, 'logEndOffset', 100_000), kept)
    again.configure({ ...config, retentionBytes: 50_000 })
    await again.applyRetention(0)
    assert.ok(again.logStartOffset > 0)
    const read = await again.read({
      offset: again.logStartOffset,
      maxBytes: 1,
      minOneBatch: true,
      isolation: 'logEndOffset',
    })
    assert.ok((await bytesOf(read)).length > 0)
    await second.directories.close({ brokerEpoch: 4 })
    assert.deepEqual([...first.faults.events, ...second.faults.events], [])
    const problems: Problem[] = []
    const verified = await verify(second.io.disk, path, problem => problems.push(problem))
    assert.equal(verified.type, 'verified')
    assert.deepEqual(problems, [])
  } finally {
    rmSync(path, { recursive: true, force: true })
  }
})

test('on a real disk: a directory is used by one broker at a time', async () => {
  const path = mkdtempSync(`${tmpdir()}/storage-`)
  try {
    const first = await openOn(path)
    const second = createStorage({ io: nodeIo({ log: { write: () => undefined } }), faults: new FaultLog() })
    assert.equal((await claimDirectory(second, path)).type, 'inUse')
    await first.directories.close({ brokerEpoch: 1 })
    const third = await openOn(path)
    await third.directories.close({ brokerEpoch: 1 })
  } finally {
    rmSync(path, { recursive: true, force: true })
  }
})
