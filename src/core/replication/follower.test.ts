import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ErrorCode } from '../../base/error-code.ts'
import type { ReplicationConfig } from './config.ts'
import type { FetchAnswer, FetchedRecords, ReplicationEffect } from './events.ts'
import { type EffectOf, only, ReplicaUnderTest } from './fixtures/replica-under-test.ts'

const noBytes = Buffer.alloc(0)

/** Follows broker 2 in epoch 5, with these epochs in its log, one batch an offset. */
function follower(epochs: readonly number[] = [], config: Partial<ReplicationConfig> = {}) {
  const replica = new ReplicaUnderTest(config).fill(...epochs)
  return { replica, fetch: asked(replica.metadata({ leader: 2 })) }
}

function asked(effects: readonly ReplicationEffect[]): EffectOf<'fetch'> {
  const [fetch] = only(effects, 'fetch')
  assert.ok(fetch, `no fetch among ${effects.map(({ type }) => type)}`)
  return fetch
}

function answer(replica: ReplicaUnderTest, { correlationId }: { correlationId: number }, about: Partial<FetchAnswer>) {
  const made: FetchAnswer = {
    errorCode: ErrorCode.none,
    highWatermark: 0,
    logStartOffset: 0,
    divergingEpoch: { epoch: -1, endOffset: -1 },
    records: undefined,
    ...about,
  }
  return replica.handle({ type: 'fetched', correlationId, answer: made })
}

function records(baseOffset: number, lastOffset: number, lastLeaderEpoch = 5): FetchedRecords {
  return { baseOffset, lastOffset, firstLeaderEpoch: lastLeaderEpoch, lastLeaderEpoch, bytes: noBytes }
}

test('a follower asks from its end with the epoch of its last record, for one thing at a time', () => {
  const { replica, fetch } = follower([3, 4])
  assert.deepEqual(fetch, {
    type: 'fetch',
    correlationId: 1,
    leader: 2,
    currentLeaderEpoch: 5,
    fetchOffset: 2,
    lastFetchedEpoch: 4,
    logStartOffset: 0,
  })
  assert.deepEqual(replica.tick(1000), [])
  const next = asked(answer(replica, fetch, {}))
  assert.equal(next.correlationId, 2)
  // The same answer again, and a failure of what was answered.
  assert.deepEqual(answer(replica, fetch, { records: records(2, 3) }), [])
  assert.deepEqual(replica.handle({ type: 'requestFailed', correlationId: 1 }), [])
})

test('what was fetched is appended, and the next fetch waits until it is written', () => {
  const { replica, fetch } = follower()
  const effects = answer(replica, fetch, { records: records(0, 4), highWatermark: 3 })
  assert.deepEqual(effects, [{ type: 'append', records: records(0, 4) }])
  assert.deepEqual([replica.tick(5000), replica.replication.highWatermark], [[], 0])
  const written = replica.written()
  assert.deepEqual(written[0], { type: 'highWatermark', offset: 3 })
  assert.deepEqual([asked(written).fetchOffset, asked(written).lastFetchedEpoch], [5, 5])
})

test('the high watermark is what the leader says, as far as the own log reaches, and never falls', () => {
  const { replica, fetch } = follower([4, 4])
  const second = answer(replica, fetch, { highWatermark: 9 })
  assert.equal(replica.replication.highWatermark, 2)
  answer(replica, asked(second), { highWatermark: 1 })
  assert.equal(replica.replication.highWatermark, 2)
})

test('with flush=ack a follower syncs, once, before it asks for more', () => {
  const { replica, fetch } = follower([], { flushBeforeAck: true })
  answer(replica, fetch, { records: records(0, 4) })
  assert.deepEqual(replica.written(), [{ type: 'flush' }])
  assert.deepEqual(replica.tick(10), [])
  replica.log.flushed(5)
  assert.equal(asked(replica.handle({ type: 'logMoved' })).fetchOffset, 5)
})

test('with flush=ack a log that was cut is synced again when it has grown to where it was', () => {
  const { replica, fetch } = follower([3, 4], { flushBeforeAck: true })
  answer(replica, fetch, { records: records(2, 3) })
  assert.deepEqual(replica.written(), [{ type: 'flush' }])
  replica.log.flushed(4)
  const second = asked(replica.handle({ type: 'logMoved' }))
  answer(replica, second, { divergingEpoch: { epoch: 3, endOffset: 1 } })
  const third = asked(replica.handle({ type: 'logChanged' }))
  answer(replica, third, { records: records(1, 3) })
  assert.deepEqual(replica.written(), [{ type: 'flush' }])
})

