import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ErrorCode } from '../../base/error-code.ts'
import type { AlterPartitionAnswer, ReplicationEffect } from './events.ts'
import { type EffectOf, only, ReplicaUnderTest } from './fixtures/replica-under-test.ts'

/** Leads [1, 2, 3] in epoch 5 from offset 4 on, with a high watermark of 4; 3 is not in sync. */
function leader(minInsyncReplicas = 1): ReplicaUnderTest {
  const replica = new ReplicaUnderTest({}, minInsyncReplicas).fill(3, 3, 4, 4)
  replica.metadata({ isr: [1, 2] })
  replica.fetch(2, { fetchOffset: 4 })
  return replica
}

function asked(effects: readonly ReplicationEffect[]): EffectOf<'alterPartition'> | undefined {
  return only(effects, 'alterPartition')[0]
}

function answer(replica: ReplicaUnderTest, to: EffectOf<'alterPartition'>, about: Partial<AlterPartitionAnswer> = {}) {
  const { leaderEpoch, partitionEpoch, attemptId } = to
  const isr = to.isr.map(({ brokerId }) => brokerId)
  const made = { errorCode: ErrorCode.none, leaderEpoch, partitionEpoch: partitionEpoch + 1, isr, ...about }
  return replica.handle({ type: 'partitionAltered', attemptId, answer: made })
}

function refuse(replica: ReplicaUnderTest, to: EffectOf<'alterPartition'>, errorCode: ErrorCode) {
  return answer(replica, to, { errorCode, leaderEpoch: 0, partitionEpoch: 0, isr: [] })
}

function join(replica: ReplicaUnderTest): EffectOf<'alterPartition'> {
  const wanted = asked(replica.fetch(3, { fetchOffset: replica.log.logEndOffset }))
  assert.ok(wanted)
  return wanted
}

test('who has caught up is proposed with the epoch of its life, and waited for from then on', () => {
  const replica = leader()
  const wanted = join(replica)
  assert.deepEqual(
    [wanted.leaderEpoch, wanted.partitionEpoch, wanted.isr],
    [
      5,
      11,
      [
        { brokerId: 1, brokerEpoch: -1 },
        { brokerId: 2, brokerEpoch: 20 },
        { brokerId: 3, brokerEpoch: 30 },
      ],
    ],
  )
  replica.write()
  // Long after it was caught up, and out of service: it may be in sync by now.
  replica.nowMs += 5000
  replica.register(3, { epoch: 30, fenced: true })
  replica.fetch(2, { fetchOffset: 5 })
  assert.equal(replica.replication.highWatermark, 4)
  answer(replica, wanted)
  assert.deepEqual([replica.replication.isr, replica.replication.partitionEpoch], [[1, 2, 3], 12])
  replica.fetch(3, { fetchOffset: 5 })
  assert.equal(replica.replication.highWatermark, 5)
})

test('who has not reached the high watermark does not join', () => {
  const replica = leader()
  assert.equal(asked(replica.fetch(3, { fetchOffset: 3 })), undefined)
  assert.ok(asked(replica.fetch(3, { fetchOffset: 4 })))
})

test('who has not reached the beginning of the epoch does not join, though the leader knows of nothing more', () => {
  const replica = new ReplicaUnderTest().fill(3, 3, 4, 4)
  replica.metadata({ isr: [1, 2] })
  assert.equal(replica.replication.highWatermark, 0)
  assert.equal(asked(replica.fetch(3, { fetchOffset: 3 })), undefined)
  assert.ok(asked(replica.fetch(3, { fetchOffset: 4 })))
})

test('an append that fails takes back the beginning of an epoch in which the leader leads on', () => {
  const replica = leader()
  replica.log.append([replica.batch({ baseOffset: 4, lastOffset: 6, lastLeaderEpoch: 5 })])
  replica.metadata({ leaderEpoch: 7 })
  assert.equal(asked(replica.fetch(3, { fetchOffset: 4 })), undefined)
  replica.log.writesFailed(true)
  replica.handle({ type: 'appendFailed' })
  assert.equal(replica.replication.isHighWatermarkCurrent, true)
  assert.ok(asked(replica.fetch(3, { fetchOffset: 4 })))
  // What fails later lies in the epoch.
  replica.log.append([replica.batch({ baseOffset: 4, lastOffset: 4, lastLeaderEpoch: 7 })])
  replica.log.writesFailed(true)
  replica.handle({ type: 'appendFailed' })
  assert.deepEqual(replica.log.epochs.entries.at(-1), { leaderEpoch: 7, startOffset: 4 })
  assert.equal(replica.replication.isHighWatermarkCurrent, true)
})

