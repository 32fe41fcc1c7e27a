import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ErrorCode } from '../../base/error-code.ts'
import { BatchBuilder } from '../../records/builder.ts'
import { MillraceError } from '../millrace-error.ts'
import { PartitionQueue, type QueueOptions } from './partition-queue.ts'
import { ProducerBatch } from './producer-batch.ts'
import type { SendCall } from './send-call.ts'

const identity = { producerId: 7, producerEpoch: 0 }
const nextIdentity = { producerId: 7, producerEpoch: 1 }
const silent = { ended() {} } as unknown as SendCall

function queueOf(options: Partial<QueueOptions> = {}): PartitionQueue {
  const all = { topic: 't', partition: 0, idempotent: true, maxInFlight: 5, lingerMs: 0, deliveryTimeoutMs: 1000 }
  return new PartitionQueue({ ...all, ...options })
}

function push(queue: PartitionQueue, records = 1, createdMs = 0): ProducerBatch {
  const batch = new ProducerBatch(new BatchBuilder(), createdMs)
  for (let i = 0; i < records; i++) batch.add(silent, i, 0, null, Buffer.from('x'), [])
  queue.push(batch)
  return batch
}

/** Sends whatever may be sent, and returns the sequences. */
function sendAll(queue: PartitionQueue, nowMs = 0): ProducerBatch[] {
  const sent: ProducerBatch[] = []
  for (let batch = queue.next(nowMs, true); batch !== undefined; batch = queue.next(nowMs, true)) {
    queue.sent(batch, identity)
    sent.push(batch)
  }
  return sent
}

function answer(queue: PartitionQueue, batch: ProducerBatch, errorCode: ErrorCode) {
  return queue.answered(batch, { errorCode, errorMessage: null })
}

const lostAnswer = new MillraceError('CONNECTION_FAILED', 'lost', { retriable: true, outcomeUnknown: true })

test('batches get consecutive sequences when they are first sent, and keep them', () => {
  const queue = queueOf()
  for (const records of [3, 1, 2]) push(queue, records)
  const [first, second, third] = sendAll(queue)
  assert.deepEqual(
    [first, second, third].map(batch => batch.baseSequence),
    [0, 3, 4],
  )
  queue.lost(first, true, lostAnswer)
  assert.deepEqual(sendAll(queue), [first])
  assert.equal(first.baseSequence, 0)
})

test('sequences begin at 0 again after the largest int32', () => {
  const queue = queueOf()
  const big = push(queue, 2)
  Object.defineProperty(big, 'recordCount', { value: 0x7fff_ffff })
  sendAll(queue)
  const [next] = [push(queue, 2)]
  sendAll(queue)
  assert.equal(next.baseSequence, 0x7fff_ffff)
  const after = push(queue, 1)
  sendAll(queue)
  assert.equal(after.baseSequence, 1)
})

test('as many are in flight as may be, and one more when one is answered', () => {
  const queue = queueOf({ maxInFlight: 2 })
  for (let i = 0; i < 4; i++) push(queue)
  const [first] = sendAll(queue)
  assert.equal(queue.inFlightCount, 2)
  answer(queue, first, ErrorCode.none)
  assert.equal(sendAll(queue).length, 1)
})

test('what is sent again goes alone and in order; nothing new overtakes it', () => {
  const queue = queueOf()
  const [first, second, third] = [push(queue), push(queue), push(queue)]
  sendAll(queue)
  for (const batch of [first, second, third]) queue.lost(batch, true, lostAnswer)
  const fresh = push(queue)
  assert.deepEqual(sendAll(queue), [first])
  answer(queue, first, ErrorCode.none)
  assert.deepEqual(sendAll(queue), [second])
  answer(queue, second, ErrorCode.none)
  assert.deepEqual(sendAll(queue), [third, fresh], 'what is new follows the last that is sent again')
})

test('a batch out of order behind another is sent again as it is', () => {
  const queue = queueOf()
  const [first, second] = [push(queue), push(queue)]
  sendAll(queue)
  assert.equal(answer(queue, first, ErrorCode.notEnoughReplicas).type, 'again')
  assert.equal(answer(queue, second, ErrorCode.outOfOrderSequenceNumber).type, 'again')
  assert.equal(queue.isResetDue, false)
  assert.deepEqual(sendAll(queue), [first])
  answer(queue, first, ErrorCode.none)
  assert.deepEqual(sendAll(queue), [second])
  assert.equal(second.baseSequence, 1)
})