test('a follower that was left with what is not synced syncs it first', () => {
  const replica = new ReplicaUnderTest({ flushBeforeAck: true }).fill(3, 4)
  replica.log.flushedOffset = 1
  assert.deepEqual(replica.metadata({ leader: 2 }), [{ type: 'flush' }])
})

test('an error is followed by a pause, one that says that the leader is newer by waiting for the metadata', () => {
  const { replica, fetch } = follower()
  answer(replica, fetch, { errorCode: ErrorCode.notLeaderOrFollower })
  assert.equal(replica.replication.nextDeadlineMs(), replica.nowMs + 100)
  assert.deepEqual(replica.tick(99), [])
  const second = asked(replica.tick(1))
  replica.handle({ type: 'requestFailed', correlationId: second.correlationId })
  const third = asked(replica.tick(100))
  answer(replica, third, { errorCode: ErrorCode.fencedLeaderEpoch })
  assert.equal(replica.replication.nextDeadlineMs(), undefined)
  assert.deepEqual(replica.tick(1e6), [])
  const next = asked(replica.metadata({ leader: 3, leaderEpoch: 6 }))
  assert.deepEqual([next.leader, next.currentLeaderEpoch], [3, 6])
})

test('records that are damaged, from the future, or do not continue the log are asked for again', () => {
  const { replica, fetch } = follower([4, 4])
  let open = fetch
  const wrong: FetchAnswer['records'][] = [
    'damaged',
    records(1, 3),
    records(3, 2),
    records(2, 3, 6),
    records(2, 3, 3),
    records(-1, 3),
  ]
  for (const one of wrong) {
    assert.deepEqual(answer(replica, open, { records: one, highWatermark: 2 }), [])
    assert.equal(replica.replication.highWatermark, 0)
    open = asked(replica.tick(100))
    assert.equal(open.fetchOffset, 2)
  }
  // Offsets may be missing: the leader's log was compacted.
  assert.equal(only(answer(replica, open, { records: records(7, 9, 4) }), 'append').length, 1)
})

test('an append that fails is asked for again', () => {
  const { replica, fetch } = follower([4])
  answer(replica, fetch, { records: records(1, 3) })
  replica.log.writesFailed(false)
  assert.deepEqual(replica.handle({ type: 'appendFailed' }), [])
  assert.equal(asked(replica.tick(100)).fetchOffset, 1)
})

/** Follower and leader exchange until the follower is told nothing of divergence. */
function cutTo(own: readonly number[], leaders: readonly number[]): { endOffset: number; rounds: number } {
  const leader = new ReplicaUnderTest({ nodeId: 2 }).fill(...leaders)
  leader.metadata({ leader: 2, leaderEpoch: 9 })
  const replica = new ReplicaUnderTest().fill(...own)
  let fetch = asked(replica.metadata({ leader: 2, leaderEpoch: 9 }))
  for (let rounds = 0; ; rounds++) {
    assert.ok(rounds < 10, 'the logs meet')
    const { fetchOffset, lastFetchedEpoch } = fetch
    const [{ verdict }] = only(leader.fetch(1, { fetchOffset, lastFetchedEpoch }), 'answerFetch')
    if (verdict.type !== 'diverging') return { endOffset: replica.log.logEndOffset, rounds }
    answer(replica, fetch, { divergingEpoch: verdict, highWatermark: 99 })
    fetch = asked(replica.handle({ type: 'logChanged' }))
  }
}

test('whatever the shapes of two logs, what they have in common stays and nothing else', () => {
  const shapes: [string, number[], number[], number][] = [
    ['behind, in the same epoch', [1, 1], [1, 1, 1], 2],
    ['behind by an epoch', [1, 1], [1, 1, 2], 2],
    ['ahead, in the same epoch', [1, 1, 1], [1, 1], 2],
    ['ahead by an epoch', [1, 1, 3], [1, 1], 2],
    ['forked: each has an epoch of its own', [1, 1, 2, 2, 2], [1, 1, 3, 3], 2],
    ['forked in the middle of an epoch', [1, 1, 1, 1], [1, 1, 3, 3], 2],
    ['forked twice', [1, 1, 2, 2, 4, 4], [1, 1, 1, 3, 3, 5], 2],
    ['nothing in common', [2, 2], [1, 1, 3], 0],
    ['empty', [], [1, 1], 0],
  ]
  for (const [shape, own, leaders, endOffset] of shapes) assert.equal(cutTo(own, leaders).endOffset, endOffset, shape)
  assert.equal(cutTo([1, 1, 2, 2, 4, 4], [1, 1, 1, 3, 3, 5]).rounds, 2)
})

