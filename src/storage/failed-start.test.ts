import assert from 'node:assert/strict'
import { test } from 'node:test'
import { append, onHost, written } from './fixture.test.ts'

test('a directory that fails while it is opened is left alone from then on', () =>
  onHost({}, async host => {
    await host.open()
    for (let partition = 0; partition < 30; partition++) {
      append(host.log(partition))
      await written(host, host.log(partition))
    }
    host.node.crash('kill')
    const { faults } = host.node.disk
    faults.failNext('read', 'io', { pathEnd: 'topic-3/00000000000000000000.log' })
    await host.open()
    assert.deepEqual(host.faults.events, ['failed'])
    const { decide } = faults
    const later: string[] = []
    faults.decide = (operation, path, random) => {
      later.push(`${operation} ${path}`)
      return decide.call(faults, operation, path, random)
    }
    await host.world.sleep(10_000)
    assert.deepEqual(later, [])
  }))

test('a full disk keeps no directory from being opened', () =>
  onHost({}, async host => {
    const log = await host.openLog()
    append(log)
    await written(host, log)
    host.node.crash('kill')
    host.node.disk.faults.freeBytes = 0
    await host.open({ bootId: 'one' })
    assert.deepEqual(
      host.faults.events.filter(event => event === 'failed'),
      [],
    )
  }))

test('what is left of deleted logs is not removed once the directories are closed', () =>
  onHost({}, async host => {
    await host.open()
    const path = `/data/topic-0.${'0'.repeat(32)}-delete`
    host.io.disk.makeDirectory(path)
    host.node.crash('kill')
    await host.open()
    await host.directories.close({ brokerEpoch: 1 })
    await host.world.sleep(5000)
    assert.ok(host.io.disk.status(path) !== undefined)
  }))
