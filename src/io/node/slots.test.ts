import assert from 'node:assert/strict'
import { test } from 'node:test'
import { poolLimits, Slots } from './slots.ts'

test('no more jobs run than there are slots, and the others follow in their order', () => {
  const slots = new Slots(2)
  const started: number[] = []
  const ends: (() => void)[] = []
  for (let job = 0; job < 5; job++)
    slots.run(end => {
      started.push(job)
      ends.push(end)
    })
  assert.deepEqual(started, [0, 1])
  ends[1]?.()
  assert.deepEqual(started, [0, 1, 2])
  ends[0]?.()
  ends[2]?.()
  assert.deepEqual(started, [0, 1, 2, 3, 4])
  ends[3]?.()
  ends[4]?.()
  slots.run(() => started.push(5))
  assert.equal(started.length, 6)
})

test('the kinds of work leave a thread of the pool free', () => {
  for (let threads = 8; threads <= 128; threads++) {
    const { reads, syncs, appends, computing } = poolLimits(threads, 64)
    assert.ok(reads >= 1 && syncs >= 1 && appends >= 1 && computing >= 1)
    assert.ok(reads + syncs + appends + computing < threads, `${threads} threads`)
  }
  assert.deepEqual(poolLimits(16, 2), { reads: 4, syncs: 4, appends: 2, computing: 2 })
  assert.deepEqual(poolLimits(4, 2), { reads: 1, syncs: 1, appends: 1, computing: 1 })
})
