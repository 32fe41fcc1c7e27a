import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NodeRandom } from './node-random.ts'

test('draws cover their range and never reach the bound', () => {
  const random = new NodeRandom()
  const seen = new Set<number>()
  for (let i = 0; i < 2000; i++) seen.add(random.below(7))
  assert.deepEqual([...seen].sort(), [0, 1, 2, 3, 4, 5, 6])
  assert.equal(random.below(1), 0)
  const large = Array.from({ length: 200 }, () => random.below(2 ** 48))
  assert.ok(large.some(draw => draw >= 2 ** 47) && large.every(draw => draw < 2 ** 48))
  assert.throws(() => random.below(0))
  assert.throws(() => random.below(1.5))
})

test('bytes are fresh, of any length, and the caller’s own', () => {
  const random = new NodeRandom()
  const draws = Array.from({ length: 600 }, () => random.bytes(16))
  assert.equal(new Set(draws.map(bytes => bytes.toString('hex'))).size, 600)
  for (const length of [0, 1, 1000, 5000]) assert.equal(random.bytes(length).length, length)
})
