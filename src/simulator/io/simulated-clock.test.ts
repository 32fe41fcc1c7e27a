import assert from 'node:assert/strict'
import { test } from 'node:test'
import { clockConformance } from '../../io/conformance/clock-conformance.ts'
import { World } from './world.ts'

for (const seed of [1, 2, 3])
  clockConformance(`the simulated one (seed ${seed})`, () => {
    const world = new World({ seed })
    const { clock } = world.addNode('node', { clockRate: 0.9 + seed / 10 }).start()
    return { subject: clock, run: body => world.finish(body()), dispose: async () => undefined }
  })

test('the wall clock steps in either direction and the monotonic clock does not', async () => {
  const world = new World({ seed: 1 })
  const node = world.addNode('node')
  const { clock } = node.start()
  await world.advance(1000)
  const before = clock.now()
  node.clock.wallOffsetMs = -3_600_000
  const after = clock.now()
  assert.equal(after.wallMs, before.wallMs - 3_600_000)
  assert.equal(after.monotonicMs, before.monotonicMs)
})

test('a fast host’s timer runs earlier in the world', async () => {
  const world = new World({ seed: 1 })
  const order: string[] = []
  world
    .addNode('slow', { clockRate: 0.9 })
    .start()
    .clock.after(1000, () => order.push('slow'))
  world
    .addNode('fast', { clockRate: 1.1 })
    .start()
    .clock.after(1000, () => order.push('fast'))
  await world.advance(2000)
  assert.deepEqual(order, ['fast', 'slow'])
})
