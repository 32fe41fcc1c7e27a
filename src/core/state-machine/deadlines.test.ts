import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Deadline, Deadlines } from './deadlines.ts'

function drain(deadlines: Deadlines<string>): string[] {
  const order: string[] = []
  for (let due = deadlines.earliest(); due !== undefined; due = deadlines.earliest()) {
    order.push(due.subject)
    deadlines.clear(due)
  }
  return order
}

test('deadlines come in the order of their times', () => {
  const deadlines = new Deadlines<string>()
  for (const [subject, atMs] of [
    ['c', 30],
    ['a', 10],
    ['d', 40],
    ['b', 20],
  ] as const) {
    deadlines.set(new Deadline(subject), atMs)
  }
  assert.deepEqual(drain(deadlines), ['a', 'b', 'c', 'd'])
})

test('a deadline that is pushed back comes at its new time, and one that is brought forward too', () => {
  const deadlines = new Deadlines<string>()
  const [a, b, c] = ['a', 'b', 'c'].map(subject => new Deadline(subject))
  deadlines.set(a, 10)
  deadlines.set(b, 20)
  deadlines.set(c, 30)
  deadlines.set(a, 25)
  deadlines.set(c, 5)
  assert.deepEqual(drain(deadlines), ['c', 'b', 'a'])
})

test('a cleared deadline does not come, until it is set again', () => {
  const deadlines = new Deadlines<string>()
  const [a, b] = ['a', 'b'].map(subject => new Deadline(subject))
  deadlines.set(a, 10)
  deadlines.set(b, 20)
  deadlines.clear(a)
  assert.equal(deadlines.earliest(), b)
  deadlines.set(a, 15)
  assert.equal(deadlines.earliest(), a)
})

test('whatever is set, pushed, cleared and set again, the earliest is what a plain search finds', () => {
  let seed = 12345
  const below = (bound: number) => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0
    return (seed >>> 8) % bound
  }
  const deadlines = new Deadlines<number>()
  const all = Array.from({ length: 300 }, (_, subject) => new Deadline(subject))
  for (let step = 0; step < 20_000; step++) {
    const deadline = all[below(all.length)]
    if (below(3) === 0) deadlines.clear(deadline)
    else deadlines.set(deadline, below(1000))
    if (step % 7 !== 0) continue
    const times = all.map(({ atMs }) => atMs).filter(atMs => atMs !== undefined)
    const expected = times.length === 0 ? undefined : Math.min(...times)
    assert.equal(deadlines.earliest()?.atMs, expected)
  }
})
