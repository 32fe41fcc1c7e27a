import assert from 'node:assert/strict'
import { test } from 'node:test'
// Node tells of a rejection that nobody handles in a turn of its own event loop, which the simulated world does not have.
import { setImmediate as turn } from 'node:timers/promises'
import { AssertionFailure } from '../base/assert.ts'
import { DiskError } from '../io/disk.ts'
import { type Host, onHost } from './fixture.test.ts'
import { Upkeep } from './upkeep.ts'

/** What becomes of a promise that upkeep of a directory has left to nobody, when looking after its logs ends with this error. */
async function looksAfter(host: Host, error: Error): Promise<unknown> {
  const { directories } = await host.open()
  let isStarted = false
  const upkeep = new Upkeep(host.context, directories, () => {
    if (isStarted) throw error
    return []
  })
  upkeep.start({ retentionCheckMs: 100 })
  isStarted = true
  let unhandled: unknown
  const note = (reason: unknown) => {
    unhandled = reason
  }
  const others = process.listeners('unhandledRejection')
  process.removeAllListeners('unhandledRejection')
  process.on('unhandledRejection', note)
  try {
    await host.world.sleep(500)
    await turn()
  } finally {
    process.off('unhandledRejection', note)
    for (const other of others) process.on('unhandledRejection', other)
    upkeep.end()
  }
  return unhandled
}

test('a broken invariant that upkeep meets is no fault of the disk: it stops the process', () =>
  onHost({}, async host => {
    const failure = new AssertionFailure('a claim')
    assert.equal(await looksAfter(host, failure), failure)
    assert.deepEqual(host.faults.events, [])
  }))

test('a directory that fails while it is looked after goes offline', () =>
  onHost({}, async host => {
    assert.equal(await looksAfter(host, new DiskError('io', 'rename', '/data/file')), undefined)
    assert.deepEqual(host.faults.events, ['failed'])
  }))
