import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AppendPace } from './append-pace.ts'

test('a stall sends appends to the pool until a write there is fast', () => {
  const pace = new AppendPace(() => undefined)
  pace.tookInLoop(19, 100, 0)
  assert.ok(!pace.isSlow)
  pace.tookInLoop(21, 100, 0)
  assert.ok(pace.isSlow)
  pace.tookInPool(30, 100)
  assert.ok(pace.isSlow)
  pace.tookInPool(9, 100)
  assert.ok(!pace.isSlow)
})

test('a large append may take the time of its copy', () => {
  const pace = new AppendPace(() => undefined)
  pace.tookInLoop(40, 16 * 2 ** 20, 0)
  assert.ok(!pace.isSlow)
  pace.tookInLoop(100, 16 * 2 ** 20, 0)
  assert.ok(pace.isSlow)
})

test('a flood of stalls is reported once in ten seconds, with its number', () => {
  const reports: number[] = []
  const pace = new AppendPace(({ count }) => reports.push(count))
  for (let nowMs = 0; nowMs <= 10_000; nowMs += 1000) pace.tookInLoop(25, 0, nowMs)
  assert.deepEqual(reports, [1, 10])
})
