import assert from 'node:assert/strict'
import { test } from 'node:test'
import { OpenRequests } from './open-requests.ts'

const to = (id: number) => ({ type: 'node', id, endpoints: [] }) as const
const fetch = (id: number, deadlineMs: number) => ({ api: 'fetch', to: to(id), deadlineMs, fetchOffset: 0 }) as const

test('one request of a kind goes to one place at a time', () => {
  const open = new OpenRequests(20)
  const { correlationId } = open.open(fetch(1, 100))
  assert.ok(!open.isFree('fetch', to(1), 0))
  assert.ok(open.isFree('vote', to(1), 0) && open.isFree('fetch', to(2), 0))
  assert.ok(open.isWaitingFor('fetch', 'fetchSnapshot') && !open.isWaitingFor('vote'))
  assert.equal(open.close(correlationId)?.to.type, 'node')
  assert.ok(open.isFree('fetch', to(1), 0))
  assert.equal(open.close(correlationId), undefined)
})

test('after a failure it waits, longer after each in a row', () => {
  const open = new OpenRequests(20)
  const pauses = []
  for (let i = 0; i < 7; i++) {
    const request = open.open(fetch(1, 100))
    open.close(request.correlationId)
    open.failed(request, 1000)
    const pauseMs = open.nextDeadlineMs(1000) - 1000
    assert.ok(!open.isFree('fetch', to(1), 999 + pauseMs) && open.isFree('fetch', to(1), 1000 + pauseMs))
    pauses.push(pauseMs)
  }
  assert.deepEqual(pauses, [20, 40, 80, 160, 320, 500, 500])
  open.succeeded(fetch(1, 100) as never)
  assert.ok(open.isFree('fetch', to(1), 1000))
  assert.equal(open.nextDeadlineMs(1000), Number.POSITIVE_INFINITY)
})

test('a request that nobody answers expires once', () => {
  const open = new OpenRequests(20)
  open.open(fetch(1, 100))
  open.open(fetch(2, 200))
  assert.equal(open.nextDeadlineMs(0), 100)
  assert.deepEqual(open.expired(99), [])
  assert.equal(open.expired(100).length, 1)
  assert.deepEqual(open.expired(100), [])
  assert.equal(open.nextDeadlineMs(0), 200)
})

test('bootstrap servers share one pause: the next one is asked no sooner', () => {
  const open = new OpenRequests(20)
  const request = open.open({ api: 'fetch', to: { type: 'bootstrap', index: 0 }, deadlineMs: 100, fetchOffset: 0 })
  open.close(request.correlationId)
  open.failed(request, 0)
  assert.ok(!open.isFree('fetch', { type: 'bootstrap', index: 1 }, 10))
})

test('what was forgotten is answered by nobody', () => {
  const open = new OpenRequests(20)
  const { correlationId } = open.open(fetch(1, 100))
  open.forgetAll()
  assert.equal(open.close(correlationId), undefined)
  assert.ok(open.isFree('fetch', to(1), 0))
})
