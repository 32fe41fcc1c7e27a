import assert from 'node:assert/strict'
import { test } from 'node:test'
import { World } from '../../simulator/io/world.ts'
import { IoThrottle, type Rest } from './io-throttle.ts'

function onThrottle(
  firstRate: number,
  body: (host: { world: World; throttle: IoThrottle; setRate(rate: number): void }) => Promise<void>,
): Promise<void> {
  const world = new World({ seed: 1 })
  let rate = firstRate
  const { clock } = world.addNode('node').start()
  const throttle = new IoThrottle(clock, () => rate)
  const setRate = (next: number) => {
    rate = next
    throttle.reconfigured()
  }
  return world.finish(body({ world, throttle, setRate }))
}

async function msOf(world: World, rest: Rest | undefined): Promise<number> {
  const startMs = world.nowMs
  await rest?.over
  // Timers come a little late.
  return Math.round((world.nowMs - startMs) / 50) * 50
}

test('bytes take their time, and a little ahead of it none', () =>
  onThrottle(1000, async ({ world, throttle }) => {
    assert.equal(throttle.take(50), undefined)
    assert.equal(await msOf(world, throttle.take(1000)), 1000)
    await world.sleep(10_000)
    // What was not used is not saved.
    assert.equal(await msOf(world, throttle.take(1000)), 950)
  }))

test('two that rest share the rate', () =>
  onThrottle(1000, async ({ world, throttle }) => {
    const [one, two] = [throttle.take(1000), throttle.take(1000)]
    assert.deepEqual(await Promise.all([msOf(world, one), msOf(world, two)]), [950, 1950])
  }))

test('a new rate holds for those who rest: half at the old one, half at the new', () =>
  onThrottle(100, async ({ world, throttle, setRate }) => {
    const rest = throttle.take(1000)
    await world.sleep(5000)
    setRate(1000)
    assert.equal(await msOf(world, rest), 450)
    const slow = throttle.take(1000)
    await world.sleep(500)
    setRate(100)
    assert.equal(await msOf(world, slow), 5450)
    const none = throttle.take(1_000_000)
    setRate(Number.POSITIVE_INFINITY)
    assert.equal(await msOf(world, none), 0)
    assert.equal(throttle.take(1_000_000), undefined)
    setRate(1000)
    assert.equal(await msOf(world, throttle.take(1000)), 950)
  }))

test('a rest is ended by whoever stops', () =>
  onThrottle(1, async ({ world, throttle }) => {
    const rest = throttle.take(1_000_000)
    rest?.end()
    assert.equal(await msOf(world, rest), 0)
    assert.ok(throttle.take(1) !== undefined, 'what was taken is still to be paid for')
  }))
