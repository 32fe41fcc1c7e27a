import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadConfig } from '../config/load-config.ts'
import { World } from '../simulator/io/world.ts'
import { Broker } from './broker.ts'
import { StartError } from './start-error.ts'

test('a start on a full disk fails and touches no partition; with room again all are there', async () => {
  const world = new World({ seed: 1 })
  const node = world.addNode('broker')
  const loaded = loadConfig({ overrides: ['log.dirs=/data', 'listeners=PLAINTEXT://broker:9092'], environment: {} })
  assert.ok(loaded.type === 'loaded')
  const start = () => {
    const options = { hostName: 'broker', formatsEmptyDirectories: true, failed: () => {} }
    return Broker.start({ io: node.start(), loaded, ...options })
  }
  await world.finish(
    (async () => {
      const first = await start()
      const topic = { name: 'keep', numPartitions: 3, replicationFactor: 1, assignments: [], configs: [] }
      await first.metadata.submit({
        type: 'createTopics',
        request: { topics: [topic], timeoutMs: 5000, validateOnly: false },
      })
      await world.sleep(2000)
      assert.equal([...first.logs.logs].length, 3)
      await first.close()
      node.crash('kill')

      node.disk.faults.freeBytes = 0
      await assert.rejects(start(), StartError)
      node.crash('kill')
      const names = node.disk.files().map(({ path }) => path)
      assert.deepEqual(
        names.filter(path => path.includes('-stray')),
        [],
      )

      node.disk.faults.freeBytes = Number.POSITIVE_INFINITY
      const again = await start()
      assert.deepEqual([...again.logs.logs].map(log => `${log.topic}-${log.partition}`).sort(), [
        'keep-0',
        'keep-1',
        'keep-2',
      ])
      await again.close()
    })(),
  )
})