test('an epoch in which nothing was written goes before the fetch is repeated', () => {
  const replica = new ReplicaUnderTest().fill(1, 1)
  replica.log.assignLeaderEpoch(4)
  const fetch = asked(replica.metadata({ leader: 2 }))
  assert.equal(fetch.lastFetchedEpoch, 4)
  const effects = answer(replica, fetch, { divergingEpoch: { epoch: 1, endOffset: 2 } })
  assert.deepEqual(effects, [{ type: 'truncate', endOffset: 2 }])
  assert.deepEqual(asked(replica.handle({ type: 'logChanged' })).lastFetchedEpoch, 1)
})

test('a cut that changes nothing is not repeated with the speed of the network', () => {
  const { replica, fetch } = follower([4, 4])
  answer(replica, fetch, { divergingEpoch: { epoch: 4, endOffset: 2 } })
  assert.deepEqual(replica.handle({ type: 'logChanged' }), [])
  asked(replica.tick(100))
})

test('of an answer that says where the logs part, the high watermark is not taken', () => {
  const { replica, fetch } = follower([3, 3, 4, 4])
  answer(replica, fetch, { divergingEpoch: { epoch: 3, endOffset: 1 }, highWatermark: 4 })
  const next = replica.handle({ type: 'logChanged' })
  assert.deepEqual([next.length, replica.replication.highWatermark], [1, 0])
})

test('while the log is cut nothing is asked for and no other role begins', () => {
  const { replica, fetch } = follower([3, 3, 4, 4])
  answer(replica, fetch, { divergingEpoch: { epoch: 3, endOffset: 1 } })
  assert.deepEqual(replica.tick(1000), [])
  assert.deepEqual(replica.metadata({ leader: 1, leaderEpoch: 6 }), [])
  assert.equal(replica.replication.role, 'idle')
  const effects = replica.handle({ type: 'logChanged' })
  assert.deepEqual(effects, [{ type: 'becameLeader', leaderEpoch: 6 }])
})

test('a follower that is elected leads when what it has fetched is written', () => {
  const { replica, fetch } = follower([4])
  answer(replica, fetch, { records: records(1, 3) })
  assert.deepEqual(replica.metadata({ leader: 1, leaderEpoch: 6, isr: [1] }), [])
  const effects = replica.written()
  assert.deepEqual(effects, [
    { type: 'becameLeader', leaderEpoch: 6 },
    { type: 'highWatermark', offset: 4 },
  ])
})

test('a leader that is deposed asks nothing before what it has in flight is written', () => {
  const replica = new ReplicaUnderTest().fill(4)
  replica.metadata({ isr: [1] })
  replica.log.append([replica.batch({ baseOffset: 1, lastOffset: 1, lastLeaderEpoch: 5 })])
  const effects = replica.metadata({ leader: 2, leaderEpoch: 6 })
  assert.deepEqual(effects, [{ type: 'lostLeadership', leaderEpoch: 5 }])
  assert.deepEqual(asked(replica.written()).fetchOffset, 2)
})

test('what is committed is cut only where it may be lost, and not without a word', () => {
  const committed = (config: Partial<ReplicationConfig>) => {
    const { replica, fetch } = follower([3, 3, 4, 4], config)
    const next = asked(answer(replica, fetch, { highWatermark: 4 }))
    return { replica, effects: answer(replica, next, { divergingEpoch: { epoch: 3, endOffset: 1 } }) }
  }
  const reported = committed({})
  assert.deepEqual(reported.effects, [
    { type: 'committedLost', fromOffset: 1, toOffset: 4 },
    { type: 'truncate', endOffset: 1 },
  ])
  assert.equal(reported.replica.replication.highWatermark, 1)
  const halted = committed({ onCommittedLoss: 'halt' })
  const reason = 'leader 2 of epoch 5 wants the log cut to 1, which is committed up to 4'
  assert.deepEqual(halted.effects, [{ type: 'halt', reason }])
  assert.deepEqual(halted.replica.metadata({ leaderEpoch: 7 }), [])
})

function listed(effects: readonly ReplicationEffect[]): EffectOf<'listOffset'> {
  const [list] = only(effects, 'listOffset')
  assert.ok(list)
  return list
}

function list(replica: ReplicaUnderTest, { correlationId }: { correlationId: number }, offset: number) {
  return replica.handle({ type: 'offsetListed', correlationId, answer: { errorCode: ErrorCode.none, offset } })
}

test('out of range, behind the start of the leader: the log begins anew where that does', () => {
  const { replica, fetch } = follower([3, 3])
  const latest = listed(answer(replica, fetch, { errorCode: ErrorCode.offsetOutOfRange }))
  assert.deepEqual([latest.timestamp, latest.leader, latest.currentLeaderEpoch], [-1, 2, 5])
  const earliest = listed(list(replica, latest, 90))
  assert.equal(earliest.timestamp, -2)
  assert.deepEqual(list(replica, earliest, 40), [{ type: 'truncateFully', startOffset: 40 }])
  const next = asked(replica.handle({ type: 'logChanged' }))
  assert.deepEqual([next.fetchOffset, next.lastFetchedEpoch, next.logStartOffset], [40, -1, 40])
})

