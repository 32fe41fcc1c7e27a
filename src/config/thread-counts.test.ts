import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ErrorCode } from '../base/error-code.ts'
import { checkThreadCounts } from './thread-counts.ts'

function change(name: string, from: number | undefined, to: number | undefined, others: [string, string][] = []) {
  const texts = (count: number | undefined) =>
    new Map(count === undefined ? others : [...others, [name, String(count)] as const])
  const refusal = checkThreadCounts(texts(from), texts(to))
  if (refusal !== undefined) assert.equal(refusal.errorCode, ErrorCode.invalidRequest)
  return refusal?.message
}

/** As a Kafka 4.4 answered, without the class names around it. */
const reduced = (current: number) =>
  `Log cleaner threads cannot be reduced to less than half the current value ${current}`
const increased = (current: number) =>
  `Log cleaner threads cannot be increased to more than double the current value ${current}`

test('threads of compaction may be halved and doubled, and no more than that', () => {
  const name = 'log.cleaner.threads'
  assert.equal(change(name, 4, 1), reduced(4))
  assert.equal(change(name, 4, 2), undefined)
  assert.equal(change(name, 4, 8), undefined)
  assert.equal(change(name, 4, 9), increased(4))
  assert.equal(change(name, 3, 1), undefined, 'halves are rounded down')
  assert.equal(change(name, 1, 0), 'Log cleaner threads should be at least 1')
  assert.equal(change(name, undefined, 3), increased(1))
  assert.equal(change(name, 16, undefined), reduced(16), 'the value that comes back is a change, too')
  assert.equal(change(name, 0, 7), undefined, 'where there were none')
  assert.equal(change(name, 4, 9, [['log.cleaner.enable', 'false']]), undefined)
})

test('so may the threads that have no effect here', () => {
  const failed = 'Dynamic thread count update validation failed for'
  assert.equal(
    change('num.io.threads', 8, 3),
    `${failed} num.io.threads=3, value should be at least half the current value 8`,
  )
  assert.equal(
    change('num.replica.fetchers', undefined, 3),
    `${failed} num.replica.fetchers=3, value should not be greater than double the current value 1`,
  )
  assert.equal(change('num.network.threads', 3, 6), undefined)
  assert.equal(change('background.threads', 10, 4)?.slice(0, failed.length), failed)
  assert.equal(change('num.recovery.threads.per.data.dir', 2, 5)?.slice(0, failed.length), failed)
})
