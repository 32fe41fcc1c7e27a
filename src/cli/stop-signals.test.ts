import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type StopSignal, StopSignals } from './stop-signals.ts'

/** What each of these signals, at so many milliseconds, means. */
function meanings(...sent: readonly (readonly [StopSignal, number])[]): string[] {
  const signals = new StopSignals()
  return sent.map(([signal, nowMs]) => signals.take(signal, nowMs))
}

test('the first signal stops, whichever it is', () => {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) assert.deepEqual(meanings([signal, 5]), ['stop'])
})

test('a second SIGINT or SIGTERM ends at once, but not one that npm passes on', () => {
  assert.deepEqual(meanings(['SIGINT', 0], ['SIGINT', 10], ['SIGTERM', 1000]), ['stop', 'ignore', 'ignore'])
  assert.deepEqual(meanings(['SIGTERM', 0], ['SIGTERM', 1001]), ['stop', 'end'])
  assert.deepEqual(meanings(['SIGHUP', 0], ['SIGINT', 2000]), ['stop', 'end'])
})

test('a parent that goes away, be it after the stop has begun, breaks nothing off', () => {
  assert.deepEqual(meanings(['SIGTERM', 0], ['SIGHUP', 5000], ['SIGHUP', 9000]), ['stop', 'ignore', 'ignore'])
})
