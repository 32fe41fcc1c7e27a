import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ErrorCode } from '../../base/error-code.ts'
import type { FollowerFetch, ReplicationEffect } from './events.ts'
import { only, ReplicaUnderTest } from './fixtures/replica-under-test.ts'

/** Leads [1, 2, 3] in epoch 5, from offset 4 on. */
function leader(isr: readonly number[] = [1, 2, 3], minInsyncReplicas = 1): ReplicaUnderTest {
  const replica = new ReplicaUnderTest({}, minInsyncReplicas).fill(3, 3, 4, 4)
  replica.metadata({ isr })
  return replica
}

function verdict(effects: readonly ReplicationEffect[]) {
  return only(effects, 'answerFetch')[0].verdict
}

test('a leader that is the only replica commits what is written, with nothing to wait for', () => {
  const replica = new ReplicaUnderTest({}, 2)
  const effects = replica.metadata({ replicas: [1], isr: [1] })
  assert.deepEqual(effects, [{ type: 'becameLeader', leaderEpoch: 5 }])
  assert.deepEqual([replica.write(), replica.write()], [1, 2])
  assert.equal(replica.replication.nextDeadlineMs(), undefined)
  assert.deepEqual(replica.tick(1e9), [])
})

test('the high watermark is the least that an in-sync replica has fetched up to in this epoch', () => {
  const replica = leader()
  for (let i = 0; i < 4; i++) replica.write()
  assert.equal(replica.replication.highWatermark, 0)
  replica.fetch(2, { fetchOffset: 8 })
  assert.equal(replica.replication.highWatermark, 0)
  assert.deepEqual(only(replica.fetch(3, { fetchOffset: 6 }), 'highWatermark'), [{ type: 'highWatermark', offset: 6 }])
  replica.fetch(3, { fetchOffset: 8 })
  assert.equal(replica.replication.highWatermark, 8)
})

test('a follower that falls back does not take the high watermark with it', () => {
  const replica = leader()
  replica.fetch(2, { fetchOffset: 4 })
  replica.fetch(3, { fetchOffset: 4 })
  replica.write()
  replica.fetch(2, { fetchOffset: 1 })
  replica.fetch(3, { fetchOffset: 5 })
  assert.equal(replica.replication.highWatermark, 4)
  replica.fetch(2, { fetchOffset: 5 })
  assert.equal(replica.replication.highWatermark, 5)
})

test('with too few in sync the high watermark stands still, also for what is written with acks=1', () => {
  const replica = leader([1, 2], 3)
  replica.fetch(2, { fetchOffset: 4 })
  replica.write()
  assert.deepEqual([replica.replication.highWatermark, replica.replication.hasEnoughReplicas], [0, false])
  const effects = replica.handle({ type: 'configured', minInsyncReplicas: 2 })
  assert.deepEqual(effects, [{ type: 'highWatermark', offset: 4 }])
  assert.equal(replica.replication.hasEnoughReplicas, true)
})

test('no more replicas need to be in sync than there are', () => {
  const replica = new ReplicaUnderTest({}, 3)
  replica.metadata({ replicas: [1, 2], isr: [1, 2] })
  assert.equal(replica.replication.hasEnoughReplicas, true)
  replica.metadata({ isr: [1] })
  assert.equal(replica.replication.hasEnoughReplicas, false)
})

test('who is in sync and not known to be a replica holds everything back', () => {
  const replica = new ReplicaUnderTest()
  replica.metadata({ replicas: [1, 2], isr: [1, 4] })
  assert.deepEqual([replica.replication.hasEnoughReplicas, replica.write()], [false, 0])
})

test('with flush=ack the own end counts once it is synced', () => {
  const replica = new ReplicaUnderTest({ flushBeforeAck: true })
  replica.fill(4, 4)
  replica.log.flushedOffset = 1
  const effects = replica.metadata({ replicas: [1], isr: [1] })
  assert.deepEqual(effects, [
    { type: 'becameLeader', leaderEpoch: 5 },
    { type: 'flush' },
    { type: 'highWatermark', offset: 1 },
  ])
  replica.log.flushed(2)
  assert.equal(replica.replication.localEndMoved(2), 2)
})

