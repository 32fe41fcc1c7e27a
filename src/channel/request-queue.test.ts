import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type QueuedRequest, RequestQueue } from './request-queue.ts'

function request(correlationId: number, deadlineMs = 100, expectsAnswer = true): QueuedRequest {
  return { correlationId, deadlineMs, expectsAnswer }
}

test('requests leave in order, as many as may be in flight, and are answered in order', () => {
  const queue = new RequestQueue({ maxInFlight: 2, maxWaiting: 10 })
  for (const id of [1, 2, 3]) assert.ok(queue.add(request(id)))
  assert.deepEqual([queue.takeNext()?.correlationId, queue.takeNext()?.correlationId], [1, 2])
  assert.equal(queue.takeNext(), undefined)
  assert.equal(queue.answered(2), undefined, 'the answer to 1 comes first')
  assert.equal(queue.answered(1)?.correlationId, 1)
  assert.equal(queue.takeNext()?.correlationId, 3)
  assert.equal(queue.answered(2)?.correlationId, 2)
})

test('an answer that nobody waits for is nobody’s', () => {
  const queue = new RequestQueue({ maxInFlight: 2, maxWaiting: 10 })
  assert.equal(queue.answered(1), undefined)
  queue.add(request(1))
  assert.equal(queue.answered(1), undefined, 'it was not sent')
})

test('a request without an answer takes no place', () => {
  const queue = new RequestQueue({ maxInFlight: 1, maxWaiting: 10 })
  queue.add(request(1, 100, false))
  queue.add(request(2))
  assert.equal(queue.takeNext()?.correlationId, 1)
  assert.equal(queue.takeNext()?.correlationId, 2)
  assert.equal(queue.answered(2)?.correlationId, 2)
})

test('more than may wait are refused', () => {
  const queue = new RequestQueue({ maxInFlight: 1, maxWaiting: 2 })
  assert.deepEqual(
    [1, 2, 3].map(id => queue.add(request(id))),
    [true, true, false],
  )
})

test('what waits too long is taken out, what is on the wire too long is named', () => {
  const queue = new RequestQueue({ maxInFlight: 1, maxWaiting: 10 })
  queue.add(request(1, 50))
  queue.takeNext()
  queue.add(request(2, 30))
  queue.add(request(3, 90))
  assert.equal(queue.nextDeadlineMs(), 30)
  assert.deepEqual(
    queue.expireWaiting(40).map(({ correlationId }) => correlationId),
    [2],
  )
  assert.equal(queue.overdue(49), undefined)
  assert.equal(queue.overdue(50)?.correlationId, 1)
  assert.equal(queue.nextDeadlineMs(), 50)
})

test('a connection that ends knows what was sent and what was not', () => {
  const queue = new RequestQueue({ maxInFlight: 1, maxWaiting: 10 })
  queue.add(request(1))
  queue.add(request(2))
  queue.takeNext()
  const { sent, unsent } = queue.takeAll()
  assert.deepEqual([sent.map(r => r.correlationId), unsent.map(r => r.correlationId)], [[1], [2]])
  assert.ok(queue.isEmpty)
  assert.equal(queue.nextDeadlineMs(), Number.POSITIVE_INFINITY)
})
