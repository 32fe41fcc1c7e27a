import assert from 'node:assert/strict'
import { test } from 'node:test'
import { World } from '../simulator/io/world.ts'
import { RecentDeletions } from './recent-deletions.ts'

test('a deletion is known for five seconds from the last one of that name', async () => {
  const world = new World({ seed: 1 })
  const deletions = new RecentDeletions(world.addNode('broker').start().clock)
  const known = () => ['a', 'b', 'c'].filter(name => deletions.has(name)).join()
  deletions.add('a')
  assert.equal(known(), 'a')
  await world.finish(world.sleep(3000))
  deletions.add('b')
  await world.finish(world.sleep(1000))
  deletions.add('a')
  await world.finish(world.sleep(3900))
  assert.equal(known(), 'a,b')
  await world.finish(world.sleep(200))
  assert.equal(known(), 'a')
  await world.finish(world.sleep(1000))
  assert.equal(known(), '')
})

test('of very many deletions the last thousand are known', () => {
  const deletions = new RecentDeletions(new World({ seed: 1 }).addNode('broker').start().clock)
  for (let index = 0; index < 2500; index++) deletions.add(`t-${index}`)
  assert.deepEqual([deletions.has('t-1499'), deletions.has('t-1500'), deletions.has('t-2499')], [false, true, true])
})