test('with flush=ack followers may be ahead of the leader: its own end is still one of those that count', () => {
  const replica = new ReplicaUnderTest({ flushBeforeAck: true }).fill(4, 4, 4)
  replica.log.flushedOffset = 1
  replica.metadata({ isr: [1, 2] })
  replica.fetch(2, { fetchOffset: 3 })
  assert.equal(replica.replication.highWatermark, 1)
  replica.log.flushed(3)
  assert.equal(replica.replication.localEndMoved(3), 3)
})

test('a fetch whose last epoch ends elsewhere here is answered with where, and counts for nothing', () => {
  const replica = leader([1, 2])
  const diverging = replica.fetch(2, { fetchOffset: 4, lastFetchedEpoch: 3 })
  assert.deepEqual(verdict(diverging), { type: 'diverging', epoch: 3, endOffset: 2 })
  assert.equal(replica.replication.highWatermark, 0)
  assert.deepEqual(verdict(replica.fetch(2, { fetchOffset: 2, lastFetchedEpoch: 3 })), { type: 'read' })
  assert.equal(replica.replication.highWatermark, 2)
})

test('where a follower stands is read from its last epoch and its offset', () => {
  const replica = leader()
  replica.write()
  const outOfRange = { type: 'refused', errorCode: ErrorCode.offsetOutOfRange }
  const read = { type: 'read' }
  const cases: [number, number, unknown][] = [
    [5, 5, read],
    [5, 4, { type: 'diverging', epoch: 4, endOffset: 4 }],
    [4, 4, read],
    [3, 4, read],
    [6, 5, { type: 'diverging', epoch: 5, endOffset: 5 }],
    [2, 2, { type: 'diverging', epoch: 2, endOffset: 0 }],
    [0, 2, read],
    [4, 6, outOfRange],
    [0, -1, read],
    [6, -1, outOfRange],
  ]
  for (const [fetchOffset, lastFetchedEpoch, expected] of cases) {
    const answer = verdict(replica.fetch(2, { fetchOffset, lastFetchedEpoch }))
    assert.deepEqual(answer, expected, `${fetchOffset} after epoch ${lastFetchedEpoch}`)
  }
  replica.log.highWatermark = 4
  replica.log.moveLogStart(3)
  assert.deepEqual(verdict(replica.fetch(2, { fetchOffset: 2, lastFetchedEpoch: 3 })), outOfRange)
  assert.deepEqual(verdict(replica.fetch(2, { fetchOffset: 2, lastFetchedEpoch: -1 })), outOfRange)
})

test('fetches of another leader epoch, another life or no replica are refused and count for nothing', () => {
  const replica = leader([1, 2])
  replica.register(2, { epoch: 25 })
  const codeOf = (replicaId: number, about: Partial<FollowerFetch>) => {
    const answer = verdict(replica.fetch(replicaId, { fetchOffset: 4, ...about }))
    return answer.type === 'refused' ? answer.errorCode : ErrorCode.none
  }
  assert.equal(codeOf(2, { replicaEpoch: 25, currentLeaderEpoch: 4 }), ErrorCode.fencedLeaderEpoch)
  assert.equal(codeOf(2, { replicaEpoch: 25, currentLeaderEpoch: -1 }), ErrorCode.fencedLeaderEpoch)
  assert.equal(codeOf(2, { replicaEpoch: 25, currentLeaderEpoch: 6 }), ErrorCode.unknownLeaderEpoch)
  assert.equal(codeOf(4, {}), ErrorCode.unknownLeaderEpoch)
  assert.equal(codeOf(2, { replicaEpoch: 20 }), ErrorCode.notLeaderOrFollower)
  assert.equal(replica.replication.highWatermark, 0)
  // These are served: the follower reads on while this broker's metadata catches up.
  assert.equal(codeOf(2, { replicaEpoch: 26 }), ErrorCode.none)
  assert.equal(codeOf(2, { replicaEpoch: -1 }), ErrorCode.none)
  assert.equal(replica.replication.highWatermark, 0)
  assert.equal(codeOf(2, { replicaEpoch: 25 }), ErrorCode.none)
  assert.equal(replica.replication.highWatermark, 4)
})