test('who is out of service, leaving or in another life does not join', () => {
  const replica = leader()
  for (const broker of [{ epoch: 30, fenced: true }, { epoch: 30, inControlledShutdown: true }, { epoch: 29 }]) {
    replica.register(3, broker)
    assert.equal(asked(replica.fetch(3, { fetchOffset: 4 })), undefined)
  }
  replica.brokers.delete(3)
  assert.equal(asked(replica.fetch(3, { fetchOffset: 4 })), undefined)
})

test('who still has what is below the start of the log does not join', () => {
  const replica = leader()
  replica.log.moveLogStart(2)
  assert.equal(asked(replica.fetch(3, { fetchOffset: 4, logStartOffset: 1 })), undefined)
  assert.ok(asked(replica.fetch(3, { fetchOffset: 4, logStartOffset: 2 })))
})

test('a replica that was taken away and came back with an empty disk is not taken for what it was', () => {
  const replica = leader()
  replica.fetch(3, { fetchOffset: 3 })
  replica.metadata({ replicas: [1, 2] })
  replica.metadata({ replicas: [1, 2, 3] })
  assert.equal(asked(replica.tick(10)), undefined)
  assert.equal(asked(replica.fetch(3, { fetchOffset: 0 })), undefined)
})

test('one change is asked for at a time', () => {
  const replica = leader()
  replica.metadata({ replicas: [1, 2, 3, 4] })
  const wanted = join(replica)
  assert.equal(asked(replica.fetch(4, { fetchOffset: 4 })), undefined)
  answer(replica, wanted)
  assert.deepEqual(asked(replica.fetch(4, { fetchOffset: 4 }))?.isr.length, 4)
})

test('without an answer the same is asked again, with the same partition epoch', () => {
  const replica = leader()
  const first = join(replica)
  replica.handle({ type: 'alterPartitionFailed', attemptId: first.attemptId })
  assert.equal(replica.replication.nextDeadlineMs(), replica.nowMs + 50)
  assert.equal(asked(replica.tick(49)), undefined)
  const second = asked(replica.tick(1))
  assert.deepEqual([second?.isr, second?.partitionEpoch], [first.isr, first.partitionEpoch])
  // The answer to the first comes late: it is not the one that is open.
  answer(replica, first)
  assert.deepEqual(replica.replication.isr, [1, 2])
  answer(replica, second!)
  assert.deepEqual(replica.replication.isr, [1, 2, 3])
})

test('the controller is asked again when it is another, has no answer, or does not know this life yet', () => {
  for (const errorCode of [ErrorCode.notController, ErrorCode.staleBrokerEpoch, ErrorCode.unknownServerError]) {
    const replica = leader()
    refuse(replica, join(replica), errorCode)
    assert.ok(asked(replica.tick(50)), `${errorCode}`)
  }
})

test('after an answer that was lost the controller has a newer version: the metadata says what it is', () => {
  const waiting = [
    ErrorCode.invalidUpdateVersion,
    ErrorCode.fencedLeaderEpoch,
    ErrorCode.newLeaderElected,
    ErrorCode.invalidRequest,
    ErrorCode.unknownTopicOrPartition,
    ErrorCode.unknownTopicId,
  ]
  for (const errorCode of waiting) {
    const replica = leader()
    refuse(replica, join(replica), errorCode)
    // It may be in sync: it is waited for, and nothing else is asked.
    replica.write()
    replica.nowMs += 5000
    assert.deepEqual(replica.fetch(2, { fetchOffset: 5 }).length, 1)
    assert.equal(replica.replication.highWatermark, 4)
    assert.equal(replica.replication.nextDeadlineMs(), undefined)
    replica.metadata({ isr: [1, 2] })
    assert.equal(replica.replication.highWatermark, 5)
  }
})

test('what is refused was not done: nobody is waited for in vain, and it is not asked again at once', () => {
  for (const errorCode of [ErrorCode.ineligibleReplica, ErrorCode.operationNotAttempted]) {
    const replica = leader()
    const wanted = join(replica)
    replica.register(3, { epoch: 30, fenced: true })
    replica.write()
    replica.fetch(2, { fetchOffset: 5 })
    assert.equal(replica.replication.highWatermark, 4)
    refuse(replica, wanted, errorCode)
    assert.equal(replica.replication.highWatermark, 5)
    replica.register(3, { epoch: 30 })
    assert.equal(asked(replica.fetch(3, { fetchOffset: 5 })), undefined)
    replica.nowMs += 50
    assert.ok(asked(replica.fetch(3, { fetchOffset: 5 })))
  }
})

