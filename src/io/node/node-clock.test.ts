import assert from 'node:assert/strict'
import { test } from 'node:test'
import { clockConformance } from '../conformance/clock-conformance.ts'
import { NodeClock } from './node-clock.ts'
import { TurnQueue } from './turn-queue.ts'

clockConformance('the real one', () => ({
  subject: new NodeClock(new TurnQueue()),
  run: body => body(),
  dispose: async () => undefined,
}))

test('what runs last in a turn sees all that its callbacks did, in the same turn', async () => {
  const turns = new TurnQueue()
  const order: string[] = []
  turns.last(() => order.push('last, planned before'))
  turns.next(() => {
    order.push('first')
    turns.last(() => order.push('last, planned within'))
    turns.next(() => order.push('next turn'))
  })
  turns.next(() => order.push('second'))
  await new Promise<void>(resolve => turns.next(() => turns.next(() => turns.next(resolve))))
  assert.deepEqual(order, ['first', 'second', 'last, planned before', 'last, planned within', 'next turn'])
})
