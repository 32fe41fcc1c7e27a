import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DeletedNames } from './deleted-names.ts'

test('a name is taken once after each deletion', () => {
  const names = new DeletedNames()
  assert.equal(names.take('a'), false)
  for (let times = 0; times < 2; times++) {
    names.add('a')
    names.add('a')
    assert.deepEqual([names.take('a'), names.take('a'), names.take('b')], [true, false, false])
  }
})

test('of very many deletions the last thousand are known', () => {
  const names = new DeletedNames()
  for (let index = 0; index < 2500; index++) names.add(`t-${index}`)
  names.add('t-1500')
  names.add('t-2500')
  assert.deepEqual(
    ['t-1499', 't-1501', 't-1500', 't-1502', 't-2500'].map(name => names.take(name)),
    [false, false, true, true, true],
  )
})
