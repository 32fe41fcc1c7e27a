import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LinkedList } from './linked-list.ts'

test('values come in the order in which they were added', () => {
  const list = new LinkedList<string>()
  assert.deepEqual([...list], [])
  for (const value of ['a', 'b', 'c']) list.add(value)
  assert.deepEqual([...list], ['a', 'b', 'c'])
})

test('the first, one between and the last can be removed, and the list goes on', () => {
  const list = new LinkedList<string>()
  const [a, b, c, d] = ['a', 'b', 'c', 'd'].map(value => list.add(value))
  list.remove(b)
  assert.deepEqual([...list], ['a', 'c', 'd'])
  list.remove(a)
  list.remove(d)
  assert.deepEqual([...list], ['c'])
  list.remove(c)
  assert.deepEqual([...list], [])
  list.add('e')
  assert.deepEqual([...list], ['e'])
})

test('a value moved to the end comes last, from wherever it was', () => {
  const list = new LinkedList<string>()
  const [a, b, c] = ['a', 'b', 'c'].map(value => list.add(value))
  list.moveToEnd(a)
  assert.deepEqual([...list], ['b', 'c', 'a'])
  list.moveToEnd(c)
  assert.deepEqual([...list], ['b', 'a', 'c'])
  list.moveToEnd(c)
  assert.deepEqual([...list], ['b', 'a', 'c'])
  list.remove(b)
  assert.deepEqual([...list], ['a', 'c'])
})

test('the current value may be removed in the midst of a walk', () => {
  const list = new LinkedList<number>()
  const links = new Map([1, 2, 3].map(value => [value, list.add(value)]))
  const seen: number[] = []
  for (const value of list) {
    seen.push(value)
    list.remove(links.get(value)!)
  }
  assert.deepEqual(seen, [1, 2, 3])
  assert.deepEqual([...list], [])
})

test('a removed link leads nowhere', () => {
  const list = new LinkedList<string>()
  list.add('a')
  const link = list.add('b')
  list.add('c')
  list.remove(link)
  assert.equal(link.before, undefined)
  assert.equal(link.after, undefined)
})
