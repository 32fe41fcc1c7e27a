import assert from 'node:assert/strict'
import { test } from 'node:test'
import { append, Host, written } from './fixture.test.ts'

test('a power cut in the middle of a deletion leaves no directory under the name that cannot be read', async () => {
  for (let seed = 0; seed < 60; seed++) {
    const host = new Host({ seed, config: { fileDeleteDelayMs: 0 } })
    const log = await host.run(host.openLog())
    append(log)
    await host.run(written(host, log))
    await host.run(log.flush())
    await host.run(log.directory.saveCheckpoints())
    host.directories.delete(log)
    await host.run(host.world.sleep(1 + (seed % 8)))
    host.node.crash('power')
    await host.run(host.open())
    const unreadable = host.directories.unopened.filter(one => one.reason.startsWith('partition.metadata'))
    assert.deepEqual(unreadable, [], `seed ${seed}`)
  }
})

test('a power cut soon after a log was made leaves no directory that cannot be read', async () => {
  for (let seed = 0; seed < 100; seed++) {
    const host = new Host({ seed })
    await host.run(host.open())
    await host.run(host.world.sleep(100))
    const log = host.log()
    const saved = log.directory.saveCheckpoints()
    saved.catch(() => undefined)
    append(log)
    await host.run(host.world.sleep(1 + (seed % 40) / 4))
    host.node.crash('power')
    await host.run(host.open())
    const unreadable = host.directories.unopened.filter(one => one.name === 'topic-0')
    assert.deepEqual(unreadable, [], `seed ${seed}`)
    host.log()
  }
})
