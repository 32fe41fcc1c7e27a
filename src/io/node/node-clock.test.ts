import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
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

test('after a callback has thrown, the others of its turn still run, in order', () => {
  const program = `import { TurnQueue } from ${JSON.stringify(join(import.meta.dirname, 'turn-queue.ts'))}
    process.on('uncaughtException', error => console.log(error.message))
    const turns = new TurnQueue()
    turns.next(() => { turns.next(() => console.log('next')); throw new Error('thrown') })
    turns.next(() => console.log('second'))
    turns.last(() => console.log('last'))`
  const flags = process.execArgv.filter(flag => /strip-types|disable-warning/.test(flag))
  const { stdout } = spawnSync(process.execPath, [...flags, '--input-type=module', '-e', program], { encoding: 'utf8' })
  assert.deepEqual(stdout.trim().split('\n'), ['thrown', 'second', 'next', 'last'])
})
