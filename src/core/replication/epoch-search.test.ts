import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ErrorCode } from '../../base/error-code.ts'
import type { FetchAnswer, FetchedRecords, ReplicationEffect } from './events.ts'
import { type EffectOf, only, ReplicaUnderTest } from './fixtures/replica-under-test.ts'

const noBytes = Buffer.alloc(0)

function one<T extends ReplicationEffect['type']>(effects: readonly ReplicationEffect[], type: T): EffectOf<T> {
  assert.deepEqual(
    effects.map(effect => effect.type),
    [type],
  )
  return only(effects, type)[0]
}

function records(baseOffset: number, firstLeaderEpoch: number, lastLeaderEpoch = firstLeaderEpoch): FetchedRecords {
  return { baseOffset, lastOffset: baseOffset + 1, firstLeaderEpoch, lastLeaderEpoch, bytes: noBytes }
}

type Asked = EffectOf<'fetch' | 'offsetForLeaderEpoch'>

function fetched(replica: ReplicaUnderTest, { correlationId }: Asked, about: Partial<FetchAnswer>) {
  const none = { epoch: -1, endOffset: -1 }
  const empty = { errorCode: ErrorCode.none, highWatermark: 0, logStartOffset: 0, divergingEpoch: none }
  return replica.handle({ type: 'fetched', correlationId, answer: { ...empty, records: undefined, ...about } })
}

function told(
  replica: ReplicaUnderTest,
  { correlationId }: Asked,
  [leaderEpoch, endOffset]: readonly [number, number],
  errorCode: ErrorCode = ErrorCode.none,
) {
  return replica.handle({ type: 'epochEndListed', correlationId, answer: { errorCode, leaderEpoch, endOffset } })
}

/** Follows broker 2 in epoch 9, with these epochs in its log, and was answered with these records. */
function given(own: readonly number[], found: FetchedRecords) {
  const replica = new ReplicaUnderTest().fill(...own)
  const fetch = one(replica.metadata({ leader: 2, leaderEpoch: 9 }), 'fetch')
  return { replica, effects: fetched(replica, fetch, { records: found }) }
}

const startsOf = ({ log }: ReplicaUnderTest) =>
  log.epochs.entries.map(({ leaderEpoch, startOffset }) => [leaderEpoch, startOffset])

test('where offsets are missing before a newer epoch the leader is asked where it began', () => {
  const { replica, effects } = given([4, 4], records(10, 5))
  const asked = one(effects, 'offsetForLeaderEpoch')
  assert.deepEqual([asked.leader, asked.currentLeaderEpoch, asked.leaderEpoch], [2, 9, 4])
  const assigned = one(told(replica, asked, [4, 6]), 'assignEpochs')
  assert.deepEqual(assigned.epochs, [{ leaderEpoch: 5, startOffset: 6 }])
  assert.equal(replica.log.nextOffset, 2, 'it is durable before the records are appended')
  one(replica.handle({ type: 'logChanged' }), 'append')
  assert.deepEqual(startsOf(replica), [
    [4, 0],
    [5, 6],
  ])
  assert.deepEqual(replica.log.endOffsetForEpoch(4), { leaderEpoch: 4, endOffset: 6 })
  assert.equal(only(replica.written(), 'fetch')[0]?.fetchOffset, 12)
})

test('epochs of which nothing is left are looked for one after the other', () => {
  const { replica, effects } = given([2, 2], records(20, 7, 8))
  let asked = one(effects, 'offsetForLeaderEpoch')
  assert.equal(asked.leaderEpoch, 6)
  asked = one(told(replica, asked, [5, 12]), 'offsetForLeaderEpoch')
  assert.equal(asked.leaderEpoch, 4)
  asked = one(told(replica, asked, [4, 9]), 'offsetForLeaderEpoch')
  assert.equal(asked.leaderEpoch, 3)
  const { epochs } = one(told(replica, asked, [2, 2]), 'assignEpochs')
  assert.deepEqual(
    epochs.map(({ leaderEpoch, startOffset }) => [leaderEpoch, startOffset]),
    [
      [4, 2],
      [5, 9],
      [7, 12],
    ],
  )
})

test('the search ends with the first epoch that the leader knows', () => {
  const { replica, effects } = given([], records(20, 7))
  const asked = one(effects, 'offsetForLeaderEpoch')
  const again = one(told(replica, asked, [6, 3]), 'offsetForLeaderEpoch')
  const { epochs } = one(told(replica, again, [5, 3]), 'assignEpochs')
  assert.deepEqual(epochs, [{ leaderEpoch: 7, startOffset: 3 }])
})

test('an epoch that began below an empty log begins with it', () => {
  const replica = new ReplicaUnderTest({}, 1, 30)
  const fetch = one(replica.metadata({ leader: 2, leaderEpoch: 9 }), 'fetch')
  const asked = one(fetched(replica, fetch, { records: records(40, 7) }), 'offsetForLeaderEpoch')
  const again = one(told(replica, asked, [5, 35]), 'offsetForLeaderEpoch')
  const { epochs } = one(told(replica, again, [3, 12]), 'assignEpochs')
  assert.deepEqual(
    epochs.map(({ leaderEpoch, startOffset }) => [leaderEpoch, startOffset]),
    [
      [5, 30],
      [7, 35],
    ],
  )
})

