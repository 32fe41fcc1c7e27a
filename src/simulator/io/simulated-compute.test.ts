import assert from 'node:assert/strict'
import { test } from 'node:test'
import { computeConformance } from '../../io/conformance/compute-conformance.ts'
import { World } from './world.ts'

computeConformance('the simulated one', () => {
  const world = new World({ seed: 1 })
  const { compute } = world.addNode('node').start()
  return { subject: compute, run: body => world.finish(body()), dispose: async () => undefined }
})

test('an input that is changed before the answer gives another answer', async () => {
  const world = new World({ seed: 1 })
  const { compute } = world.addNode('node').start()
  const input = Buffer.alloc(1000, 'a')
  const compressing = compute.run({ type: 'compress', codec: 3, level: undefined, input })
  input.fill('b')
  const packed = await world.finish(compressing)
  assert.equal(packed.type, 'done')
  const unpacked = compute.run({ type: 'decompress', codec: 3, input: packed.output, maxBytes: 1000 })
  const result = await world.finish(unpacked)
  assert.ok(result.type === 'done' && result.output.equals(Buffer.alloc(1000, 'b')))
})
