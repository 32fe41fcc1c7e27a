import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom } from '../../../protocol/seeded-random.ts'
import { placeReplicas, type UsableBroker } from './replica-placement.ts'

function brokers(count: number, racks: number, fenced: readonly number[] = []): UsableBroker[] {
  return Array.from({ length: count }, (_, id) => ({ id, rack: `rack-${id % racks}`, isFenced: fenced.includes(id) }))
}

function spread(counts: ReadonlyMap<number, number>, of: readonly UsableBroker[]): number {
  const numbers = of.map(broker => counts.get(broker.id) ?? 0)
  return Math.max(...numbers) - Math.min(...numbers)
}

test('leaders and replicas are spread to within one, whatever the numbers', () => {
  for (const [count, racks, partitions, replicationFactor] of [
    [3, 3, 7, 3],
    [4, 2, 50, 2],
    [5, 5, 33, 3],
    [6, 3, 100, 3],
    [7, 1, 10, 2],
  ]) {
    const all = brokers(count, racks)
    const placed = placeReplicas(all, { partitions, replicationFactor }, seededRandom(count))
    const leaders = new Map<number, number>()
    const replicas = new Map<number, number>()
    for (const [index, assignment] of placed.entries()) {
      assert.equal(new Set(assignment).size, replicationFactor, `partition ${index}`)
      leaders.set(assignment[0], (leaders.get(assignment[0]) ?? 0) + 1)
      for (const id of assignment) replicas.set(id, (replicas.get(id) ?? 0) + 1)
    }
    assert.ok(spread(leaders, all) <= 1, `leaders of ${count} brokers`)
    assert.ok(spread(replicas, all) <= 1, `replicas of ${count} brokers`)
  }
})

test('a partition has a replica in every rack before it has two in one', () => {
  const placed = placeReplicas(brokers(9, 3), { partitions: 40, replicationFactor: 3 }, seededRandom(1))
  for (const assignment of placed) assert.equal(new Set(assignment.map(id => id % 3)).size, 3)
  const more = placeReplicas(brokers(6, 2), { partitions: 40, replicationFactor: 4 }, seededRandom(1))
  for (const assignment of more) assert.equal(assignment.filter(id => id % 2 === 0).length, 2)
})

test('a broker out of service takes replicas only where it must, and never leads', () => {
  const all = brokers(4, 1, [0])
  for (const assignment of placeReplicas(all, { partitions: 20, replicationFactor: 3 }, seededRandom(1))) {
    assert.ok(!assignment.includes(0))
  }
  for (const assignment of placeReplicas(all, { partitions: 20, replicationFactor: 4 }, seededRandom(1))) {
    assert.notEqual(assignment[0], 0)
  }
})

test('topics of one partition are not all led by the same broker', () => {
  const random = seededRandom(3)
  const leaders = Array.from(
    { length: 30 },
    () => placeReplicas(brokers(3, 1), { partitions: 1, replicationFactor: 1 }, random)[0][0],
  )
  assert.equal(new Set(leaders).size, 3)
})