test('the first batch out of order can never fit: sequences begin anew in another epoch', () => {
  const queue = queueOf()
  const [first, second] = [push(queue, 2), push(queue)]
  sendAll(queue)
  answer(queue, first, ErrorCode.outOfOrderSequenceNumber)
  assert.equal(queue.isResetDue, false, 'the second is still in flight')
  assert.equal(queue.next(0, true), undefined)
  answer(queue, second, ErrorCode.outOfOrderSequenceNumber)
  assert.ok(queue.isResetDue)
  queue.reset(nextIdentity)
  assert.deepEqual(sendAll(queue), [first])
  assert.deepEqual([queue.identity, first.baseSequence], [nextIdentity, 0])
  answer(queue, first, ErrorCode.none)
  sendAll(queue)
  assert.equal(second.baseSequence, 2)
})

test('before sequences begin anew, a batch that may be there is asked about under its old sequence', () => {
  const queue = queueOf()
  const [first, second] = [push(queue), push(queue)]
  sendAll(queue)
  answer(queue, first, ErrorCode.invalidRecord)
  queue.lost(second, true, lostAnswer)
  assert.equal(queue.isResetDue, false)
  assert.deepEqual(sendAll(queue), [second])
  assert.equal(second.baseSequence, 1)
  assert.equal(answer(queue, second, ErrorCode.none).type, 'succeeded', 'it was there')
  assert.ok(queue.isEmpty)
})

test('one that is not there after all goes out in the next epoch', () => {
  const queue = queueOf()
  const [first, second] = [push(queue), push(queue)]
  sendAll(queue)
  answer(queue, first, ErrorCode.invalidRecord)
  queue.lost(second, true, lostAnswer)
  sendAll(queue)
  answer(queue, second, ErrorCode.outOfOrderSequenceNumber)
  assert.ok(queue.isResetDue)
  queue.reset(nextIdentity)
  assert.deepEqual(sendAll(queue), [second])
  assert.equal(second.baseSequence, 0)
})

test('the last batch fails for good without a gap: the next one takes its sequence', () => {
  const queue = queueOf()
  const first = push(queue)
  sendAll(queue)
  answer(queue, first, ErrorCode.none)
  const refused = push(queue, 4)
  sendAll(queue)
  assert.equal(answer(queue, refused, ErrorCode.topicAuthorizationFailed).type, 'failed')
  assert.equal(queue.isResetDue, false)
  const next = push(queue)
  sendAll(queue)
  assert.equal(next.baseSequence, 1)
})

test('one in the middle that fails for good makes the sequences begin anew', () => {
  const queue = queueOf()
  const [first, second, third] = [push(queue), push(queue), push(queue)]
  sendAll(queue)
  answer(queue, first, ErrorCode.none)
  answer(queue, second, ErrorCode.invalidTimestamp)
  answer(queue, third, ErrorCode.outOfOrderSequenceNumber)
  assert.ok(queue.isResetDue)
})

test('a repetition that the broker recognises has succeeded', () => {
  const queue = queueOf()
  const batch = push(queue)
  sendAll(queue)
  queue.lost(batch, true, lostAnswer)
  sendAll(queue)
  assert.equal(answer(queue, batch, ErrorCode.duplicateSequenceNumber).type, 'succeeded')
})

test('a fenced producer needs a new id, unless the batch may be there already', () => {
  const queue = queueOf()
  const batch = push(queue)
  sendAll(queue)
  assert.equal(answer(queue, batch, ErrorCode.invalidProducerEpoch).type, 'again')
  assert.ok(queue.isResetDue && queue.needsNewProducerId)
  const other = queueOf()
  const uncertain = push(other)
  sendAll(other)
  other.lost(uncertain, true, lostAnswer)
  sendAll(other)
  assert.equal(answer(other, uncertain, ErrorCode.invalidProducerEpoch).type, 'failed')
})

test('answers that do not tell make a batch uncertain, others do not', () => {
  for (const [code, isUncertain] of [
    [ErrorCode.requestTimedOut, true],
    [ErrorCode.notEnoughReplicasAfterAppend, true],
    [ErrorCode.notEnoughReplicas, false],
    [ErrorCode.notLeaderOrFollower, true],
    [ErrorCode.unknownTopicOrPartition, true],
    [ErrorCode.leaderNotAvailable, false],
  ] as const) {
    const queue = queueOf()
    const batch = push(queue)
    sendAll(queue)
    assert.equal(answer(queue, batch, code).type, 'again')
    assert.equal(batch.isUncertain, isUncertain)
  }
})

