import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SeededRandom } from '../../simulator/io/seeded-random.ts'
import { StickyChoice } from './sticky-choice.ts'

test('one partition is kept until about a batch has gone there', () => {
  const choice = new StickyChoice(new SeededRandom('1', 'test'), 100)
  assert.equal(choice.partition, -1)
  const first = choice.choose([0, 1, 2], () => 0)
  choice.used(99)
  assert.equal(choice.partition, first)
  choice.used(1)
  assert.equal(choice.partition, -1)
})

test('all usable partitions are used, those with less to send more often', () => {
  const choice = new StickyChoice(new SeededRandom('1', 'test'), 1)
  const counts = [0, 0, 0, 0]
  for (let i = 0; i < 3000; i++) counts[choice.choose([0, 1, 3], partition => (partition === 3 ? 1000 : 0))]++
  assert.equal(counts[2], 0)
  assert.ok(counts[0] > 1000 && counts[1] > 1000)
  assert.ok(counts[3] > 100 && counts[3] < 600)
})

test('a choice that is forgotten is made anew', () => {
  const choice = new StickyChoice(new SeededRandom('1', 'test'), 100)
  choice.choose([0], () => 0)
  choice.forget()
  assert.equal(choice.partition, -1)
})
