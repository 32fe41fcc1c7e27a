import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { createClient } from '../../src/client/index.ts'
import { freePorts } from '../compatibility/free-port.ts'
import { startMillrace } from './run-millrace.ts'

test('start --json says in one line what the banner says, and nothing else on stdout', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'millrace-json-'))
  const [port, adminPort, controllerPort] = await freePorts(3)
  const settings = [
    `listeners=PLAINTEXT://127.0.0.1:${port},CONTROLLER://127.0.0.1:${controllerPort}`,
    `millrace.admin.listener=127.0.0.1:${adminPort}`,
    `log.dirs=${directory}`,
  ]
  const broker = startMillrace(['start', '--json', ...settings.flatMap(setting => ['-o', setting])], '')
  const ended = once(broker, 'exit')
  try {
    let printed = ''
    for await (const chunk of broker.stdout) {
      printed += chunk
      if (!printed.endsWith('\n')) continue
      await using client = createClient({ bootstrapServers: `127.0.0.1:${port}` })
      const { clusterId } = await client.admin().describeCluster()
      assert.deepEqual(JSON.parse(printed), {
        ...{ nodeId: 1, clusterId, data: [directory], profile: 'development' },
        listeners: [{ name: 'PLAINTEXT', host: '127.0.0.1', port }],
        admin: { host: '127.0.0.1', port: adminPort },
      })
      broker.kill('SIGTERM')
    }
    assert.equal(printed.split('\n').length, 2, printed)
    assert.deepEqual(await ended, [0, null])
  } finally {
    broker.kill('SIGKILL')
    await rm(directory, { recursive: true, force: true })
  }
})
