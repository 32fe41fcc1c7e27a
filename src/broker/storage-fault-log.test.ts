import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DiskError, type DiskErrorCode } from '../io/disk.ts'
import { World } from '../simulator/io/world.ts'
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
