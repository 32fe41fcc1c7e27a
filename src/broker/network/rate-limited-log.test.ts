import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Clock, Timer } from '../../io/clock.ts'
import { RateLimitedLog } from './rate-limited-log.ts'

/** A clock whose one timer is rung by hand. */
function handClock() {
  let ring = () => {}
  const clock: Pick<Clock, 'after'> = {
    after(_delayMs, callback): Timer {
      ring = callback
      return { cancel: () => {} }
    },
  }
  return { clock: clock as Clock, ring: () => ring() }
}

test('the same thing is said once, and then how often it happened and from where', () => {
  const { clock, ring } = handClock()
  const lines: string[] = []
  const log = new RateLimitedLog(clock, { write: (_, message) => void lines.push(message) })
  for (const address of ['10.0.0.1', '10.0.0.2', '10.0.0.2', '10.0.0.3']) log.warn('it went wrong', address)
  assert.deepEqual(lines, ['10.0.0.1: it went wrong'])
  ring()
  assert.deepEqual(lines.slice(1), ['it went wrong: 3 more within a second, from 10.0.0.2, 10.0.0.3'])
  log.warn('it went wrong', '10.0.0.1')
  assert.equal(lines.length, 3)
})

test('of too many different things the rest is counted', () => {
  const { clock, ring } = handClock()
  const lines: string[] = []
  const log = new RateLimitedLog(clock, { write: (_, message) => void lines.push(message) })
  for (let i = 0; i < 150; i++) log.warn(`reason ${i}`, `10.0.0.${i}`)
  assert.equal(lines.length, 100)
  ring()
  assert.deepEqual(lines.slice(100), [
    'connections closed or refused for other reasons: 50 more within a second, from 10.0.0.100, 10.0.0.101, 10.0.0.102',
  ])
})

test('messages of one kind that differ in their figures are said once, and then how many there were', () => {
  const { clock, ring } = handClock()
  const lines: string[] = []
  const log = new RateLimitedLog(clock, { write: (_, message) => void lines.push(message) })
  for (let records = 1; records <= 30; records++) log.warn(`${records} records were refused`, '10.0.0.1', 'refused')
  assert.deepEqual(lines, ['10.0.0.1: 1 records were refused'])
  ring()
  assert.deepEqual(lines.slice(1), ['refused: 29 more within a second, from 10.0.0.1'])
})
