import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DiskError, type DiskErrorCode } from '../io/disk.ts'
import { World } from '../simulator/io/world.ts'
import type { Obstacle } from '../storage/compaction/pass-end.ts'
import type { SegmentedLog } from '../storage/segmented-log.ts'
import { StorageFaultLog } from './storage-fault-log.ts'

test('what is told of a disk says what to do about that error', () => {
  const world = new World({ seed: 1 })
  const { clock, log } = world.addNode('broker').start()
  const faults = new StorageFaultLog(clock, log, { directoryWritable: () => {}, directoryFailed: () => {} })
  const said = (tell: () => void) => {
    tell()
    return world.log.lines.at(-1)!.message
  }
  const failed = (code: DiskErrorCode) =>
    said(() => faults.directoryFailed('/data', new DiskError(code, 'open', '/data/f')))
  assert.match(failed('io'), /Mend the disk, or restore the file from a copy, and restart/)
  assert.match(failed('notPermitted'), /Give the user of the broker .*\(chown, chmod\), and restart/)
  assert.match(failed('readOnly'), /Mount its file system for writing, and restart/)
  const read = (code: DiskErrorCode) => said(() => faults.readFailed('/data', new DiskError(code, 'read', '/data/a/f')))
  assert.match(read('io'), /^\/data\/a\/f cannot be read: .*Check the disk/)
  assert.match(read('notPermitted'), /chown, chmod/)
  const full = (code: DiskErrorCode) =>
    said(() => faults.directoryFull('/data', new DiskError(code, 'append', '/data/f')))
  assert.match(full('noSpace'), /no space left.*Free some/)
  assert.match(full('tooManyOpenFiles'), /cannot open more files.*\(ulimit -n\)/)
})

test('a file that cannot be read is told once a minute, however often clients ask for it', async () => {
  const world = new World({ seed: 1 })
  const { clock, log } = world.addNode('broker').start()
  const faults = new StorageFaultLog(clock, log, { directoryWritable: () => {}, directoryFailed: () => {} })
  const fail = (path: string) => faults.readFailed('/data', new DiskError('io', 'read', path))
  const count = () => world.log.lines.length
  for (let times = 0; times < 100; times++) fail('/data/a')
  assert.equal(count(), 1)
  fail('/data/b')
  assert.equal(count(), 2)
  await world.finish(world.sleep(61_000))
  fail('/data/a')
  assert.equal(count(), 3)
})

test('a log that is not compacted any more is told with what is in the way, and what to do about that', () => {
  const world = new World({ seed: 1 })
  const { clock, log } = world.addNode('broker').start()
  const faults = new StorageFaultLog(clock, log, { directoryWritable: () => {}, directoryFailed: () => {} })
  const path = '/data/t-0/0.log'
  const said = (obstacle: Obstacle, reason: string, retryAfterMs?: number) => {
    const of = { topic: 't', partition: 0 } as SegmentedLog
    faults.uncleanable(of, { obstacle, path, position: 7, reason, ...(retryAfterMs && { retryAfterMs }) })
    const { message } = world.log.lines.at(-1)!
    assert.match(message, /^t-0 is not compacted any more: .*\bit is tried again .*when a setting of the topic changes/)
    return message
  }
  const failed = (code: DiskErrorCode) => said({ type: 'disk', error: new DiskError(code, 'open', path) }, code)
  assert.match(failed('notPermitted'), /0\.log cannot be read: notPermitted\. Give the user of the broker .*chown/)
  assert.match(failed('io'), /0\.log cannot be read: io\. Mend the disk, or restore/)
  assert.match(said({ type: 'damage' }, 'bad CRC'), /0\.log is damaged at byte 7: bad CRC\. Restore .* log verify/)
  assert.match(said({ type: 'largeBatch' }, 'r'), /batch at byte 7 of .* too large: r\. Raise millrace\.max\.uncomp/)
  assert.match(said({ type: 'largeSegment' }, 'too much is left'), /0\.log: too much is left\. Its records stay/)
  const gone = said({ type: 'failedJobs', count: 3 }, 'no memory\n    at x', 3_600_000)
  assert.match(gone, /failed 3 times.*byte 7 of .*: no memory\. Give the process more memory .*again in 60 minutes/)
  for (const { message } of world.log.lines) assert.doesNotMatch(message, /\n/)
})

test('a segment that is gone is a warning that names it', () => {
  const world = new World({ seed: 1 })
  const { clock, log } = world.addNode('broker').start()
  const faults = new StorageFaultLog(clock, log, { directoryWritable: () => {}, directoryFailed: () => {} })
  faults.segmentLost({ path: '/data/t-0/00000000000000000007.log', offset: 7 })
  const [{ level, message }] = world.log.lines
  assert.equal(level, 'warn')
  assert.match(message, /^\/data\/t-0\/0{19}7\.log is gone.*from offset 7 up to the next segment.*Restore the file/)
})

test('a pass of compaction is one line, with what it read, kept and removed', () => {
  const world = new World({ seed: 1 })
  const { clock, log } = world.addNode('broker').start()
  const faults = new StorageFaultLog(clock, log, { directoryWritable: () => {}, directoryFailed: () => {} })
  const bytes = { indexedBytes: 700, filteredBytes: 1000, writtenBytes: 400 }
  const records = { readRecords: 20, keptRecords: 4, keylessRecords: 0 }
  const stats = { endOffset: 24, ...bytes, ...records, mapUtilization: 0.1, durationMs: 1260 }
  faults.compacted({ topic: 't', partition: 0 } as SegmentedLog, stats)
  const [{ level, message }] = world.log.lines
  assert.equal(level, 'info')
  assert.equal(message, 't-0 is compacted up to offset 24: 400 of 1000 bytes kept, 16 of 20 records removed, in 1.3 s')
})
