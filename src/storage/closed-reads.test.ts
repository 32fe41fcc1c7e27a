import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FileRange } from '../io/disk.ts'
import { append, type Host, onHost, written } from './fixture.test.ts'
import type { ReadResult } from './log-reader.ts'
import type { SegmentedLog } from './segmented-log.ts'

/** A log of some segments that nobody has read since it was opened. */
async function unread(host: Host): Promise<SegmentedLog> {
  const log = await host.openLog()
  for (let count = 0; count < 4; count++) {
    append(log, { valueBytes: 1000, timestamp: 1000 + count })
    await written(host, log)
    log.roll()
  }
  append(log)
  await written(host, log)
  return await host.reopen()
}

function release(answer: ReadResult): void {
  if (answer.type !== 'read') return
  for (const part of answer.parts) if (!Buffer.isBuffer(part)) (part as FileRange).file.release()
}

for (const end of ['is deleted', 'is closed'] as const) {
  test(`a log that ${end} while it is read leaves no file open`, async () => {
    for (let waitMs = 0; waitMs < 6; waitMs += 0.05) {
      await onHost({ seed: waitMs }, async host => {
        const log = await unread(host)
        const under = [0, 2, 3].map(async offset =>
          release(await log.read({ offset, maxBytes: 5000, minOneBatch: true, isolation: 'logEndOffset' })),
        )
        const others = [log.findByTimestamp(1003n), log.findMaxTimestamp(), log.scrub(undefined, 10_000)]
        const flushed = log.flush().catch(() => undefined)
        await host.world.sleep(waitMs)
        if (end === 'is deleted') host.directories.delete(log)
        else await log.close()
        await Promise.allSettled([...under, ...others, flushed])
        assert.equal(host.context.openFiles.size, 0, `after ${waitMs} ms`)
        assert.equal(host.context.indexCache.sizeBytes, 0)
        assert.deepEqual(host.faults.events, [], `after ${waitMs} ms`)
      })
    }
  })
}

test('a log that could not be closed in good order leaves no file open', () =>
  onHost({}, async host => {
    const log = await unread(host)
    append(log)
    await written(host, log)
    host.node.disk.faults.failNext('write', 'noSpace', { pathEnd: '.index' })
    await assert.rejects(log.close(), /noSpace/)
    assert.equal(host.context.openFiles.size, 0)
  }))
