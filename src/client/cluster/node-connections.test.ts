import assert from 'node:assert/strict'
import { test } from 'node:test'
import { World } from '../../simulator/io/world.ts'
import { clientConfig } from '../client-options.ts'
import { MillraceError } from '../millrace-error.ts'
import { NodeConnections } from './node-connections.ts'
import { Closing } from './waiting.ts'

test('who waits in vain for another try is told why the one before it failed', async () => {
  const world = new World({ seed: 1 })
  world.addNode('nobody').start()
  const io = world.addNode('client').start()
  const options = { bootstrapServers: 'nobody:1', reconnectBackoffMs: 5000, reconnectBackoffMaxMs: 5000 }
  const hooks = { clusterId: () => undefined, failed: () => undefined, wrongNode: () => undefined }
  const connections = new NodeConnections(io, clientConfig(options), new Closing(), hooks)
  const failure = (timeoutMs: number) =>
    world.finish(
      connections.channelTo(-1, { host: 'nobody', port: 1 }, 'any', timeoutMs).then(
        () => assert.fail('nobody is there'),
        (error: Error) => error,
      ),
    )
  const refused = await failure(2000)
  assert.doesNotMatch(refused.message, /within/)
  const late = await failure(100)
  assert.ok(late instanceof MillraceError)
  assert.equal(late.message, `broker at nobody:1 could not be reached within 100 ms; before that: ${refused.message}`)
})
