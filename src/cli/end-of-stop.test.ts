import assert from 'node:assert/strict'
import { test } from 'node:test'
import { endOfStop } from './end-of-stop.ts'

const never = <T>() => new Promise<T>(() => undefined)
const failed = Promise.resolve(new Error('an invariant is broken'))

test('a stop without a failure ends as it ends', async () => {
  for (const isClean of [true, false]) assert.equal(await endOfStop(Promise.resolve(isClean), never(), 1), isClean)
})

test('a stop that a failure keeps from ending is waited for a while', async () => {
  assert.equal(await endOfStop(never(), failed, 1), undefined)
})

test('a stop that ends after a failure has not put all in order, whatever it says', async () => {
  const closing = Promise.withResolvers<boolean>()
  const end = endOfStop(closing.promise, failed, 60_000)
  await failed.then(() => undefined)
  closing.resolve(true)
  assert.equal(await end, false)
})

test('a stop that breaks tells how', async () => {
  await assert.rejects(endOfStop(Promise.reject(new Error('broken')), never(), 1), /broken/)
})
