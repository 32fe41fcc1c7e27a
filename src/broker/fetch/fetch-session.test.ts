import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ErrorCode } from '../../base/error-code.ts'
import { zeroUuid } from '../../base/uuid.ts'
import { type FetchPartition, type FetchSessionRequest, FetchSessions } from './fetch-session.ts'

function sessions(maxSessions = 10): FetchSessions {
  let next = 0
  const random = { below: () => next++, bytes: (length: number) => Buffer.alloc(length) }
  return new FetchSessions({ maxSessions, evictionMs: 120_000, random })
}

function partition(index: number, fetchOffset = 0): FetchPartition {
  return {
    topicId: zeroUuid,
    topic: 'orders',
    index,
    currentLeaderEpoch: -1,
    fetchOffset,
    lastFetchedEpoch: -1,
    logStartOffset: -1,
    maxBytes: 1000,
    sentHighWatermark: -1,
    sentLogStartOffset: -1,
  }
}

function request(parts: Partial<FetchSessionRequest>): FetchSessionRequest {
  return {
    sessionId: 0,
    sessionEpoch: 0,
    usesTopicIds: false,
    isReplica: false,
    partitions: [],
    forgotten: [],
    ...parts,
  }
}

function open(cache: FetchSessions, count: number, nowMs = 0, isReplica = false): number {
  const asked = request({ partitions: Array.from({ length: count }, (_, i) => partition(i)), isReplica })
  const context = cache.contextFor(asked, nowMs)
  assert.ok(context.type === 'full' && context.startsSession)
  return cache.open(asked, nowMs)
}

function incremental(
  cache: FetchSessions,
  sessionId: number,
  sessionEpoch: number,
  parts: Partial<FetchSessionRequest> = {},
) {
  return cache.contextFor(request({ sessionId, sessionEpoch, ...parts }), 1)
}

test('a session remembers its partitions, takes changes and forgets what it is told to forget', () => {
  const cache = sessions()
  const id = open(cache, 3)
  const context = incremental(cache, id, 1, {
    partitions: [partition(1, 50), partition(7)],
    forgotten: [{ topicId: zeroUuid, topic: 'orders', index: 0 }],
  })
  assert.ok(context.type === 'incremental')
  const kept = context.session.partitions().map(one => [one.index, one.fetchOffset])
  assert.deepEqual(kept, [
    [1, 50],
    [2, 0],
    [7, 0],
  ])
})

test('a session whose epoch is not the next one is refused, and so is one that is not known', () => {
  const cache = sessions()
  const id = open(cache, 1)
  assert.equal(incremental(cache, id, 1).type, 'incremental')
  assert.deepEqual(incremental(cache, id, 1), { type: 'error', errorCode: ErrorCode.invalidFetchSessionEpoch })
  assert.deepEqual(incremental(cache, id, 3), { type: 'error', errorCode: ErrorCode.invalidFetchSessionEpoch })
  assert.equal(incremental(cache, id, 2).type, 'incremental')
  assert.deepEqual(incremental(cache, 999, 1), { type: 'error', errorCode: ErrorCode.fetchSessionIdNotFound })
})

test('names and ids are not mixed in one session', () => {
  const cache = sessions()
  const id = open(cache, 1)
  assert.deepEqual(incremental(cache, id, 1, { usesTopicIds: true }), {
    type: 'error',
    errorCode: ErrorCode.fetchSessionTopicIdError,
  })
})

test('epoch 0 with a session id starts anew, epoch -1 ends it without another', () => {
  const cache = sessions()
  const id = open(cache, 1)
  const anew = cache.contextFor(request({ sessionId: id, sessionEpoch: 0, partitions: [partition(0)] }), 0)
  assert.ok(anew.type === 'full' && anew.startsSession)
  assert.equal(cache.count, 0)
  const other = open(cache, 1)
  const last = cache.contextFor(request({ sessionId: other, sessionEpoch: -1, partitions: [partition(0)] }), 0)
  assert.ok(last.type === 'full' && !last.startsSession)
  assert.equal(cache.count, 0)
})

test('a session that is left without partitions ends', () => {
  const cache = sessions()
  const id = open(cache, 1)
  const context = incremental(cache, id, 1, { forgotten: [{ topicId: zeroUuid, topic: 'orders', index: 0 }] })
  assert.deepEqual(context, { type: 'full', partitions: [], startsSession: false })
  assert.equal(cache.count, 0)
})

test('a full cache makes room for replicas before consumers, for more partitions before fewer, and for old before new', () => {
  const cache = sessions(2)
  const small = open(cache, 1)
  const large = open(cache, 5)
  const use = (id: number, epoch: number, nowMs: number) =>
    cache.contextFor(request({ sessionId: id, sessionEpoch: epoch }), nowMs).type
  for (const id of [small, large]) assert.equal(use(id, 1, 100_000), 'incremental')
  assert.equal(open(cache, 1, 130_000), 0, 'an equal has no precedence')
  const larger = open(cache, 3, 130_000)
  assert.notEqual(larger, 0)
  assert.equal(use(small, 2, 130_000), 'error')
  const replica = open(cache, 1, 130_000, true)
  assert.notEqual(replica, 0)
  assert.equal(use(large, 2, 130_000), 'incremental')
  assert.notEqual(open(cache, 1, 260_000), 0, 'what was not used for the eviction time goes first')
  assert.equal(cache.evictionsTotal, 3)
})

test('a session that is younger than the eviction time gives way to replicas only', () => {
  const cache = sessions(2)
  const [first, second] = [open(cache, 1), open(cache, 1)]
  assert.equal(open(cache, 50, 119_000), 0, 'many consumers that start together do not push one another out')
  assert.equal(incremental(cache, second, 1).type, 'incremental')
  assert.notEqual(open(cache, 1, 119_000, true), 0)
  assert.notEqual(open(cache, 1, 119_000, true), 0)
  assert.deepEqual(incremental(cache, first, 1), { type: 'error', errorCode: ErrorCode.fetchSessionIdNotFound })
  assert.equal(open(cache, 50, 119_000, true), 0, 'nor do replicas')
})

test('the epoch of a session wraps to 1', () => {
  const cache = sessions()
  const id = open(cache, 1)
  const context = incremental(cache, id, 1)
  assert.ok(context.type === 'incremental')
  context.session.epoch = 0x7fff_ffff
  assert.equal(incremental(cache, id, 0x7fff_ffff).type, 'incremental')
  assert.equal(incremental(cache, id, 1).type, 'incremental')
})