test('an answer of another leader epoch is not adopted', () => {
  const replica = leader()
  answer(replica, join(replica), { leaderEpoch: 6 })
  assert.deepEqual([replica.replication.isr, replica.replication.partitionEpoch], [[1, 2], 11])
})

test('metadata replaces what was asked for: an answer that comes after it says nothing', () => {
  const replica = leader()
  const wanted = join(replica)
  replica.metadata({ isr: [1] })
  answer(replica, wanted, { partitionEpoch: 12 })
  assert.deepEqual([replica.replication.isr, replica.replication.partitionEpoch], [[1], 12])
})

test('metadata that only tells what an answer told does not undo what was asked for since', () => {
  const replica = leader()
  replica.metadata({ replicas: [1, 2, 3, 4] })
  const first = join(replica)
  answer(replica, first)
  replica.fetch(4, { fetchOffset: 4 })
  replica.metadata({ isr: [1, 2, 3], partitionEpoch: 13 })
  replica.write()
  replica.nowMs += 5000
  for (const id of [2, 3]) replica.fetch(id, { fetchOffset: 5 })
  // Broker 4 may be in sync by now.
  assert.equal(replica.replication.highWatermark, 4)
})

test('who was not caught up for longer than the lag time is taken out, and waited for until that is done', () => {
  const replica = leader()
  replica.write()
  assert.equal(replica.replication.nextDeadlineMs(), replica.nowMs + 1001)
  assert.equal(asked(replica.tick(1000)), undefined)
  const wanted = asked(replica.tick(1))
  assert.deepEqual(wanted?.isr, [{ brokerId: 1, brokerEpoch: -1 }])
  replica.tick(10_000)
  assert.equal(replica.replication.highWatermark, 4)
  const effects = answer(replica, wanted!)
  assert.deepEqual(effects, [
    { type: 'isrUpdate', outcome: 'shrunk' },
    { type: 'highWatermark', offset: 5 },
  ])
})

test('a follower that keeps pace with a leader that is written to all the time stays in sync', () => {
  const replica = leader()
  for (let i = 0; i < 50; i++) {
    const fetchOffset = replica.log.logEndOffset
    replica.write()
    replica.nowMs += 200
    assert.equal(asked(replica.fetch(2, { fetchOffset })), undefined)
  }
  assert.deepEqual(replica.replication.isr, [1, 2])
})

test('while nothing is written nobody is late', () => {
  const replica = leader()
  assert.deepEqual(replica.tick(100_000), [])
  assert.equal(replica.replication.nextDeadlineMs(), replica.nowMs + 500)
})

test('who joins has the lag time to reach the end, be it never caught up before', () => {
  const replica = leader()
  replica.write()
  const wanted = asked(replica.fetch(3, { fetchOffset: 4 }))
  assert.equal(asked(answer(replica, wanted!)), undefined)
  replica.fetch(2, { fetchOffset: 5 })
  assert.equal(asked(replica.tick(900)), undefined)
})

test('who has caught up and may join is waited for as long as it is not late', () => {
  const replica = leader()
  const wanted = join(replica)
  refuse(replica, wanted, ErrorCode.ineligibleReplica)
  replica.write()
  replica.nowMs += 10
  replica.fetch(2, { fetchOffset: 5 })
  assert.equal(replica.replication.highWatermark, 4)
  const deadlineMs = replica.replication.nextDeadlineMs()
  assert.equal(deadlineMs, 11_001)
  replica.tick(deadlineMs! - replica.nowMs)
  assert.equal(replica.replication.highWatermark, 5)
})

test('what becomes of a change is told, for whoever counts', () => {
  const outcomes = (effects: readonly ReplicationEffect[]) => only(effects, 'isrUpdate').map(({ outcome }) => outcome)
  const grows = leader()
  assert.deepEqual(outcomes(answer(grows, join(grows))), ['expanded'])
  grows.write()
  const shrinks = asked(grows.tick(5000))
  assert.ok(shrinks)
  assert.deepEqual(outcomes(answer(grows, shrinks)), ['shrunk'])
  for (const errorCode of [ErrorCode.ineligibleReplica, ErrorCode.invalidUpdateVersion, ErrorCode.notController]) {
    const refused = leader()
    assert.deepEqual(outcomes(refuse(refused, join(refused), errorCode)), ['failed'], `${errorCode}`)
  }
  const stale = leader()
  assert.deepEqual(outcomes(answer(stale, join(stale), { leaderEpoch: 6 })), ['failed'])
  const lost = leader()
  const { attemptId } = join(lost)
  assert.deepEqual(outcomes(lost.handle({ type: 'alterPartitionFailed', attemptId })), ['failed'])
  assert.deepEqual(outcomes(lost.handle({ type: 'alterPartitionFailed', attemptId })), [], 'once')
})
