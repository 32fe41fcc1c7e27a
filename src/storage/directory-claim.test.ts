import assert from 'node:assert/strict'
import { test } from 'node:test'
import { World } from '../simulator/io/world.ts'
import { claimDirectory, formatDirectory } from './directory-claim.ts'
import { FaultLog } from './fixture.test.ts'
import { createStorage } from './storage.ts'

test('a directory that was formatted is there after a power cut, with all that it lies in', async () => {
  for (const path of ['/data', '/mnt/one/two', 'relative', 'a/b/']) {
    for (let seed = 0; seed < 10; seed++) {
      const world = new World({ seed })
      const node = world.addNode('node')
      const context = () => createStorage({ io: node.start(), faults: new FaultLog() })
      const properties = { clusterId: 'cluster', nodeId: 1, directoryId: 'AAAAAAAAQACAAAAAAAAAyA' }
      await world.finish(formatDirectory(context(), path, properties))
      node.crash('power')
      const claim = await world.finish(claimDirectory(context(), path))
      assert.equal(claim.type, 'claimed', `${path}, seed ${seed}`)
    }
  }
})

test('a directory in which no file can be made has failed, and one that is full has not', async () => {
  const world = new World({ seed: 1 })
  const node = world.addNode('node')
  const context = () => createStorage({ io: node.start(), faults: new FaultLog() })
  const properties = { clusterId: 'cluster', nodeId: 1, directoryId: 'AAAAAAAAQACAAAAAAAAAyA' }
  await world.finish(formatDirectory(context(), '/data', properties))
  for (const [operation, code, type] of [
    ['write', 'notPermitted', 'failed'],
    ['write', 'noSpace', 'claimed'],
    ['remove', 'notPermitted', 'failed'],
  ] as const) {
    node.crash('kill')
    node.disk.faults.failNext(operation, code)
    const claim = await world.finish(claimDirectory(context(), '/data'))
    node.disk.faults.forgetOrdered()
    assert.equal(claim.type, type, `${operation} ${code}`)
    if (claim.type === 'failed') assert.equal(claim.error.code, code)
    // Who is refused has let go of the lock.
    else claim.type === 'claimed' && claim.lock.release()
    if (operation === 'write') assert.equal(node.disk.files().filter(({ path }) => path.includes('probe')).length, 0)
  }
})