test('out of range, ahead of the end of the leader: the log is cut to that', () => {
  const { replica, fetch } = follower([3, 3, 3])
  const latest = listed(answer(replica, fetch, { errorCode: ErrorCode.offsetOutOfRange }))
  assert.deepEqual(list(replica, latest, 1), [{ type: 'truncate', endOffset: 1 }])
  assert.equal(asked(replica.handle({ type: 'logChanged' })).fetchOffset, 1)
})

test('out of range no more when the leader is asked: the fetch is repeated after a pause', () => {
  const { replica, fetch } = follower([3, 3, 3])
  const latest = listed(answer(replica, fetch, { errorCode: ErrorCode.offsetOutOfRange }))
  const earliest = listed(list(replica, latest, 3))
  assert.deepEqual(list(replica, earliest, 0), [])
  assert.equal(asked(replica.tick(100)).fetchOffset, 3)
})

test('out of range, and the question fails: it is asked again', () => {
  const { replica, fetch } = follower([3, 3, 3])
  const latest = listed(answer(replica, fetch, { errorCode: ErrorCode.offsetOutOfRange }))
  const failed = { errorCode: ErrorCode.notLeaderOrFollower, offset: -1 }
  replica.handle({ type: 'offsetListed', correlationId: latest.correlationId, answer: failed })
  assert.equal(listed(replica.tick(100)).timestamp, -1)
})

test('the start of the log follows that of the leader, as far as all is committed', () => {
  const { replica, fetch } = follower([3, 3, 3, 3])
  const effects = answer(replica, fetch, { highWatermark: 3, logStartOffset: 2 })
  assert.deepEqual(effects, [
    { type: 'highWatermark', offset: 3 },
    { type: 'moveLogStart', offset: 2 },
  ])
  assert.equal(asked(replica.handle({ type: 'logChanged' })).logStartOffset, 2)
})

test('what lies below the start of the log of the leader is dropped whole where nothing else is left', () => {
  const parted = follower([3, 3, 4, 4])
  const effects = answer(parted.replica, parted.fetch, {
    divergingEpoch: { epoch: 3, endOffset: 2 },
    logStartOffset: 2,
  })
  assert.deepEqual(effects, [{ type: 'truncateFully', startOffset: 2 }])
  const level = follower([3, 3, 4, 4])
  const again = answer(level.replica, level.fetch, { logStartOffset: 4, highWatermark: 6, records: records(4, 5) })
  assert.deepEqual(again, [{ type: 'truncateFully', startOffset: 4 }])
  assert.equal(asked(level.replica.handle({ type: 'logChanged' })).fetchOffset, 4)
})

test('where the log of the leader begins in the middle of a batch, an empty log begins with the whole of it', () => {
  const replica = new ReplicaUnderTest({}, 1, 10)
  const fetch = asked(replica.metadata({ leader: 2 }))
  const batch = records(8, 12)
  const about = { records: batch, logStartOffset: 10, highWatermark: 13 }
  assert.deepEqual(answer(replica, fetch, about), [{ type: 'truncateFully', startOffset: 8 }])
  assert.deepEqual(replica.handle({ type: 'logChanged' }), [{ type: 'append', records: batch }])
  assert.deepEqual(replica.written(), [
    { type: 'highWatermark', offset: 13 },
    { type: 'moveLogStart', offset: 10 },
  ])
  assert.equal(asked(replica.handle({ type: 'logChanged' })).fetchOffset, 13)
})

test('a log without epochs is cut to what is committed before anything is asked for', () => {
  const replica = new ReplicaUnderTest().fill(-1, -1, -1)
  replica.log.highWatermark = 0
  assert.deepEqual(replica.metadata({ leader: 2 }), [{ type: 'truncate', endOffset: 0 }])
  asked(replica.handle({ type: 'logChanged' }))
})

test('who holds no replica, or knows no leader, asks for nothing', () => {
  const replica = new ReplicaUnderTest()
  assert.deepEqual(replica.metadata({ leader: 2, replicas: [2, 3], isr: [2] }), [])
  assert.deepEqual(replica.metadata({ leader: -1, leaderEpoch: 6 }), [])
  assert.equal(replica.replication.role, 'idle')
  asked(replica.metadata({ leader: 2, leaderEpoch: 7, replicas: [1, 2] }))
  assert.deepEqual(replica.metadata({ replicas: [2] }), [])
  assert.equal(replica.replication.role, 'idle')
})
