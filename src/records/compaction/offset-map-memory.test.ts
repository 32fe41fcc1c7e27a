import assert from 'node:assert/strict'
import { test } from 'node:test'
import { OffsetMapMemory } from './offset-map-memory.ts'

test('memory is used again where it is large enough, and given up for a larger one where it is not', () => {
  const memory = new OffsetMapMemory()
  const [one, two] = [memory.take(100), memory.take(200)]
  assert.deepEqual([one.byteLength, two.byteLength], [100, 200])
  memory.giveBack(one)
  memory.giveBack(two)
  assert.equal(memory.take(150), two)
  const larger = memory.take(300)
  assert.notEqual(larger, one)
  assert.notEqual(memory.take(100), one)
  memory.giveBack(larger)
  memory.release()
  const roomy = memory.take(100, 500)
  assert.equal(roomy.byteLength, 500)
  memory.giveBack(roomy)
  assert.equal(memory.take(400, 500), roomy)
  memory.giveBack(roomy)
  memory.release()
  assert.notEqual(memory.take(300), larger)
})
