import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DiskError } from '../io/disk.ts'
import { World } from '../simulator/io/world.ts'
import { StorageFaultLog } from './storage-fault-log.ts'

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
