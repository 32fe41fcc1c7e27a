import assert from 'node:assert/strict'
import { test } from 'node:test'
import { segmentFileName } from '../core/log/file-names.ts'
import { compacted, put, roll } from './compaction/compaction-fixture.test.ts'
import { append, onHost, written } from './fixture.test.ts'
import type { SegmentedLog } from './segmented-log.ts'

/** From a cursor on to the end of the log. */
async function scrubOn(log: SegmentedLog, from: Awaited<ReturnType<typeof log.scrub>>['next']): Promise<void> {
  for (let cursor = from; cursor !== undefined; ) cursor = (await log.scrub(cursor, 500)).next
}

test('a scrub that stands in a segment when this is compacted takes nothing of the new one for damage', () =>
  onHost({ config: { isCompacted: true, isDeleted: false } }, async host => {
    const log = await host.openLog()
    for (let index = 0; index < 40; index++) put(log, [[index % 3 === 0 ? `key-${index}` : 'key', `value ${index}`]])
    await roll(host, log)
    for (let index = 0; index < 10; index++) put(log, [['key', `${index}`]])
    await roll(host, log)
    const { next } = await log.scrub(undefined, 500)
    await compacted(host, log)
    await scrubOn(log, next)
    assert.deepEqual(host.faults.damage, [])
  }))

test('a scrub that stands behind where the log is cut takes nothing that is appended there for damage', () =>
  onHost({}, async host => {
    const log = await host.openLog()
    for (let index = 0; index < 20; index++) append(log)
    await written(host, log)
    const { next } = await log.scrub(undefined, 1000)
    await log.truncate({ endOffset: 3 })
    for (let index = 0; index < 20; index++) append(log, { valueBytes: 35 })
    await written(host, log)
    await scrubOn(log, next)
    assert.deepEqual(host.faults.damage, [])
  }))

test('a scrub goes on with the next segment where no batch follows damage in one', () =>
  onHost({ config: { segmentBytes: 400 } }, async host => {
    const log = await host.openLog()
    for (let index = 0; index < 30; index++) append(log)
    await written(host, log)
    const [first, second, third] = log.inspect().segments
    assert.ok(first !== undefined && second !== undefined && third !== undefined)
    const pathOf = (offset: number) => `${log.path}/${segmentFileName(offset, 'log')}`
    for (const { baseOffset, sizeBytes } of [first, second])
      assert.ok(host.node.disk.flip(pathOf(baseOffset), sizeBytes - 3, 1))
    await scrubOn(log, (await log.scrub(undefined, 500)).next)
    assert.deepEqual(
      host.faults.damage.map(({ path }) => path),
      [pathOf(first.baseOffset), pathOf(second.baseOffset)],
    )
  }))