test('a late fetch of an earlier life is refused after one of the new life', () => {
  const replica = leader([1, 2])
  replica.register(2, { epoch: 25 })
  replica.fetch(2, { replicaEpoch: 25, fetchOffset: 2 })
  replica.register(2, { epoch: 20 })
  const late = replica.fetch(2, { replicaEpoch: 20, fetchOffset: 4 })
  assert.deepEqual(verdict(late), { type: 'refused', errorCode: ErrorCode.notLeaderOrFollower })
  assert.equal(replica.replication.highWatermark, 2)
})

test('who follows or has no role answers fetches with what it is', () => {
  const replica = new ReplicaUnderTest()
  const refusal = { type: 'refused', errorCode: ErrorCode.notLeaderOrFollower }
  replica.metadata({ leader: -1 })
  assert.deepEqual(verdict(replica.fetch(2, { fetchOffset: 0 })), refusal)
  replica.metadata({ leader: 2, leaderEpoch: 6 })
  assert.deepEqual(verdict(replica.fetch(3, { fetchOffset: 0 })), refusal)
  const fenced = verdict(replica.fetch(3, { fetchOffset: 0, currentLeaderEpoch: 5 }))
  assert.deepEqual(fenced, { type: 'refused', errorCode: ErrorCode.fencedLeaderEpoch })
})

test('a leader that is elected again counts its followers anew', () => {
  const replica = leader([1, 2])
  replica.fetch(2, { fetchOffset: 4 })
  replica.write()
  const effects = replica.metadata({ leaderEpoch: 6 })
  assert.deepEqual(effects.slice(0, 2), [
    { type: 'lostLeadership', leaderEpoch: 5 },
    { type: 'becameLeader', leaderEpoch: 6 },
  ])
  replica.write()
  assert.equal(replica.replication.highWatermark, 4)
  replica.fetch(2, { fetchOffset: 6 })
  assert.equal(replica.replication.highWatermark, 6)
})

test('elected again it leads on at once, over what it has in flight', () => {
  const replica = leader([1])
  replica.log.append([replica.batch({ baseOffset: 4, lastOffset: 6, lastLeaderEpoch: 5 })])
  replica.metadata({ leaderEpoch: 7 })
  assert.equal(replica.replication.isLeader, true)
  assert.equal(replica.replication.isHighWatermarkCurrent, false)
  replica.written()
  assert.deepEqual([replica.replication.highWatermark, replica.replication.isHighWatermarkCurrent], [7, true])
})

test('the high watermark of a new leader is not current before it reaches the beginning of the epoch', () => {
  const replica = leader([1, 2])
  replica.fetch(2, { fetchOffset: 3 })
  assert.deepEqual([replica.replication.highWatermark, replica.replication.isHighWatermarkCurrent], [3, false])
  replica.fetch(2, { fetchOffset: 4 })
  assert.equal(replica.replication.isHighWatermarkCurrent, true)
})

test('metadata that is not newer changes nothing', () => {
  const replica = leader([1, 2])
  const stale = { ...replica.partition, leader: 2, leaderEpoch: 6, partitionEpoch: replica.partition.partitionEpoch }
  assert.deepEqual(replica.handle({ type: 'metadata', partition: stale }), [])
  assert.deepEqual([replica.replication.isLeader, replica.replication.leaderEpoch], [true, 5])
})

test('a closed partition leads no more and does nothing more', () => {
  const replica = leader()
  assert.deepEqual(replica.handle({ type: 'closed' }), [{ type: 'lostLeadership', leaderEpoch: 5 }])
  assert.deepEqual(replica.metadata({ leaderEpoch: 6 }), [])
  assert.equal(replica.replication.nextDeadlineMs(), undefined)
})
