import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readBaseOffset } from '../records/batch.ts'
import { append, bytesOf, onHost, written } from './fixture.test.ts'

test('what is known of a segment that is checked in part does not mislead readers of the next', () =>
  onHost({ config: { segmentBytes: 1000 } }, async host => {
    let log = await host.openLog()
    for (let i = 0; i < 20; i++) append(log, { valueBytes: 100 })
    await written(host, log)
    log.moveHighWatermark(log.logEndOffset)
    log = await host.reopen()
    const second = await bytesOf(log.read({ offset: 8, maxBytes: 1, minOneBatch: true, isolation: 'highWatermark' }))
    const secondBase = readBaseOffset(second, 0)
    // One batch is checked; the next read ends with it, though the segment goes on.
    for (const maxBytes of [1, 100_000]) {
      await bytesOf(log.read({ offset: 0, maxBytes, minOneBatch: true, isolation: 'highWatermark' }))
    }
    assert.equal(secondBase, 8)
    for (let offset = 1; offset < log.logEndOffset; offset++) {
      const bytes = await bytesOf(log.read({ offset, maxBytes: 1, minOneBatch: true, isolation: 'highWatermark' }))
      assert.equal(readBaseOffset(bytes, 0), offset)
    }
  }))

test('what a first read answers keeps no more in memory than it is', () =>
  onHost({}, async host => {
    let log = await host.openLog()
    for (let i = 0; i < 60; i++) append(log, { valueBytes: 5000 })
    await written(host, log)
    log.moveHighWatermark(log.logEndOffset)
    log = await host.reopen()
    const memoryOf = async (offset: number, maxBytes: number) => {
      const read = await log.read({ offset, maxBytes, minOneBatch: true, isolation: 'highWatermark' })
      assert.ok(read.type === 'read' && Buffer.isBuffer(read.parts[0]))
      return { answered: read.byteLength, memory: read.parts[0].buffer.byteLength }
    }
    const one = await memoryOf(0, 1)
    assert.ok(one.answered > 5000 && one.memory < 100_000, JSON.stringify(one))
    const more = await memoryOf(1, 200_000)
    assert.ok(more.answered > 100_000 && more.memory < 3 * more.answered, JSON.stringify(more))
  }))
