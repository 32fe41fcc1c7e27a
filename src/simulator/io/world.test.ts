import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CollectingReceiver } from '../../io/conformance/collecting-receiver.ts'
import type { Connection } from '../../io/network.ts'
import { SeededRandom } from './seeded-random.ts'
import { World } from './world.ts'

/** Some life in a world: tasks that wait, write and read, on two nodes. */
async function liveForAWhile(seed: number): Promise<string> {
  const world = new World({ seed })
  const nodes = ['a', 'b'].map(name => world.addNode(name))
  const tasks = nodes.flatMap(node => {
    const { clock, disk, random, network } = node.start()
    const echo = async () => {
      const accept = (connection: Connection) =>
        connection.start({
          target: () => undefined,
          received: bytes => connection.send([Buffer.from(bytes)]),
          closed: () => undefined,
        })
      await network.listen({ host: node.name, port: 1 }, { accept })
      const client = await network.connect({ host: node.name === 'a' ? 'b' : 'a', port: 1 }, { timeoutMs: 1000 })
      const receiver = new CollectingReceiver()
      client.start(receiver)
      for (let round = 0; round < 20; round++) {
        const bytes = random.bytes(random.below(5000))
        client.send([bytes])
        assert.ok((await receiver.take(bytes.length)).equals(bytes))
      }
    }
    const writing = [1, 2, 3].map(async number => {
      const file = disk.open(`/log-${number}`, 'append')
      for (let round = 0; round < 20; round++) {
        await new Promise<void>(resolve => void clock.after(random.below(10), resolve))
        await new Promise(resolve => file.append([random.bytes(random.below(100))], resolve))
        if (round % 5 === 0) await file.sync()
        await file.read(0, 10)
        await clock.yieldTurn()
      }
    })
    return [...writing, echo()]
  })
  await world.finish(Promise.all(tasks))
  return world.trace.hash
}

test('the same seed gives the same run, another seed another', async () => {
  const first = await liveForAWhile(7)
  assert.equal(await liveForAWhile(7), first)
  assert.notEqual(await liveForAWhile(8), first)
})

test('all microtasks of an event run before the next event', async () => {
  const world = new World({ seed: 1 })
  const { clock } = world.addNode('node').start()
  const order: string[] = []
  const deep = async (name: string) => {
    for (let i = 0; i < 50; i++) await undefined
    order.push(name)
  }
  clock.after(1, () => void deep('first'))
  clock.after(3, () => void deep('second'))
  clock.after(3, () => order.push('third'))
  await world.advance(10)
  assert.equal(order[0], 'first')
  assert.equal(order.length, 3)
})

test('a turn has one event of its node, or now and then some more', async () => {
  const orders = new Set<string>()
  for (let seed = 0; seed < 100; seed++) {
    const world = new World({ seed })
    const { clock } = world.addNode('node').start()
    const order: string[] = []
    const two = () => {
      order.push('event')
      clock.nextTurn(() => order.push('turn'))
    }
    clock.after(1, two)
    clock.after(1, two)
    await world.advance(10)
    orders.add(order.join())
  }
  assert.deepEqual([...orders].sort(), ['event,event,turn,turn', 'event,turn,event,turn'])
})

test('a world in which nothing can happen says so instead of hanging', async () => {
  const world = new World({ seed: 1 })
  await assert.rejects(world.finish(new Promise(() => undefined)), {
    name: 'SimulationStuck',
    message: /nothing is left/,
  })
})

test('a loop without progress is ended by the limits of the run', async () => {
  const world = new World({ seed: 1 })
  const { clock } = world.addNode('node').start()
  const again = (): void => void clock.after(1, again)
  again()
  const never = new Promise(() => undefined)
  await assert.rejects(world.finish(never, { withinMs: 1000 }), { name: 'SimulationStuck', message: /time is over/ })
  await assert.rejects(world.finish(never, { maxEvents: 1000 }), { name: 'SimulationStuck', message: /does not end/ })
})

test('what a callback throws ends the run', async () => {
  const world = new World({ seed: 1 })
  const { clock } = world.addNode('node').start()
  clock.after(1, () => {
    throw new RangeError('thrown by the node')
  })
  await assert.rejects(world.advance(10), { message: 'thrown by the node' })
})

test('a paused process stands still, and catches up in order', async () => {
  const world = new World({ seed: 1 })
  const node = world.addNode('node')
  const { clock } = node.start()
  const order: number[] = []
  for (const delayMs of [30, 10, 20]) clock.after(delayMs, () => order.push(delayMs))
  node.pause()
  await world.advance(1000)
  assert.deepEqual(order, [])
  node.resume()
  await world.advance(1)
  assert.deepEqual(order, [10, 20, 30])
  assert.ok(clock.now().monotonicMs >= 1000)
})

test('streams of chance are independent and cover their range', () => {
  const draws = (stream: string) => Array.from({ length: 5 }, () => new SeededRandom('1', stream).below(1000))
  assert.notDeepEqual(draws('a'), draws('b'))
  const random = new SeededRandom('1', 'range')
  const seen = new Set(Array.from({ length: 1000 }, () => random.below(10)))
  assert.equal(seen.size, 10)
  for (let i = 0; i < 1000; i++) assert.ok(random.below(2 ** 48) < 2 ** 48)
  const large = Array.from({ length: 100 }, () => random.below(2 ** 48))
  assert.ok(large.some(draw => draw > 2 ** 47))
  assert.ok(!random.chance(0))
  assert.deepEqual(random.shuffled([1, 2, 3]).sort(), [1, 2, 3])
  assert.throws(() => random.below(0))
})