test('nothing is asked where no beginning is missing', () => {
  const cases: [string, number[], FetchedRecords][] = [
    ['the epoch goes on after the gap', [4, 4], records(10, 4)],
    ['nothing is missing', [4, 4], records(2, 5)],
    ['older than epochs', [], records(10, -1)],
  ]
  for (const [what, own, found] of cases) assert.equal(given(own, found).effects[0].type, 'append', what)
})

test('epoch 0 begins where the log does, and nobody is asked', () => {
  const { replica, effects } = given([], records(10, 0))
  assert.deepEqual(one(effects, 'assignEpochs').epochs, [{ leaderEpoch: 0, startOffset: 0 }])
  one(replica.handle({ type: 'logChanged' }), 'append')
  assert.deepEqual(startsOf(replica), [[0, 0]])
})

test('an epoch that the log was told of is not asked for again', () => {
  const { replica, effects } = given([4, 4], records(10, 5))
  told(replica, one(effects, 'offsetForLeaderEpoch'), [4, 6])
  one(replica.handle({ type: 'logChanged' }), 'append')
  replica.log.writesFailed(false)
  replica.log.assignEpochs([{ leaderEpoch: 5, startOffset: 6 }])
  replica.handle({ type: 'appendFailed' })
  const fetch = one(replica.tick(100), 'fetch')
  assert.deepEqual([fetch.fetchOffset, fetch.lastFetchedEpoch], [2, 5])
  one(fetched(replica, fetch, { records: records(10, 5) }), 'append')
})

/** Was told by leader 2 that epoch 5 began at 6 and epoch 6 at 8. Before it has any records of them another leader is elected. */
function toldOfGap(leader: number) {
  const { replica, effects } = given([4, 4], records(10, 6))
  const asked = one(told(replica, one(effects, 'offsetForLeaderEpoch'), [5, 8]), 'offsetForLeaderEpoch')
  told(replica, asked, [4, 6])
  replica.metadata({ leader, leaderEpoch: 10 })
  return { replica, effects: replica.handle({ type: 'logChanged' }) }
}

test('epochs that began in a gap are forgotten when another leader has records there', () => {
  for (const found of [records(2, 4), records(6, 5), records(2, 4, 6)]) {
    const { replica, effects } = toldOfGap(3)
    const fetch = one(effects, 'fetch')
    assert.deepEqual([fetch.fetchOffset, fetch.lastFetchedEpoch], [2, 6])
    assert.equal(one(fetched(replica, fetch, { records: found }), 'truncate').endOffset, 2)
    assert.deepEqual(startsOf(replica), [[4, 0]])
    const again = one(replica.handle({ type: 'logChanged' }), 'fetch')
    assert.deepEqual([again.fetchOffset, again.lastFetchedEpoch], [2, 4])
  }
})

test('epochs that began in a gap stay when another leader has the same gap', () => {
  const { replica, effects } = toldOfGap(3)
  one(fetched(replica, one(effects, 'fetch'), { records: records(8, 6) }), 'append')
  assert.deepEqual(startsOf(replica).slice(1), [
    [5, 6],
    [6, 8],
  ])
})

test('who is told of epochs in a gap and then leads gives their offsets to its own', () => {
  const { replica, effects } = toldOfGap(1)
  one(effects, 'becameLeader')
  assert.deepEqual(startsOf(replica), [
    [4, 0],
    [10, 2],
  ])
})

test('records are asked for anew when the answer does not fit them, is an error, or does not come', () => {
  const { replica, effects } = given([4, 4], records(10, 5))
  let asked: Asked = one(effects, 'offsetForLeaderEpoch')
  const again = (after: readonly ReplicationEffect[]) => {
    assert.deepEqual(after, [])
    const fetch = one(replica.tick(100), 'fetch')
    assert.equal(fetch.fetchOffset, 2)
    asked = one(fetched(replica, fetch, { records: records(10, 5) }), 'offsetForLeaderEpoch')
  }
  again(told(replica, asked, [4, 11]))
  again(told(replica, asked, [-1, -1], ErrorCode.notLeaderOrFollower))
  again(replica.handle({ type: 'requestFailed', correlationId: asked.correlationId }))
  assert.deepEqual(startsOf(replica), [[4, 0]])
})

test('a leader that knows of no epochs is taken at its word', () => {
  const { replica, effects } = given([4, 4], records(10, 5))
  one(told(replica, one(effects, 'offsetForLeaderEpoch'), [-1, -1]), 'append')
})

test('what the leader before was asked for does not count', () => {
  const { replica, effects } = given([4, 4], records(10, 5))
  const asked = one(effects, 'offsetForLeaderEpoch')
  const fetch = one(replica.metadata({ leader: 3, leaderEpoch: 10 }), 'fetch')
  assert.deepEqual(told(replica, asked, [4, 6]), [])
  one(fetched(replica, fetch, { records: records(2, 6) }), 'append')
})

test('a replica that was away gives up what was never committed, though its new leader has copied a gap there', () => {
  // Written in epoch 4 from offset 2 on, and never committed; epoch 5 began there, and has left nothing below 10.
  const { replica: leader, effects } = given([4, 4], records(10, 5))
  told(leader, one(effects, 'offsetForLeaderEpoch'), [4, 2])
  leader.handle({ type: 'logChanged' })
  leader.written()
  leader.metadata({ leader: 1, leaderEpoch: 10 })
  const [{ verdict }] = only(leader.fetch(3, { fetchOffset: 8, lastFetchedEpoch: 4 }), 'answerFetch')
  assert.deepEqual(verdict, { type: 'diverging', epoch: 4, endOffset: 2 })
})