test('time is over: what waits is taken out, what is in flight stays until its answer', () => {
  const queue = queueOf({ maxInFlight: 1 })
  const [first, second] = [push(queue, 1, 0), push(queue, 1, 500)]
  sendAll(queue)
  assert.equal(queue.nextExpiryMs(), 1000)
  assert.deepEqual(queue.expire(999), [])
  assert.deepEqual(queue.expire(1000), [first])
  first.fail(lostAnswer)
  assert.deepEqual(queue.expire(1000), [], 'once')
  assert.equal(queue.nextExpiryMs(), 1500)
  assert.deepEqual(queue.batches, [first, second])
  assert.equal(answer(queue, first, ErrorCode.notLeaderOrFollower).type, 'failed')
  assert.deepEqual(queue.batches, [second])
  assert.deepEqual(queue.expire(1500), [second])
  assert.ok(queue.isEmpty)
})

test('what follows an uncertain batch that was given up finds out whether it was there', () => {
  const queue = queueOf({ maxInFlight: 1 })
  const given = push(queue, 1, 0)
  sendAll(queue)
  queue.lost(given, true, lostAnswer)
  queue.expire(1000)
  const next = push(queue, 1, 1000)
  sendAll(queue)
  assert.equal(next.baseSequence, 1)
  answer(queue, next, ErrorCode.outOfOrderSequenceNumber)
  assert.ok(queue.isResetDue, 'it was not')
})

test('a batch that is too large is split, and the halves cover its sequences', () => {
  const queue = queueOf()
  const [large, after] = [push(queue, 5), push(queue)]
  sendAll(queue)
  assert.equal(answer(queue, large, ErrorCode.messageTooLarge).type, 'split')
  const records = Array.from({ length: 5 }, () => ({ key: null, value: Buffer.from('y'), headers: [] }))
  const halves = large.split(records)
  queue.replace(large, halves)
  answer(queue, after, ErrorCode.outOfOrderSequenceNumber)
  assert.deepEqual(
    halves.map(({ baseSequence, recordCount }) => [baseSequence, recordCount]),
    [
      [0, 2],
      [2, 3],
    ],
  )
  assert.deepEqual(sendAll(queue), [halves[0]])
  answer(queue, halves[0], ErrorCode.none)
  assert.deepEqual(sendAll(queue), [halves[1]])
  answer(queue, halves[1], ErrorCode.none)
  assert.deepEqual(sendAll(queue), [after])
  assert.equal(after.baseSequence, 5)
})

test('a single record that is too large fails', () => {
  const queue = queueOf()
  const batch = push(queue)
  sendAll(queue)
  assert.equal(answer(queue, batch, ErrorCode.messageTooLarge).type, 'failed')
})

test('without idempotence one batch is in flight, has no sequence, and is sent again before the next', () => {
  const queue = queueOf({ idempotent: false, maxInFlight: 1 })
  const [first, second] = [push(queue), push(queue)]
  assert.deepEqual(sendAll(queue), [first])
  assert.equal(first.baseSequence, -1)
  queue.lost(first, true, lostAnswer)
  assert.deepEqual(sendAll(queue), [first])
  answer(queue, first, ErrorCode.none)
  assert.deepEqual(sendAll(queue), [second])
})

test('an open batch leaves at once while nothing is on its way, and waits for company otherwise', () => {
  const queue = queueOf({ lingerMs: undefined })
  const first = push(queue, 1, 100)
  assert.equal(queue.next(100, false), first)
  queue.sent(first, identity)
  const second = push(queue, 1, 101)
  assert.equal(queue.next(101, false), undefined)
  assert.equal(queue.nextReadyMs(false), 106)
  assert.equal(queue.next(106, false), second)
  assert.equal(queue.next(101, true), second, 'unless somebody flushes')
  answer(queue, first, ErrorCode.none)
  assert.equal(queue.next(102, false), second)
})

test('with a linger of its own an open batch waits for it, a full one does not', () => {
  const queue = queueOf({ lingerMs: 50 })
  const batch = push(queue, 1, 100)
  assert.equal(queue.next(149, false), undefined)
  assert.equal(queue.next(150, false), batch)
  push(queue, 1, 140)
  assert.equal(queue.next(140, false), batch, 'the next one has sealed it')
})

test('a batch that has to wait before it is sent again does', () => {
  const queue = queueOf()
  const batch = push(queue)
  sendAll(queue)
  queue.lost(batch, false, lostAnswer)
  batch.notBeforeMs = 300
  assert.equal(batch.isUncertain, false)
  assert.equal(queue.next(299, false), undefined)
  assert.equal(queue.nextReadyMs(false), 300)
  assert.equal(queue.next(300, false), batch)
})

test('a batch that is being compressed holds back those behind it', () => {
  const queue = queueOf()
  const [first, second] = [push(queue), push(queue)]
  first.state = 'compressing'
  assert.equal(queue.next(0, true), undefined)
  assert.ok(queue.compressed(first, Buffer.alloc(3)))
  assert.deepEqual(sendAll(queue), [first, second])
})
