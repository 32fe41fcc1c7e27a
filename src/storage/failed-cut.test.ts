import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DiskError } from '../io/disk.ts'
import { compact } from './compaction/compaction-fixture.test.ts'
import { append, type Host, onHost, readAll, written } from './fixture.test.ts'
import type { SegmentedLog } from './segmented-log.ts'

const config = { segmentBytes: 200, retentionMs: 1, isCompacted: true, isDeleted: true }

const changes: readonly [string, (log: SegmentedLog, host: Host) => Promise<unknown>][] = [
  ['cut', log => log.truncate({ endOffset: 3 })],
  ['emptied', log => log.truncateFullyAndStartAt(20)],
  ['left by retention', log => log.applyRetention(1e12)],
  ['compacted', compactToOneSegment],
]

function compactToOneSegment(log: SegmentedLog, host: Host): Promise<unknown> {
  log.configure({ ...log.config, segmentBytes: 2000 })
  return compact(host, log)
}

/** The n-th operation from now on fails; answers whether there was one. */
function failOperation(host: Host, number: number): () => boolean {
  const { faults } = host.node.disk
  const decide = faults.decide
  let count = 0
  faults.decide = (operation, path, random) => {
    if (++count !== number) return decide.call(faults, operation, path, random)
    return new DiskError('io', operation, path)
  }
  return () => {
    faults.decide = decide
    return count >= number
  }
}

for (const [what, change] of changes) {
  test(`a log that fails while it is ${what} leaves no file open when it is closed`, async () => {
    for (let number = 1, isOver = false; !isOver; number++) {
      await onHost({ seed: number, config }, async host => {
        const log = await host.openLog()
        for (let count = 0; count < 7; count++) append(log)
        await written(host, log)
        log.moveHighWatermark(log.logEndOffset)
        await readAll(log)
        const end = failOperation(host, number)
        await change(log, host).catch(() => undefined)
        await host.world.sleep(100)
        isOver = !end()
        if (host.faults.events.includes('failed')) {
          await host.directories.close({ brokerEpoch: 1 })
          assert.equal(host.context.openFiles.size, 0, `operation ${number}`)
        }
      })
    }
  })
}
