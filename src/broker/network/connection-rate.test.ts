import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ConnectionRate } from './connection-rate.ts'

/** When each of so many begins, in milliseconds, all of them wanting to at once. */
function beginnings(count: number, perSecond: number): number[] {
  const rate = new ConnectionRate()
  let nowMs = 5000
  return Array.from({ length: count }, () => {
    nowMs += rate.waitMs(nowMs, perSecond)
    rate.begun(nowMs, perSecond)
    return Math.round(nowMs - 5000)
  })
}

test('as many as a second allows begin at once, the others at even distances', () => {
  assert.deepEqual(beginnings(5, 2), [0, 0, 500, 1000, 1500])
  assert.deepEqual(beginnings(5, 3), [0, 0, 0, 333, 667])
  assert.deepEqual(beginnings(3, 1), [0, 1000, 2000])
  assert.deepEqual(beginnings(3, 0), [0, 1000, 2000])
  assert.deepEqual(beginnings(3, Number.POSITIVE_INFINITY), [0, 0, 0])
})

test('what was not used is not saved up, and a rate that is raised counts at once', () => {
  const rate = new ConnectionRate()
  rate.begun(0, 1)
  rate.begun(60_000, 1)
  assert.equal(rate.waitMs(60_000, 1), 1000)
  assert.equal(rate.waitMs(60_000, 1000), 1)
})
